internal import COpenSSL

/// HMAC (RFC 2104).
package enum HMAC {
    /// HMAC-SHA1, 20 bytes.
    package static func sha1(key: [UInt8], _ message: Span<UInt8>) -> [UInt8] { code(.sha1, key: key, message) }

    /// HMAC-SHA256, 32 bytes.
    package static func sha256(key: [UInt8], _ message: Span<UInt8>) -> [UInt8] { code(.sha256, key: key, message) }

    private static func code(_ digest: Digest, key: [UInt8], _ message: Span<UInt8>) -> [UInt8] {
        var output = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
        var size: UInt32 = 0
        let done = unsafe message.withUnsafeBufferPointer { bytes in
            unsafe COpenSSL.HMAC(
                digest.algorithm, key, Int32(key.count), bytes.baseAddress, bytes.count, &output, &size) != nil
        }
        precondition(done, "OpenSSL provides HMAC with SHA-1 and SHA-2")
        output.removeLast(output.count - Int(size))
        return output
    }
}

/// Whether two secrets are equal. The time of the comparison depends on their lengths only.
package func constantTimeEqual(_ a: [UInt8], _ b: [UInt8]) -> Bool {
    guard a.count == b.count else { return false }
    return unsafe CRYPTO_memcmp(a, b, a.count) == 0
}
