extension JSONValue {
    /// Reads JSON text (RFC 8259): one value, with nothing but blanks around it.
    ///
    /// - Throws: `malformed`, which says what is wrong and at which byte, from 0.
    package init(parsing text: String) throws(StreamFault) {
        var reader = JSONReader(Array(text.utf8))
        self = try reader.document()
    }
}

/// JSON text that is read from its start to its end.
private struct JSONReader {
    /// How deep arrays and objects may be nested.
    private static let maximumDepth = 16
    /// The most members and elements of a text, all together.
    private static let maximumCount = 1_024

    private let bytes: [UInt8]
    private var place = 0
    private var count = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    mutating func document() throws(StreamFault) -> JSONValue {
        let value = try self.value(depth: 0)
        skipBlanks()
        guard place == bytes.count else { throw fault("has something after its end") }
        return value
    }

    private mutating func value(depth: Int) throws(StreamFault) -> JSONValue {
        guard depth < Self.maximumDepth else { throw fault("is nested deeper than \(Self.maximumDepth)") }
        skipBlanks()
        switch peek() {
        case UInt8(ascii: "{"): return .object(try members(depth: depth))
        case UInt8(ascii: "["): return .list(try elements(depth: depth))
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "t"): return try word("true", .flag(true))
        case UInt8(ascii: "f"): return try word("false", .flag(false))
        case UInt8(ascii: "n"): return try word("null", .null)
        default: return .number(try number())
        }
    }

    private mutating func members(depth: Int) throws(StreamFault) -> [JSONValue.Member] {
        place += 1
        var members: [JSONValue.Member] = []
        skipBlanks()
        if take("}") { return members }
        while true {
            skipBlanks()
            guard peek() == UInt8(ascii: "\"") else { throw fault("lacks the name of a member") }
            let name = try string()
            skipBlanks()
            guard take(":") else { throw fault("lacks a colon") }
            members.append(JSONValue.Member(name, try value(depth: depth + 1)))
            try counted()
            skipBlanks()
            if take("}") { return members }
            guard take(",") else { throw fault("lacks a comma or the end of an object") }
        }
    }

    private mutating func elements(depth: Int) throws(StreamFault) -> [JSONValue] {
        place += 1
        var elements: [JSONValue] = []
        skipBlanks()
        if take("]") { return elements }
        while true {
            elements.append(try value(depth: depth + 1))
            try counted()
            skipBlanks()
            if take("]") { return elements }
            guard take(",") else { throw fault("lacks a comma or the end of an array") }
        }
    }

    private mutating func counted() throws(StreamFault) {
        count += 1
        guard count <= Self.maximumCount else { throw fault("has more than \(Self.maximumCount) values") }
    }

    /// A text, from its first quotation mark to its last. A long one without escapes, such as audio in Base64, is
    /// copied in one go.
    private mutating func string() throws(StreamFault) -> String {
        place += 1
        var text = ""
        var start = place
        while place < bytes.count {
            switch bytes[place] {
            case UInt8(ascii: "\""):
                text += String(decoding: bytes[start..<place], as: UTF8.self)
                place += 1
                return text
            case UInt8(ascii: "\\"):
                text += String(decoding: bytes[start..<place], as: UTF8.self)
                place += 1
                text.unicodeScalars.append(try escaped())
                start = place
            case 0..<0x20: throw fault("has a control character in a text")
            default: place += 1
            }
        }
        throw fault("ends inside a text")
    }

    /// What an escape stands for. Half a surrogate pair becomes the replacement character.
    private mutating func escaped() throws(StreamFault) -> Unicode.Scalar {
        guard let byte = peek() else { throw fault("ends inside a text") }
        place += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(byte)
        case UInt8(ascii: "b"): return "\u{8}"
        case UInt8(ascii: "f"): return "\u{C}"
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "u"): return try codePoint()
        default: throw fault("has an unknown escape")
        }
    }

    private mutating func codePoint() throws(StreamFault) -> Unicode.Scalar {
        let first = try fourDigits()
        guard (0xD800..<0xDC00).contains(first) else { return Unicode.Scalar(first) ?? "\u{FFFD}" }
        guard place + 1 < bytes.count, bytes[place] == UInt8(ascii: "\\"), bytes[place + 1] == UInt8(ascii: "u") else {
            return "\u{FFFD}"
        }
        let back = place
        place += 2
        let second = try fourDigits()
        guard (0xDC00..<0xE000).contains(second) else {
            // It is a character of its own.
            place = back
            return "\u{FFFD}"
        }
        return Unicode.Scalar(0x10000 + (first - 0xD800) << 10 + (second - 0xDC00)) ?? "\u{FFFD}"
    }

    private mutating func fourDigits() throws(StreamFault) -> UInt32 {
        guard place + 4 <= bytes.count else { throw fault("ends inside a text") }
        var value: UInt32 = 0
        for byte in bytes[place..<place + 4] {
            guard let digit = Character(Unicode.Scalar(byte)).hexDigitValue else {
                throw fault("has an escape without four hexadecimal digits")
            }
            value = value << 4 | UInt32(digit)
        }
        place += 4
        return value
    }

    /// A number (RFC 8259 §6), as it is written.
    private mutating func number() throws(StreamFault) -> String {
        let start = place
        _ = take("-")
        let whole = digits()
        var isNumber = whole > 0 && !(whole > 1 && bytes[place - whole] == UInt8(ascii: "0"))
        if take(".") { isNumber = digits() > 0 && isNumber }
        if take("e") || take("E") {
            if !take("-") { _ = take("+") }
            isNumber = digits() > 0 && isNumber
        }
        guard isNumber else { throw fault("has no value") }
        return String(decoding: bytes[start..<place], as: UTF8.self)
    }

    private mutating func digits() -> Int {
        let start = place
        while let byte = peek(), (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) { place += 1 }
        return place - start
    }

    private mutating func word(_ word: String, _ value: JSONValue) throws(StreamFault) -> JSONValue {
        guard bytes[place...].starts(with: word.utf8) else { throw fault("has no value") }
        place += word.utf8.count
        return value
    }

    private mutating func skipBlanks() {
        while let byte = peek(), byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D { place += 1 }
    }

    private func peek() -> UInt8? { place < bytes.count ? bytes[place] : nil }

    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard peek() == UInt8(ascii: character) else { return false }
        place += 1
        return true
    }

    private func fault(_ what: String) -> StreamFault {
        StreamFault(.malformed, "the frame is no JSON: it \(what), at byte \(place)")
    }
}
