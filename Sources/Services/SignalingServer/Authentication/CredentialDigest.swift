import CallControl
import Cryptography
package import Primitives

/// HMAC-SHA-256 of an `Authorization` header under a secret key.
package struct CredentialDigest: Hashable, Sendable {
    let bytes: [UInt8]

    /// - Parameter bytes: 32 of them, as they were remembered.
    init(remembered bytes: [UInt8]) { self.bytes = bytes }

    /// Compares in constant time; `==` is for dictionaries.
    package func matches(_ other: CredentialDigest) -> Bool {
        constantTimeEqual(bytes, other.bytes)
    }

    /// The first 64 bits, to find a digest by. Whoever does not know the key cannot aim at one.
    package var tag: UInt64 { bytes.leadingBits }

    /// Keyed digest of a stored password record: tells whether it is still the same.
    package struct RecordMark: Hashable, Sendable {
        let bytes: [UInt8]

        init(remembered bytes: [UInt8]) { self.bytes = bytes }
    }

    /// The random key without which digests are worthless, be they in memory or in a database.
    package struct Key: Sendable {
        /// Tells keys apart and gives nothing away about them: 8 bytes.
        package let name: [UInt8]
        private let headers: Redacted<[UInt8]>
        private let records: Redacted<[UInt8]>
        private let networks: Redacted<[UInt8]>

        package static let size = 32

        /// - Parameter secret: ``size`` random bytes. Each use has its own key made from it.
        package init(_ secret: Redacted<[UInt8]>) {
            precondition(secret.value.count == Self.size, "the key has 256 bits")
            let derived = { (use: String) in HMAC.sha256(key: secret.value, Array(use.utf8).span) }
            name = Array(derived("name").prefix(8))
            headers = Redacted(derived("Authorization headers"))
            records = Redacted(derived("password records"))
            networks = Redacted(derived("familiar networks"))
        }

        /// A key that nobody else will ever have.
        package init(using random: inout some RandomSource) {
            self.init(Redacted(random.nextBytes(Self.size)))
        }

        package func digest(_ header: String) -> CredentialDigest {
            CredentialDigest(remembered: HMAC.sha256(key: headers.value, Array(header.utf8).span))
        }

        package func mark(of record: String) -> RecordMark {
            RecordMark(remembered: HMAC.sha256(key: records.value, Array(record.utf8).span))
        }

        /// `nil` if the network is not known.
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
