/// FNV-1a with 64 bits (RFC 9923 §2). It gives the same value for the same bytes in every process and on every machine.
///
/// It distinguishes texts unless an attacker makes them collide; it is no defence against that.
package struct FowlerNollVo: Hashable, Sendable {
    /// The hash of everything combined so far.
    package private(set) var value: UInt64 = 0xCBF2_9CE4_8422_2325

    /// Makes the hash of no bytes.
    package init() {}

    /// Makes the hash of a text in UTF-8.
    package init(_ text: Substring) { combine(text) }

    /// Makes the hash of a text in UTF-8.
    package init(_ text: String) { combine(text[...]) }

    /// Adds the bytes of a text in UTF-8.
    ///
    /// It is not generic: a generic one would make several calls for each byte of a description.
    package mutating func combine(_ text: Substring) {
        let bytes = text.utf8.span
        for index in bytes.indices { combine(bytes[index]) }
    }

    /// Adds a byte.
    package mutating func combine(_ byte: UInt8) { value = (value ^ UInt64(byte)) &* 0x100_0000_01B3 }
}
