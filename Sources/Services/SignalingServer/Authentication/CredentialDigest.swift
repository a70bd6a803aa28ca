import CallControl
import Cryptography
package import Primitives

/// HMAC-SHA-256 of an `Authorization` header under a secret key.
package struct CredentialDigest: Hashable, Sendable {
    let bytes: [UInt8]

    /// Makes a digest of remembered bytes.
    ///
    /// - Parameter bytes: the 32 bytes of the digest.
    init(remembered bytes: [UInt8]) { self.bytes = bytes }

    /// Whether the digests are equal, compared in constant time. `==` is for dictionaries.
    package func matches(_ other: CredentialDigest) -> Bool {
        constantTimeEqual(bytes, other.bytes)
    }

    /// The first 64 bits, by which a digest is found. Without the key nobody can make credentials with a wanted tag.
    package var tag: UInt64 { bytes.leadingBits }

    /// A keyed digest of a stored password record, which tells whether the record is still the same.
    package struct RecordMark: Hashable, Sendable {
        let bytes: [UInt8]

        init(remembered bytes: [UInt8]) { self.bytes = bytes }
    }

    /// The random key of all digests. Without it the digests are worthless, whether they are in memory or in a
    /// database.
    package struct Key: Sendable {
        /// 8 bytes that tell keys apart and reveal nothing about them.
        package let name: [UInt8]
        private let headers: Redacted<[UInt8]>
        private let records: Redacted<[UInt8]>
        private let networks: Redacted<[UInt8]>
        private let sessions: Redacted<[UInt8]>

        /// The length of the secret in bytes.
        package static let size = 32

        /// Derives a key of its own for each use.
        ///
        /// - Parameter secret: ``size`` random bytes.
        package init(_ secret: Redacted<[UInt8]>) {
            precondition(secret.value.count == Self.size, "the key has 256 bits")
            let derived = { (use: String) in HMAC.sha256(key: secret.value, Array(use.utf8).span) }
            name = Array(derived("name").prefix(8))
            headers = Redacted(derived("Authorization headers"))
            records = Redacted(derived("password records"))
            networks = Redacted(derived("familiar networks"))
            sessions = Redacted(derived("sessions of applications"))
        }

        /// Makes a new random key, for logins that are not remembered across restarts.
        package init(using random: inout some RandomSource) {
            self.init(Redacted(random.nextBytes(Self.size)))
        }

        /// The digest of the value of an `Authorization` header.
        package func digest(_ header: String) -> CredentialDigest {
            CredentialDigest(remembered: HMAC.sha256(key: headers.value, Array(header.utf8).span))
        }

        /// The digest of a subscription, which nobody can make without the key.
        func session(of subscription: SubscriptionID, _ user: UserAddress) -> [UInt8] {
            HMAC.sha256(key: sessions.value, Array("\(user)\n\(subscription)".utf8).span)
        }

        /// The mark of a stored password record.
        package func mark(of record: String) -> RecordMark {
            RecordMark(remembered: HMAC.sha256(key: records.value, Array(record.utf8).span))
        }

        /// The mark of an account together with the network that a login came from. `nil` if the network is not known.
        package func mark(of claim: LoginThrottle.Claim) -> UInt64? {
            guard let network = claim.network else { return nil }
            let text = network.bytes + Array(claim.account.text.utf8)
            return HMAC.sha256(key: networks.value, text.span).leadingBits
        }
    }
}

extension [UInt8] {
    fileprivate var leadingBits: UInt64 { prefix(8).reduce(0) { $0 << 8 | UInt64($1) } }
}
