/// Base64 with padding (RFC 4648 §4).
package enum Base64 {
    /// The text for bytes.
    package static func encode(_ bytes: [UInt8]) -> String {
        var text: [UInt8] = []
        text.reserveCapacity((bytes.count + 2) / 3 * 4)
        var index = 0
        while index < bytes.count {
            let left = bytes.count - index
            let second = left > 1 ? bytes[index + 1] : 0
            let third = left > 2 ? bytes[index + 2] : 0
            text.append(letters[Int(bytes[index] >> 2)])
            text.append(letters[Int(bytes[index] << 4 & 0x3F | second >> 4)])
            text.append(left > 1 ? letters[Int(second << 2 & 0x3F | third >> 6)] : padding)
            text.append(left > 2 ? letters[Int(third & 0x3F)] : padding)
            index += 3
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// The bytes of a text; `nil` if it is no Base64. Padding may be missing, and unused bits may be set.
    package static func decode(_ text: String) -> [UInt8]? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count / 4 * 3)
        var (bits, count, letters, paddings) = (UInt32(0), 0, 0, 0)
        for letter in text.utf8 {
            if letter == padding {
                paddings += 1
                continue
            }
            let value = values[Int(letter)]
            guard value < 64, paddings == 0 else { return nil }
            letters += 1
            bits = bits << 6 | UInt32(value)
            count += 6
            if count >= 8 {
                count -= 8
                bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
            }
        }
        guard letters % 4 != 1, paddings == 0 || (letters + paddings).isMultiple(of: 4), paddings <= 2 else {
            return nil
        }
        return bytes
    }

    private static let padding = UInt8(ascii: "=")
    private static let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    private static let values: [UInt8] = {
        var values = [UInt8](repeating: 0xFF, count: 256)
        for (value, letter) in letters.enumerated() { values[Int(letter)] = UInt8(value) }
        return values
    }()
}
