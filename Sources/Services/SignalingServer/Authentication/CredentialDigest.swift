import CallControl
import Cryptography
package import Primitives

/// HMAC-SHA-256 of a user name and a password under a key of this process.
package struct CredentialDigest: Hashable, Sendable {
    private let bytes: [UInt8]

    /// Compares in constant time; `==` is for dictionaries keyed by digests of one and the same key.
    package func matches(_ other: CredentialDigest) -> Bool {
        constantTimeEqual(bytes, other.bytes)
    }

    /// The random key that makes digests of another process, or of a memory dump elsewhere, worthless.
    package struct Key: Sendable {
        private let key: Redacted<[UInt8]>

        package init(using random: inout some RandomSource) {
            key = Redacted(random.nextBytes(32))
        }

        package func digest(_ credentials: BasicCredentials) -> CredentialDigest {
            // A NUL cannot occur in an address, so that no two pairs make the same message.
            let message = Array(credentials.user.text.utf8) + [0] + Array(credentials.password.value.utf8)
            return CredentialDigest(bytes: HMAC.sha256(key: key.value, message.span))
        }
    }

    private init(bytes: [UInt8]) { self.bytes = bytes }
}
