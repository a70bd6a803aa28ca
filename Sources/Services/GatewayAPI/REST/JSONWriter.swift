import Foundation

/// Writes JSON text (RFC 8259) straight into bytes. The gateway writes few shapes, and writes one of them for every
/// event.
package struct JSONWriter {
    /// What has been written so far, in UTF-8.
    package private(set) var bytes: [UInt8] = []
    private var isFirstMember = true

    /// Makes a writer that has written nothing.
    package init() {}

    /// Writes an object with the members that the closure writes.
    package mutating func object(_ members: (inout JSONWriter) -> Void) {
        bytes.append(UInt8(ascii: "{"))
        isFirstMember = true
        members(&self)
        bytes.append(UInt8(ascii: "}"))
        isFirstMember = false
    }

    // MARK: Members; those that are `nil` are left out

    /// Writes a member whose value writes itself.
    package mutating func member(_ name: String, _ value: some JSONWritable) {
        self.name(name)
        value.write(to: &self)
    }

    /// Writes a string member; nothing for `nil`.
    package mutating func member(_ name: String, _ text: String?) {
        guard let text else { return }
        self.name(name)
        string(text)
    }

    /// Writes a member that is a whole number; nothing for `nil`.
    package mutating func member(_ name: String, _ number: (some BinaryInteger)?) {
        guard let number else { return }
        self.name(name)
        bytes += "\(number)".utf8
    }

    /// Writes a boolean member; nothing for `nil`.
    package mutating func member(_ name: String, _ truth: Bool?) {
        guard let truth else { return }
        self.name(name)
        bytes += "\(truth)".utf8
    }

    /// Writes a member that is a number with three decimals at most; nothing for `nil`.
    ///
    /// JSON has no form for infinities and NaN (RFC 8259 §6): they are left out, too.
    package mutating func member(_ name: String, fraction: Double?) {
        guard let fraction, fraction.isFinite else { return }
        self.name(name)
        let thousandths = (fraction * 1_000).rounded()
        bytes += "\(thousandths / 1_000)".utf8
    }

    /// Writes a member that is an array of strings; nothing for `nil`.
    package mutating func member(_ name: String, _ texts: [String]?) {
        guard let texts else { return }
        self.name(name)
        array(texts) { $0.string($1) }
    }

    /// Writes a member that is an array of values that write themselves; nothing for `nil`.
    package mutating func member(_ name: String, _ values: [some JSONWritable]?) {
        guard let values else { return }
        self.name(name)
        array(values) { $1.write(to: &$0) }
    }

    // MARK: - Values

    /// Writes a value by `Encodable`. Members are in alphabetical order, so that the same value always makes the same
    /// text.
    mutating func encoded(_ value: some Encodable) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        do {
            bytes += try encoder.encode(value)
        } catch {
            preconditionFailure("texts, whole numbers and truths can be written: \(error)")
        }
    }

    /// Writes a member's name, with a comma in front unless it is the object's first member.
    private mutating func name(_ name: String) {
        if !isFirstMember { bytes.append(UInt8(ascii: ",")) }
        isFirstMember = false
        string(name)
        bytes.append(UInt8(ascii: ":"))
    }

    /// Writes an array; `write` writes one element.
    private mutating func array<Element>(_ elements: [Element], _ write: (inout JSONWriter, Element) -> Void) {
        bytes.append(UInt8(ascii: "["))
        for (index, element) in elements.enumerated() {
            if index > 0 { bytes.append(UInt8(ascii: ",")) }
            write(&self, element)
        }
        bytes.append(UInt8(ascii: "]"))
    }

    /// Writes a string. Quotes, backslashes and control characters are escaped; everything else stays UTF-8 (RFC 8259
    /// §7).
    private mutating func string(_ text: String) {
        bytes.reserveCapacity(bytes.count + text.utf8.count + 2)
        bytes.append(UInt8(ascii: "\""))
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes += [UInt8(ascii: "\\"), byte]
            case UInt8(ascii: "\r"): bytes += [UInt8(ascii: "\\"), UInt8(ascii: "r")]
            case UInt8(ascii: "\n"): bytes += [UInt8(ascii: "\\"), UInt8(ascii: "n")]
            case ..<0x20: bytes += "\\u00\(byte < 0x10 ? "0" : "")\(String(byte, radix: 16))".utf8
            default: bytes.append(byte)
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }
}

/// A value that the gateway writes as JSON. Values that are written for every event have code of their own; others are
/// written by `Encodable`.
package protocol JSONWritable {
    /// Writes the value as one JSON value.
    func write(to writer: inout JSONWriter)
}

extension JSONWritable where Self: Encodable {
    /// Writes the value as `Encodable` has it, with members in alphabetical order.
    package func write(to writer: inout JSONWriter) { writer.encoded(self) }
}
