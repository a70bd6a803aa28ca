/// The 16-bit type of an attribute (RFC 8489 §14 and §18.3; RFC 8445 §16.1).
package struct STUNAttributeType: Hashable, Sendable {
    package let rawValue: UInt16

    package init(_ rawValue: UInt16) { self.rawValue = rawValue }

    /// Whoever does not know such an attribute must not process the message (RFC 8489 §14).
    package var isComprehensionRequired: Bool { rawValue < 0x8000 }

    package static let username = STUNAttributeType(0x0006)
    package static let messageIntegrity = STUNAttributeType(0x0008)
    package static let errorCode = STUNAttributeType(0x0009)
    package static let unknownAttributes = STUNAttributeType(0x000A)
    package static let messageIntegritySHA256 = STUNAttributeType(0x001C)
    package static let xorMappedAddress = STUNAttributeType(0x0020)
    package static let priority = STUNAttributeType(0x0024)
    package static let useCandidate = STUNAttributeType(0x0025)
    package static let software = STUNAttributeType(0x8022)
    package static let fingerprint = STUNAttributeType(0x8028)
    package static let iceControlled = STUNAttributeType(0x8029)
    package static let iceControlling = STUNAttributeType(0x802A)
}

extension STUNAttributeType: CustomStringConvertible {
    package var description: String {
        let digits = String(rawValue, radix: 16, uppercase: true)
        return "0x" + String(repeating: "0", count: 4 - digits.count) + digits
    }
}
