internal import COpenSSL

/// A cryptographic hash function (FIPS 180-4).
package enum Digest: String, Hashable, Sendable, CaseIterable {
    // The names are those of `a=fingerprint` (RFC 8122 §5).
    /// SHA-1: 20 bytes. Collisions of it can be computed.
    case sha1 = "sha-1"
    /// SHA-224: 28 bytes.
    case sha224 = "sha-224"
    /// SHA-256: 32 bytes.
    case sha256 = "sha-256"
    /// SHA-384: 48 bytes.
    case sha384 = "sha-384"
    /// SHA-512: 64 bytes.
    case sha512 = "sha-512"

    /// The length of a hash in bytes.
    package var size: Int {
        switch self {
        case .sha1: 20
        case .sha224: 28
        case .sha256: 32
        case .sha384: 48
        case .sha512: 64
        }
    }

    /// The hash of `bytes`: 20, 28, 32, 48 or 64 bytes.
    package func hash(_ bytes: [UInt8]) -> [UInt8] {
        var output = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
        var size: UInt32 = 0
        let succeeded = unsafe EVP_Digest(bytes, bytes.count, &output, &size, algorithm, nil)
        precondition(succeeded == 1, "OpenSSL provides SHA-1 and SHA-2")
        output.removeLast(output.count - Int(size))
        return output
    }

    var algorithm: OpaquePointer {
        switch self {
        case .sha1: unsafe copenssl_sha1()
        case .sha224: unsafe copenssl_sha224()
        case .sha256: unsafe copenssl_sha256()
        case .sha384: unsafe copenssl_sha384()
        case .sha512: unsafe copenssl_sha512()
        }
    }
}
