/// A source of random values: the kernel's generator in the gateway, a seeded one in tests.
package protocol RandomSource: Sendable {
    /// Draws 64 uniformly distributed bits.
    mutating func next() -> UInt64
}

extension RandomSource {
    /// Draws 32 uniformly distributed bits.
    package mutating func nextUInt32() -> UInt32 { UInt32(truncatingIfNeeded: next() >> 32) }

    /// Draws `count` random bytes.
    package mutating func nextBytes(_ count: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count)
        while bytes.count < count {
            var word = next()
            for _ in 0..<min(8, count - bytes.count) {
                bytes.append(UInt8(truncatingIfNeeded: word))
                word >>= 8
            }
        }
        return bytes
    }

    /// Draws `count` characters of a 64-character alphabet, with six bits of randomness each.
    package mutating func nextToken(_ count: Int, alphabet: RandomAlphabet) -> String {
        var text = ""
        text.reserveCapacity(count)
        var (word, left) = (UInt64(0), 0)
        for _ in 0..<count {
            if left < 6 { (word, left) = (next(), 64) }
            text.append(alphabet.characters[Int(word & 63)])
            word >>= 6
            left -= 6
        }
        return text
    }
}

/// The 64 characters of a random token.
package enum RandomAlphabet: Sendable {
    /// The `ice-char` of RFC 8839 §5.4: letters, digits, `+` and `/`.
    case ice
    /// Letters, digits, `-` and `_`, which need no escaping in a URL path (RFC 4648 §5).
    case url

    /// The 64 characters; six random bits select one.
    package var characters: [Character] {
        switch self {
        case .ice: Self.iceCharacters
        case .url: Self.urlCharacters
        }
    }

    private static let letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
    private static let iceCharacters = Array(letters + "+/")
    private static let urlCharacters = Array(letters + "-_")
}
