/// The class of a message: the two class bits (RFC 8489 §5).
package enum STUNClass: UInt8, Hashable, Sendable, CaseIterable {
    /// Asks for a response.
    case request = 0b00
    /// Asks for no response.
    case indication = 0b01
    /// Answers a request that succeeded.
    case success = 0b10
    /// Answers a request that failed.
    case error = 0b11
}

/// The method of a message: twelve bits (RFC 8489 §5). ICE uses only Binding.
package struct STUNMethod: Hashable, Sendable {
    /// The number of the method, 0…0xFFF.
    package let rawValue: UInt16

    /// Makes a method of the low twelve bits of `rawValue`.
    package init(_ rawValue: UInt16) { self.rawValue = rawValue & 0x0FFF }

    /// Binding, the method of ICE checks.
    package static let binding = STUNMethod(0x001)
}

/// The first 16 bits of a message, in which the class bits are between those of the method (RFC 8489 §5).
///
///     0 0 M11 M10 M9 M8 M7 C1 M6 M5 M4 C0 M3 M2 M1 M0
enum STUNMessageType {
    /// Class and method; `nil` if the first two bits are not zero.
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
