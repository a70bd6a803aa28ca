/// SHA-1 and HMAC-SHA1 (RFC 3174, RFC 2104) in plain Swift, so that tests of Core need no cryptographic library.
package enum SHA1 {
    package static func digest(_ message: [UInt8]) -> [UInt8] {
        var padded = message + [0x80]
        padded += [UInt8](repeating: 0, count: (120 - padded.count % 64) % 64)
        padded += (0..<8).map { UInt8(truncatingIfNeeded: (UInt64(message.count) * 8) >> (56 - 8 * UInt64($0))) }
        var state: [UInt32] = [0x6745_2301, 0xEFCD_AB89, 0x98BA_DCFE, 0x1032_5476, 0xC3D2_E1F0]
        for block in stride(from: 0, to: padded.count, by: 64) { compress(padded[block..<(block + 64)], into: &state) }
        return state.flatMap { word in (0..<4).map { UInt8(truncatingIfNeeded: word >> (24 - 8 * UInt32($0))) } }
    }

    package static func hmac(key: [UInt8], _ message: [UInt8]) -> [UInt8] {
        let short = key.count > 64 ? digest(key) : key
        let block = short + [UInt8](repeating: 0, count: 64 - short.count)
        return digest(block.map { $0 ^ 0x5C } + digest(block.map { $0 ^ 0x36 } + message))
    }

    private static func compress(_ block: ArraySlice<UInt8>, into state: inout [UInt32]) {
        let bytes = Array(block)
        var words = (0..<16).map { word in (0..<4).reduce(UInt32(0)) { $0 << 8 | UInt32(bytes[4 * word + $1]) } }
        for t in 16..<80 { words.append(rotate(words[t - 3] ^ words[t - 8] ^ words[t - 14] ^ words[t - 16], by: 1)) }
        var (a, b, c, d, e) = (state[0], state[1], state[2], state[3], state[4])
        for t in 0..<80 {
            let (mix, constant): (UInt32, UInt32) =
                switch t {
                case 0..<20: (b & c | ~b & d, 0x5A82_7999)
                case 20..<40: (b ^ c ^ d, 0x6ED9_EBA1)
                case 40..<60: (b & c | b & d | c & d, 0x8F1B_BCDC)
                default: (b ^ c ^ d, 0xCA62_C1D6)
                }
            let next = rotate(a, by: 5) &+ mix &+ e &+ constant &+ words[t]
            (a, b, c, d, e) = (next, a, rotate(b, by: 30), c, d)
        }
        for (index, word) in [a, b, c, d, e].enumerated() { state[index] &+= word }
    }

    private static func rotate(_ word: UInt32, by bits: UInt32) -> UInt32 { word << bits | word >> (32 - bits) }
}
