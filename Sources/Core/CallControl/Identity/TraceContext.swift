import Primitives

/// The place of a request in a trace, as the header `traceparent` tells it (W3C Trace Context §3.2). The gateway writes
/// no spans: it passes on what it was given.
package struct TraceContext: Hashable, Sendable, CustomStringConvertible {
    /// The value of the header, in version 00: 55 characters.
    package let description: String

    private static let length = 55
    /// The flags that version 00 knows: sampled, and random (Level 2).
    private static let knownFlags: UInt8 = 3
    /// The only flag that is understood of a later version: sampled.
    private static let commonFlags: UInt8 = 1

    /// Reads the value of a header; `nil` if it is malformed, in which case it is ignored (§3.2.2). Of a later version
    /// only the parts are read that version 00 has (§3.2.4).
    package init?(_ text: String) {
        let bytes = Array(text.utf8)
        guard bytes.count >= Self.length, let version = Self.byte(bytes[0..<2]), version != 0xFF,
            bytes.count == Self.length || (version > 0 && bytes[Self.length] == Self.separator),
            [2, 35, 52].allSatisfy({ bytes[$0] == Self.separator }),
            Self.isIdentifier(bytes[3..<35]), Self.isIdentifier(bytes[36..<52]), let flags = Self.byte(bytes[53..<55])
        else { return nil }
        let kept = flags & (version == 0 ? Self.knownFlags : Self.commonFlags)
        description = "00-" + String(decoding: bytes[3..<53], as: UTF8.self) + [kept].hexadecimal
    }

    private static let separator = UInt8(ascii: "-")

    /// Lower-case hexadecimal digits that are not all zero.
    private static func isIdentifier(_ digits: ArraySlice<UInt8>) -> Bool {
        digits.allSatisfy { digit($0) != nil } && digits.contains { $0 != UInt8(ascii: "0") }
    }

    /// Two lower-case hexadecimal digits.
    private static func byte(_ digits: ArraySlice<UInt8>) -> UInt8? {
        digits.reduce(0 as UInt8?) { value, character in
            guard let value, let digit = digit(character) else { return nil }
            return value << 4 | digit
        }
    }

    private static func digit(_ character: UInt8) -> UInt8? {
        switch character {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): character - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): character - UInt8(ascii: "a") + 10
        default: nil
        }
    }
}

extension TraceContext: Codable {
    /// Reads the value of the header.
    ///
    /// - Throws: `DecodingError` if it is malformed.
    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        guard let context = TraceContext(text) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "no trace context: \(text)")
        }
        self = context
    }

    /// Writes the value of the header.
    ///
    /// - Throws: what the encoder throws.
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}
