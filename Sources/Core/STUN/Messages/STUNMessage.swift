package import Primitives

/// A STUN message (RFC 8489 §5): what it is, which exchange it belongs to, and its attributes.
///
/// MESSAGE-INTEGRITY, MESSAGE-INTEGRITY-SHA256 and FINGERPRINT are not among the attributes: they speak about
/// the bytes rather than about the exchange. Encoding appends them; parsing notes where they are, and
/// `hasValidIntegrity` and `hasValidFingerprint` check them against those bytes.
package struct STUNMessage: Hashable, Sendable {
    package var messageClass: STUNClass
    package var method: STUNMethod
    package var transactionID: TransactionID
    /// In wire order, without those that follow MESSAGE-INTEGRITY: nobody vouches for them (RFC 8489 §14.5).
    package var attributes: [STUNAttribute]
    /// Where the parser found integrity and fingerprint; nowhere for a message that was made here.
    package internal(set) var protection = Protection()

    /// Offsets from the first byte of the message.
    package struct Protection: Hashable, Sendable {
        package internal(set) var integrity: Int?
        package internal(set) var integritySHA256: Int?
        package internal(set) var fingerprint: Int?
    }

    package init(
        _ messageClass: STUNClass, _ method: STUNMethod = .binding, _ transactionID: TransactionID,
        _ attributes: [STUNAttribute] = []
    ) {
        self.messageClass = messageClass
        self.method = method
        self.transactionID = transactionID
        self.attributes = attributes
    }

    static let headerSize = 20
    static let magicCookie: UInt32 = 0x2112_A442
    /// Of those in `attributes`. Real checks carry about ten; the rest is room for extensions.
    package static let maximumAttributeCount = 32
}

// MARK: - Attributes by name

extension STUNMessage {
    // When an attribute appears more than once, only the first counts (RFC 8489 §14).
    private func first<Value>(_ pick: (STUNAttribute) -> Value?) -> Value? {
        for attribute in attributes {
            if let value = pick(attribute) { return value }
        }
        return nil
    }

    package var username: String? {
        first { if case .username(let name) = $0 { name } else { nil } }
    }

    package var errorCode: STUNErrorCode? {
        first { if case .errorCode(let code) = $0 { code } else { nil } }
    }

    package var xorMappedAddress: SocketAddress? {
        first { if case .xorMappedAddress(let address) = $0 { address } else { nil } }
    }

    package var priority: UInt32? {
        first { if case .priority(let priority) = $0 { priority } else { nil } }
    }

    package var usesCandidate: Bool { attributes.contains(.useCandidate) }

    /// The tie-breaker of ICE-CONTROLLED: the sender believes that it is controlled.
    package var iceControlled: UInt64? {
        first { if case .iceControlled(let tieBreaker) = $0 { tieBreaker } else { nil } }
    }

    /// The tie-breaker of ICE-CONTROLLING: the sender believes that it is controlling.
    package var iceControlling: UInt64? {
        first { if case .iceControlling(let tieBreaker) = $0 { tieBreaker } else { nil } }
    }

    /// Attributes that the sender insists on and this module does not know (RFC 8489 §6.3.1): the answer is 420.
    package var unknownRequiredAttributes: [STUNAttributeType] {
        attributes.compactMap { attribute in
            guard case .unknown(let type, _) = attribute, type.isComprehensionRequired else { return nil }
            return type
        }
    }
}
