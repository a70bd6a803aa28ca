import Foundation

/// Writes JSON text (RFC 8259) straight into bytes: the gateway writes few shapes, and one of them for every event.
package struct JSONWriter {
    package private(set) var bytes: [UInt8] = []
    private var isFirstMember = true

    package init() {}

    package mutating func object(_ members: (inout JSONWriter) -> Void) {
        bytes.append(UInt8(ascii: "{"))
        isFirstMember = true
        members(&self)
        bytes.append(UInt8(ascii: "}"))
        isFirstMember = false
    }

    // MARK: Members; those without a value are left out

    package mutating func member(_ name: String, _ value: some JSONWritable) {
        self.name(name)
        value.write(to: &self)
    }

    package mutating func member(_ name: String, _ text: String?) {
        guard let text else { return }
        self.name(name)
        string(text)
    }

    package mutating func member(_ name: String, _ number: (some BinaryInteger)?) {
        guard let number else { return }
        self.name(name)
        bytes += "\(number)".utf8
    }

    package mutating func member(_ name: String, _ truth: Bool?) {
        guard let truth else { return }
        self.name(name)
        bytes += "\(truth)".utf8
    }

    /// To three decimals; JSON has no number for what is not finite, and it is left out.
    package mutating func member(_ name: String, fraction: Double?) {
        guard let fraction, fraction.isFinite else { return }
        self.name(name)
        let thousandths = (fraction * 1_000).rounded()
        bytes += "\(thousandths / 1_000)".utf8
    }

    package mutating func member(_ name: String, _ texts: [String]?) {
        guard let texts else { return }
        self.name(name)
        array(texts) { $0.string($1) }
    }

    package mutating func member(_ name: String, _ values: [some JSONWritable]?) {
        guard let values else { return }
        self.name(name)
        array(values) { $1.write(to: &$0) }
    }

    // MARK: - Values

    /// Members in the order of their names, so that the same value always makes the same text.
    mutating func encoded(_ value: some Encodable) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        do {
            bytes += try encoder.encode(value)
        } catch {
            preconditionFailure("texts, whole numbers and truths can be written: \(error)")
        }
    }

    private mutating func name(_ name: String) {
        if !isFirstMember { bytes.append(UInt8(ascii: ",")) }
        isFirstMember = false
        string(name)
        bytes.append(UInt8(ascii: ":"))
    }

    private mutating func array<Element>(_ elements: [Element], _ write: (inout JSONWriter, Element) -> Void) {
        bytes.append(UInt8(ascii: "["))
        for (index, element) in elements.enumerated() {
            if index > 0 { bytes.append(UInt8(ascii: ",")) }
            write(&self, element)
        }
        bytes.append(UInt8(ascii: "]"))
    }

    /// Quotes, backslashes and control characters are escaped, everything else stays UTF-8 (§7).
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

/// A value the gateway writes: by hand where it is written for every event, otherwise as `Encodable` has it.
package protocol JSONWritable {
    func write(to writer: inout JSONWriter)
}

extension JSONWritable where Self: Encodable {
    package func write(to writer: inout JSONWriter) { writer.encoded(self) }
}
