/// JSON text (RFC 8259) of values that the gateway answers or tells, whose types declare their members once, by
/// `Encodable`.
///
/// Members stand in the order in which the type declares them, entries of a dictionary in alphabetical order, so that
/// the same value always makes the same text. What is `nil` is left out. Fractions have three decimals at most;
/// infinities and NaN, for which JSON has no form (§6), are left out as members.
///
/// Foundation's `JSONEncoder` makes a tree of objects first. This one writes straight into bytes, since the gateway
/// writes a text for every event.
package enum JSONText {
    /// The text of a value, in UTF-8.
    ///
    /// Superclasses trap: values are structures and enumerations.
    package static func bytes(of value: some Encodable) -> [UInt8] {
        let output = JSONOutput()
        do {
            try output.write(value)
        } catch {
            preconditionFailure("texts, numbers and truths can always be written: \(error)")
        }
        return output.bytes
    }
}

/// The text that has been written so far, for the containers that write into it.
///
/// Each function changes one property once: every access to a property of a class is checked at run time.
private final class JSONOutput {
    private var text = WrittenText()

    var bytes: [UInt8] { text.bytes }

    /// Writes a value, and closes the bracket that it has opened.
    func write<Value: Encodable>(_ value: Value) throws {
        let outer = depth
        // A dictionary is one word. Most values are not, and asking every one what it is would take long.
        if MemoryLayout<Value>.size == MemoryLayout<[String: Int]>.size, let dictionary = value as? any TextKeyed {
            try dictionary.writeSorted(to: self)
        } else {
            try value.encode(to: ValueEncoder(output: self, outer: outer))
        }
        text.close(to: outer)
    }

    /// How many brackets are open.
    var depth: Int { text.depth }

    /// Opens a bracket; see `WrittenText`.
    func open(_ opening: UInt8, closing: UInt8) -> Int { text.open(opening, closing: closing) }

    /// Writes the comma in front of a member or an element; see `WrittenText`.
    func separate(at depth: Int) { text.separate(at: depth) }

    /// Writes the name of a member.
    func name(_ name: String, at depth: Int) { text.name(name, at: depth) }

    /// Writes a number, a Boolean or `null`.
    func literal(_ literal: String) { text.literal(literal) }

    /// Writes a string.
    func string(_ string: String) { text.string(string) }
}

/// JSON text up to some point, and the brackets that are open there.
private struct WrittenText {
    private(set) var bytes: [UInt8] = []
    /// The closing brackets of what is open, the innermost last.
    private var closings: [UInt8] = []
    /// Whether a comma is needed in front of the next member or element.
    private var needsComma = false

    /// How many brackets are open.
    var depth: Int { closings.count }

    /// Opens a bracket.
    ///
    /// - Returns: how many are open now.
    mutating func open(_ opening: UInt8, closing: UInt8) -> Int {
        bytes.append(opening)
        closings.append(closing)
        needsComma = false
        return closings.count
    }

    /// Closes brackets until so many are open.
    mutating func close(to depth: Int) {
        while closings.count > depth {
            bytes.append(closings.removeLast())
            needsComma = true
        }
    }

    /// Writes the comma in front of a member or an element of the value that so many brackets contain. What is open
    /// inside of that value is complete.
    mutating func separate(at depth: Int) {
        close(to: depth)
        if needsComma { bytes.append(UInt8(ascii: ",")) }
        needsComma = true
    }

    /// Writes the name of a member.
    mutating func name(_ name: String, at depth: Int) {
        separate(at: depth)
        string(name)
        bytes.append(UInt8(ascii: ":"))
    }

    /// Writes a number, a Boolean or `null`.
    mutating func literal(_ text: String) { bytes += text.utf8 }

    /// Writes a string.
    mutating func string(_ text: String) { Self.append(text, to: &bytes) }

    /// Quotes, backslashes and control characters are escaped; everything else stays UTF-8 (RFC 8259 §7).
    private static func append(_ text: String, to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "\""))
        defer { bytes.append(UInt8(ascii: "\"")) }
        let text = text.utf8Span.span
        // Most texts have nothing to escape.
        let escapes = text.indices.reduce(0) { needsEscape(text[$1]) ? $0 + 1 : $0 }
        bytes.append(addingCapacity: text.count + longestEscape * escapes) { output in
            for index in text.indices {
                let byte = text[index]
                if escapes > 0, needsEscape(byte) { escape(byte, to: &output) } else { output.append(byte) }
            }
        }
    }

    /// How many bytes an escaped character takes at most.
    private static let longestEscape = 6

    private static func needsEscape(_ byte: UInt8) -> Bool {
        byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
    }

    private static func escape(_ byte: UInt8, to output: inout OutputSpan<UInt8>) {
        output.append(UInt8(ascii: "\\"))
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"): output.append(byte)
        case UInt8(ascii: "\r"): output.append(UInt8(ascii: "r"))
        case UInt8(ascii: "\n"): output.append(UInt8(ascii: "n"))
        default:
            for character in "u00\(byte < 0x10 ? "0" : "")\(String(byte, radix: 16))".utf8 { output.append(character) }
        }
    }
}

/// A dictionary whose keys are strings. Its own `encode` writes the entries in no fixed order.
private protocol TextKeyed {
    func writeSorted(to output: JSONOutput) throws
}

