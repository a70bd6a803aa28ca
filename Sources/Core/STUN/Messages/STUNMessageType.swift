/// What a message is in an exchange: the two class bits (RFC 8489 §5).
package enum STUNClass: UInt8, Hashable, Sendable, CaseIterable {
    case request = 0b00
    case indication = 0b01
    case success = 0b10
    case error = 0b11
}

/// What a message is about: twelve bits (RFC 8489 §5). ICE uses Binding and nothing else.
package struct STUNMethod: Hashable, Sendable {
    package let rawValue: UInt16

    /// The low twelve bits of `rawValue`.
    package init(_ rawValue: UInt16) { self.rawValue = rawValue & 0x0FFF }

    package static let binding = STUNMethod(0x001)
}

/// The first 16 bits of a message, in which the class bits sit between the method's (RFC 8489 §5).
///
///     0 0 M11 M10 M9 M8 M7 C1 M6 M5 M4 C0 M3 M2 M1 M0
enum STUNMessageType {
    /// `nil` if the first two bits are not zero.
    static func split(_ bits: UInt16) -> (STUNClass, STUNMethod)? {
        guard bits & 0xC000 == 0 else { return nil }
        let classBits = UInt8((bits >> 7) & 0b10 | (bits >> 4) & 0b01)
        let method = (bits >> 2) & 0x0F80 | (bits >> 1) & 0x0070 | bits & 0x000F
        return STUNClass(rawValue: classBits).map { ($0, STUNMethod(method)) }
    }

    static func join(_ messageClass: STUNClass, _ method: STUNMethod) -> UInt16 {
        let (bits, method) = (UInt16(messageClass.rawValue), method.rawValue)
        return (method & 0x0F80) << 2 | (bits & 0b10) << 7 | (method & 0x0070) << 1 | (bits & 0b01) << 4 | method
            & 0x000F
    }
}
