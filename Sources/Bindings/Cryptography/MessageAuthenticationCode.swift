internal import COpenSSL

/// HMAC (RFC 2104).
package enum HMAC {
    /// HMAC-SHA1, 20 bytes.
    package static func sha1(key: [UInt8], _ message: Span<UInt8>) -> [UInt8] { code(.sha1, key: key, message) }

    /// HMAC-SHA256, 32 bytes.
    package static func sha256(key: [UInt8], _ message: Span<UInt8>) -> [UInt8] { code(.sha256, key: key, message) }

    private static func code(_ digest: Digest, key: [UInt8], _ message: Span<UInt8>) -> [UInt8] {
        var output = [UInt8](repeating: 0, count: digest.size)
        let done = unsafe message.withUnsafeBufferPointer { bytes in
            unsafe copenssl_hmac(digest.algorithm, key, key.count, bytes.baseAddress, bytes.count, &output)
        }
        precondition(done == 1, "OpenSSL provides SHA-1 and SHA-2")
        return output
    }
}

/// Whether two secrets are equal. The time of the comparison depends on their lengths only.
package func constantTimeEqual(_ a: [UInt8], _ b: [UInt8]) -> Bool {
    guard a.count == b.count else { return false }
    return unsafe CRYPTO_memcmp(a, b, a.count) == 0
}