extension Dictionary: TextKeyed where Key == String, Value: Encodable {
    fileprivate func writeSorted(to output: JSONOutput) throws {
        let depth = output.open(UInt8(ascii: "{"), closing: UInt8(ascii: "}"))
        for (name, value) in sorted(by: { $0.key < $1.key }) {
            output.name(name, at: depth)
            try output.write(value)
        }
    }
}

// MARK: - Containers

private struct ValueEncoder: Encoder {
    let output: JSONOutput
    /// How many brackets were open before the value.
    let outer: Int
    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        KeyedEncodingContainer(ObjectContainer(output: output, depth: open(UInt8(ascii: "{"), UInt8(ascii: "}"))))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        ArrayContainer(output: output, depth: open(UInt8(ascii: "["), UInt8(ascii: "]")))
    }

    func singleValueContainer() -> any SingleValueEncodingContainer { ValueContainer(output: output) }

    /// Opens a bracket, unless the value has opened it before.
    private func open(_ opening: UInt8, _ closing: UInt8) -> Int {
        guard output.depth > outer else { return output.open(opening, closing: closing) }
        return outer + 1
    }
}

private struct ValueContainer: SingleValueEncodingContainer {
    let output: JSONOutput
    var codingPath: [any CodingKey] { [] }

    func encodeNil() { output.literal("null") }
    func encode(_ truth: Bool) { output.literal(truth ? "true" : "false") }
    func encode(_ text: String) { output.string(text) }
    func encode(_ fraction: Double) { output.literal("\((fraction * 1_000).rounded() / 1_000)") }
    func encode(_ fraction: Float) { encode(Double(fraction)) }
    // A generic function for whole numbers would not be chosen: it is no closer than the one for any value.
    func encode(_ number: Int) { output.literal("\(number)") }
    func encode(_ number: Int8) { output.literal("\(number)") }
    func encode(_ number: Int16) { output.literal("\(number)") }
    func encode(_ number: Int32) { output.literal("\(number)") }
    func encode(_ number: Int64) { output.literal("\(number)") }
    func encode(_ number: UInt) { output.literal("\(number)") }
    func encode(_ number: UInt8) { output.literal("\(number)") }
    func encode(_ number: UInt16) { output.literal("\(number)") }
    func encode(_ number: UInt32) { output.literal("\(number)") }
    func encode(_ number: UInt64) { output.literal("\(number)") }
    func encode(_ value: some Encodable) throws { try output.write(value) }
}

private struct ObjectContainer<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let output: JSONOutput
    /// How many brackets are open within the object, its own included.
    let depth: Int
    var codingPath: [any CodingKey] { [] }

    func encodeNil(forKey key: Key) {}

    func encode(_ text: String, forKey key: Key) {
        output.name(key.stringValue, at: depth)
        output.string(text)
    }

    func encode(_ fraction: Double, forKey key: Key) {
        guard fraction.isFinite else { return }
        output.name(key.stringValue, at: depth)
        ValueContainer(output: output).encode(fraction)
    }

    func encode(_ value: some Encodable, forKey key: Key) throws {
        output.name(key.stringValue, at: depth)
        try output.write(value)
    }

    func nestedContainer<Inner: CodingKey>(keyedBy type: Inner.Type, forKey key: Key) -> KeyedEncodingContainer<Inner> {
        output.name(key.stringValue, at: depth)
        return KeyedEncodingContainer(
            ObjectContainer<Inner>(
                output: output, depth: output.open(UInt8(ascii: "{"), closing: UInt8(ascii: "}"))))
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        output.name(key.stringValue, at: depth)
        return ArrayContainer(
            output: output, depth: output.open(UInt8(ascii: "["), closing: UInt8(ascii: "]")))
    }

    func superEncoder() -> any Encoder { hasSuperclass() }
    func superEncoder(forKey key: Key) -> any Encoder { hasSuperclass() }
}

private struct ArrayContainer: UnkeyedEncodingContainer {
    let output: JSONOutput
    /// How many brackets are open within the array, its own included.
    let depth: Int
    var codingPath: [any CodingKey] { [] }
    private(set) var count = 0

    init(output: JSONOutput, depth: Int) {
        self.output = output
        self.depth = depth
    }

    mutating func encodeNil() {
        next()
        output.literal("null")
    }

    mutating func encode(_ value: some Encodable) throws {
        next()
        try output.write(value)
    }

    mutating func nestedContainer<Inner: CodingKey>(keyedBy type: Inner.Type) -> KeyedEncodingContainer<Inner> {
        next()
        return KeyedEncodingContainer(
            ObjectContainer<Inner>(
                output: output, depth: output.open(UInt8(ascii: "{"), closing: UInt8(ascii: "}"))))
    }

    mutating func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
        next()
        return ArrayContainer(
            output: output, depth: output.open(UInt8(ascii: "["), closing: UInt8(ascii: "]")))
    }

    func superEncoder() -> any Encoder { hasSuperclass() }

    /// An element follows.
    private mutating func next() {
        output.separate(at: depth)
        count += 1
    }
}

private func hasSuperclass() -> Never { preconditionFailure("values are structures and enumerations") }
