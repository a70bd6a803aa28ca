package import Primitives

/// A STUN message (RFC 8489 §5): its class, method, transaction and attributes.
///
/// MESSAGE-INTEGRITY, MESSAGE-INTEGRITY-SHA256 and FINGERPRINT are not among the attributes, because they depend on the
/// bytes of the message. Encoding appends them. Parsing records their positions, and `hasValidIntegrity` and
/// `hasValidFingerprint` check them against those bytes.
package struct STUNMessage: Hashable, Sendable {
    /// Whether it is a request, an indication or a response.
    package var messageClass: STUNClass
    /// The method; Binding in ICE.
    package var method: STUNMethod
    /// The transaction; a response has that of its request.
    package var transactionID: TransactionID
    /// The attributes in the order of the message, without those after MESSAGE-INTEGRITY, which it does not protect
    /// (RFC 8489 §14.5).
    package var attributes: [STUNAttribute]
    /// The positions of integrity and fingerprint in the parsed bytes; all `nil` in a message that was not parsed.
    package internal(set) var protection = Protection()

    /// The positions of the protecting attributes, in bytes from the start of the message; `nil` if an attribute is
    /// missing.
    package struct Protection: Hashable, Sendable {
        /// The position of MESSAGE-INTEGRITY.
        package internal(set) var integrity: Int?
        /// The position of MESSAGE-INTEGRITY-SHA256.
        package internal(set) var integritySHA256: Int?
        /// The position of FINGERPRINT.
        package internal(set) var fingerprint: Int?
    }

    /// Makes a message of its parts; each parameter is the property of that name. The method is Binding unless given.
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
    /// The most elements of `attributes`. Checks have about ten attributes; the rest is room for extensions.
    package static let maximumAttributeCount = 32
}

// MARK: - Attributes by name

extension STUNMessage {
    // If an attribute appears more than once, the first counts (RFC 8489 §14).
    private func first<Value>(_ pick: (STUNAttribute) -> Value?) -> Value? {
        for attribute in attributes {
            if let value = pick(attribute) { return value }
        }
        return nil
    }

    /// USERNAME; `nil` if it is missing.
    package var username: String? {
        first { if case .username(let name) = $0 { name } else { nil } }
    }

    /// ERROR-CODE; `nil` if it is missing.
    package var errorCode: STUNErrorCode? {
        first { if case .errorCode(let code) = $0 { code } else { nil } }
    }

    /// XOR-MAPPED-ADDRESS; `nil` if it is missing.
    package var xorMappedAddress: SocketAddress? {
        first { if case .xorMappedAddress(let address) = $0 { address } else { nil } }
    }

    /// PRIORITY; `nil` if it is missing.
    package var priority: UInt32? {
        first { if case .priority(let priority) = $0 { priority } else { nil } }
    }

    /// Whether the message has USE-CANDIDATE: it nominates the pair.
    package var usesCandidate: Bool { attributes.contains(.useCandidate) }

    /// The tie-breaker of ICE-CONTROLLED, with which the sender claims the controlled role; `nil` if it is missing.
    package var iceControlled: UInt64? {
        first { if case .iceControlled(let tieBreaker) = $0 { tieBreaker } else { nil } }
    }

    /// The tie-breaker of ICE-CONTROLLING, with which the sender claims the controlling role; `nil` if it is missing.
    package var iceControlling: UInt64? {
        first { if case .iceControlling(let tieBreaker) = $0 { tieBreaker } else { nil } }
    }

    /// The comprehension-required attributes that this module does not know (RFC 8489 §6.3.1). If there are any, the
    /// response is 420.
    package var unknownRequiredAttributes: [STUNAttributeType] {
        attributes.compactMap { attribute in
            guard case .unknown(let type, _) = attribute, type.isComprehensionRequired else { return nil }
            return type
        }
    }
}
