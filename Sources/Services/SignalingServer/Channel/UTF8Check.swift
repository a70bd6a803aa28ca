/// Checks that bytes that arrive in pieces are UTF-8 (RFC 3629 §4): no character is longer than needed, a surrogate, or
/// beyond U+10FFFF.
struct UTF8Check: Sendable {
    /// How many bytes the current character still needs.
    private var missing = 0
    /// The values that its next byte may have.
    private var range: ClosedRange<UInt8> = 0x80...0xBF

    /// Whether every character so far is complete.
    var isBetweenCharacters: Bool { missing == 0 }

    /// Whether the bytes so far can be the start of UTF-8. It must not be asked again after `false`.
    mutating func accept(_ bytes: some Sequence<UInt8>) -> Bool {
        for byte in bytes where !accept(byte) { return false }
        return true
    }

    private mutating func accept(_ byte: UInt8) -> Bool {
        if missing > 0 {
            guard range.contains(byte) else { return false }
            (missing, range) = (missing - 1, 0x80...0xBF)
            return true
        }
        switch byte {
        case 0x00...0x7F: break
        case 0xC2...0xDF: missing = 1
        case 0xE0: (missing, range) = (2, 0xA0...0xBF)
        case 0xED: (missing, range) = (2, 0x80...0x9F)
        case 0xE1...0xEF: missing = 2
        case 0xF0: (missing, range) = (3, 0x90...0xBF)
        case 0xF4: (missing, range) = (3, 0x80...0x8F)
        case 0xF1...0xF3: missing = 3
        default: return false
        }
        return true
    }
}
