/// A JSON text (RFC 8259), read without latitude. An object that has a member twice is refused, because two readers
/// could see different values of it (RFC 8725 §2.4).
package enum StrictJSON: Equatable, Sendable {
    /// The word `null`.
    case null
    /// One of the words `true` and `false`.
    case boolean(Bool)
    /// A finite number.
    case number(Double)
    /// A string, its escapes replaced.
    case string(String)
    /// The elements of an array, in order.
    case array([StrictJSON])
    /// The members of an object by their names.
    case object([String: StrictJSON])

    /// How deep arrays and objects may stand in each other.
    package static let depthLimit = 16

    /// Reads a text. `nil` if the bytes are not one JSON value in UTF-8, if a member is there twice, if values stand in
    /// each other deeper than ``depthLimit``, or if a number is too large.
    package init?(_ bytes: [UInt8]) {
        var reader = Reader(bytes: bytes)
        guard let value = reader.value(depth: 0) else { return nil }
        reader.skipBlanks()
        guard reader.isAtEnd else { return nil }
        self = value
    }

    /// The text of a string; `nil` for another value.
    package var text: String? { if case .string(let text) = self { text } else { nil } }
    /// The value of a number; `nil` for another value.
    package var amount: Double? { if case .number(let number) = self { number } else { nil } }
    /// The elements of an array; `nil` for another value.
    package var elements: [StrictJSON]? { if case .array(let elements) = self { elements } else { nil } }
    /// The members of an object; `nil` for another value.
    package var members: [String: StrictJSON]? { if case .object(let members) = self { members } else { nil } }
}

private struct Reader {
    let bytes: [UInt8]
    var position = 0

    var isAtEnd: Bool { position == bytes.count }
    private var next: UInt8? { position < bytes.count ? bytes[position] : nil }

    mutating func skipBlanks() {
        while let byte = next, [0x20, 0x09, 0x0A, 0x0D].contains(byte) { position += 1 }
    }

    private mutating func take(_ byte: UInt8) -> Bool {
        guard next == byte else { return false }
        position += 1
        return true
    }

    private mutating func take(_ word: StaticString, as value: StrictJSON) -> StrictJSON? {
        let letters = Array("\(word)".utf8)
        guard bytes[position...].starts(with: letters) else { return nil }
        position += letters.count
        return value
    }

    mutating func value(depth: Int) -> StrictJSON? {
        skipBlanks()
        switch next {
        case UInt8(ascii: "{"): return depth < StrictJSON.depthLimit ? object(depth: depth + 1) : nil
        case UInt8(ascii: "["): return depth < StrictJSON.depthLimit ? array(depth: depth + 1) : nil
        case UInt8(ascii: "\""): return string().map { .string($0) }
        case UInt8(ascii: "t"): return take("true", as: .boolean(true))
        case UInt8(ascii: "f"): return take("false", as: .boolean(false))
        case UInt8(ascii: "n"): return take("null", as: .null)
        default: return number().map { .number($0) }
        }
    }

    private mutating func object(depth: Int) -> StrictJSON? {
        position += 1
        var members: [String: StrictJSON] = [:]
        skipBlanks()
        if take(UInt8(ascii: "}")) { return .object(members) }
        repeat {
            skipBlanks()
            guard next == UInt8(ascii: "\""), let name = string() else { return nil }
            skipBlanks()
            guard take(UInt8(ascii: ":")), let value = value(depth: depth), members[name] == nil else { return nil }
            members[name] = value
            skipBlanks()
        } while take(UInt8(ascii: ","))
        return take(UInt8(ascii: "}")) ? .object(members) : nil
    }

    private mutating func array(depth: Int) -> StrictJSON? {
        position += 1
        var elements: [StrictJSON] = []
        skipBlanks()
        if take(UInt8(ascii: "]")) { return .array(elements) }
        repeat {
            guard let value = value(depth: depth) else { return nil }
            elements.append(value)
            skipBlanks()
        } while take(UInt8(ascii: ","))
        return take(UInt8(ascii: "]")) ? .array(elements) : nil
    }

    private mutating func string() -> String? {
        position += 1
        var text: [UInt8] = []
        while let byte = next {
            position += 1
            switch byte {
            case UInt8(ascii: "\""): return String(validating: text, as: UTF8.self)
            case UInt8(ascii: "\\"):
                guard let scalar = escape() else { return nil }
                text += Array(String(scalar).utf8)
            case 0..<0x20: return nil
            default: text.append(byte)
            }
        }
        return nil
    }

    private mutating func escape() -> UnicodeScalar? {
        guard let letter = next else { return nil }
        position += 1
        switch letter {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return UnicodeScalar(letter)
        case UInt8(ascii: "b"): return "\u{8}"
        case UInt8(ascii: "f"): return "\u{C}"
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "u"):
            guard let unit = codeUnit() else { return nil }
            guard (0xD800..<0xDC00).contains(unit) else { return UnicodeScalar(unit) }
            // The first half of a pair; the second must follow (RFC 8259 §7).
            guard take(UInt8(ascii: "\\")), take(UInt8(ascii: "u")), let low = codeUnit(),
                (0xDC00..<0xE000).contains(low)
            else { return nil }
            return UnicodeScalar(0x10000 + (unit - 0xD800) << 10 + (low - 0xDC00))
        default: return nil
        }
    }

    private mutating func codeUnit() -> UInt32? {
        guard position + 4 <= bytes.count else { return nil }
        var unit: UInt32 = 0
        for byte in bytes[position..<position + 4] {
            guard let digit = Character(UnicodeScalar(byte)).hexDigitValue else { return nil }
            unit = unit << 4 | UInt32(digit)
        }
        position += 4
        return unit
    }

    private mutating func number() -> Double? {
        let start = position
        _ = take(UInt8(ascii: "-"))
        guard take(UInt8(ascii: "0")) || digits() else { return nil }
        if take(UInt8(ascii: ".")), !digits() { return nil }
        if take(UInt8(ascii: "e")) || take(UInt8(ascii: "E")) {
            if !take(UInt8(ascii: "+")) { _ = take(UInt8(ascii: "-")) }
            guard digits() else { return nil }
        }
        return Double(String(decoding: bytes[start..<position], as: UTF8.self)).flatMap { $0.isFinite ? $0 : nil }
    }

    private mutating func digits() -> Bool {
        let start = position
        while let byte = next, (0x30...0x39).contains(byte) { position += 1 }
        return position > start
    }
}
