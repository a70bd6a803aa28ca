import Cryptography
package import Primitives

/// HMAC-SHA-256 of an `Authorization` header under a key of this process.
package struct CredentialDigest: Hashable, Sendable {
    private let bytes: [UInt8]

    /// Compares in constant time; `==` is for dictionaries.
    package func matches(_ other: CredentialDigest) -> Bool {
        constantTimeEqual(bytes, other.bytes)
    }

    /// The first 64 bits, to find a digest by. Whoever does not know the key cannot aim at one.
    package var tag: UInt64 {
        bytes.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// The random key that makes digests of another process, or of a memory dump elsewhere, worthless.
    package struct Key: Sendable {
        private let key: Redacted<[UInt8]>

        package init(using random: inout some RandomSource) {
            key = Redacted(random.nextBytes(32))
        }

        package func digest(_ header: String) -> CredentialDigest {
            CredentialDigest(bytes: HMAC.sha256(key: key.value, Array(header.utf8).span))
        }
    }

    private init(bytes: [UInt8]) { self.bytes = bytes }
}
