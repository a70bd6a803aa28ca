/// The 16-bit type of an attribute (RFC 8489 §14 and §18.3; RFC 8445 §16.1).
package struct STUNAttributeType: Hashable, Sendable {
    /// The number of the type in the message.
    package let rawValue: UInt16

    /// Makes the type with that number, known or not.
    package init(_ rawValue: UInt16) { self.rawValue = rawValue }

    /// Whether an agent that does not know the attribute must not process the message (RFC 8489 §14).
    package var isComprehensionRequired: Bool { rawValue < 0x8000 }

    /// USERNAME (RFC 8489 §14.3).
    package static let username = STUNAttributeType(0x0006)
    /// MESSAGE-INTEGRITY, an HMAC-SHA1 (RFC 8489 §14.5).
    package static let messageIntegrity = STUNAttributeType(0x0008)
    /// ERROR-CODE (RFC 8489 §14.8).
    package static let errorCode = STUNAttributeType(0x0009)
    /// UNKNOWN-ATTRIBUTES (RFC 8489 §14.13).
    package static let unknownAttributes = STUNAttributeType(0x000A)
    /// MESSAGE-INTEGRITY-SHA256 (RFC 8489 §14.6).
    package static let messageIntegritySHA256 = STUNAttributeType(0x001C)
    /// XOR-MAPPED-ADDRESS (RFC 8489 §14.2).
    package static let xorMappedAddress = STUNAttributeType(0x0020)
    /// PRIORITY (RFC 8445 §7.1.1).
    package static let priority = STUNAttributeType(0x0024)
    /// USE-CANDIDATE (RFC 8445 §7.1.2).
    package static let useCandidate = STUNAttributeType(0x0025)
    /// SOFTWARE (RFC 8489 §14.14).
    package static let software = STUNAttributeType(0x8022)
    /// FINGERPRINT, a CRC-32 (RFC 8489 §14.7).
    package static let fingerprint = STUNAttributeType(0x8028)
    /// ICE-CONTROLLED (RFC 8445 §7.1.3).
    package static let iceControlled = STUNAttributeType(0x8029)
    /// ICE-CONTROLLING (RFC 8445 §7.1.3).
    package static let iceControlling = STUNAttributeType(0x802A)
}

extension STUNAttributeType: CustomStringConvertible {
    /// The number in hexadecimal, for example `0x0020`.
    package var description: String {
        let digits = String(rawValue, radix: 16, uppercase: true)
        return "0x" + String(repeating: "0", count: 4 - digits.count) + digits
    }
}
