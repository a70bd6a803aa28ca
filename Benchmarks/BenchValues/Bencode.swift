/// A value of Bencode, the encoding of rtpengine's control protocol: texts, integers, lists and dictionaries.
package enum Bencode: Equatable, Sendable {
    /// A string of bytes that is taken for UTF-8: `3:sdp`.
    case text(String)
    /// A number: `i42e`.
    case integer(Int)
    /// Values in order: `l…e`.
    case list([Bencode])
    /// Values by name: `d…e`.
    case dictionary([String: Bencode])

    /// What is wrong with bytes that are no Bencode.
    package enum Fault: Error, Equatable {
        /// Something that no value starts with, or that does not belong where it is, at this offset.
        case malformed(at: Int)
        /// Values are inside of each other more than 16 times.
        case tooDeep
    }

    private static let depth = 16

    // MARK: Writing

    /// The bytes; names of dictionaries are in order.
    package var encoded: [UInt8] {
        switch self {
        case .text(let text): Self.string(text)
        case .integer(let number): Array("i\(number)e".utf8)
        case .list(let values): Array("l".utf8) + values.flatMap(\.encoded) + Array("e".utf8)
        case .dictionary(let values):
            Array("d".utf8)
                + values.sorted { Array($0.key.utf8).lexicographicallyPrecedes(Array($1.key.utf8)) }.flatMap {
                    Self.string($0.key) + $0.value.encoded
                } + Array("e".utf8)
        }
    }

    private static func string(_ text: String) -> [UInt8] { Array("\(text.utf8.count):".utf8) + Array(text.utf8) }

    // MARK: Reading

    /// Reads one value, which has to be everything that there is.
    ///
    /// - Throws: `Fault` if the bytes are no such value.
    package init(parsing bytes: [UInt8]) throws(Fault) {
        var reader = Reader(bytes: bytes)
        self = try reader.value(depth: Self.depth)
        guard reader.offset == bytes.count else { throw .malformed(at: reader.offset) }
    }

    /// The text; `nil`: it is another value.
    package var text: String? {
        if case .text(let text) = self { text } else { nil }
    }

    /// The values by name; none if it is another value.
    package var values: [String: Bencode] {
        if case .dictionary(let values) = self { values } else { [:] }
    }

    private struct Reader {
        let bytes: [UInt8]
        var offset = 0

        mutating func value(depth: Int) throws(Fault) -> Bencode {
            guard depth > 0 else { throw .tooDeep }
            switch try peek() {
            case UInt8(ascii: "i"):
                offset += 1
                return .integer(try number(until: UInt8(ascii: "e")))
            case UInt8(ascii: "l"):
                offset += 1
                var values: [Bencode] = []
                while try !takeEnd() { values.append(try value(depth: depth - 1)) }
                return .list(values)
            case UInt8(ascii: "d"):
                offset += 1
                var values: [String: Bencode] = [:]
                while try !takeEnd() {
                    let name = try string()
                    values[name] = try value(depth: depth - 1)
                }
                return .dictionary(values)
            default: return .text(try string())
            }
        }

        private func peek() throws(Fault) -> UInt8 {
            guard offset < bytes.count else { throw .malformed(at: offset) }
            return bytes[offset]
        }

        /// Whether a list or a dictionary ends here.
        private mutating func takeEnd() throws(Fault) -> Bool {
            guard try peek() == UInt8(ascii: "e") else { return false }
            offset += 1
            return true
        }

        private mutating func string() throws(Fault) -> String {
            let start = offset
            let count = try number(until: UInt8(ascii: ":"))
            guard count >= 0, count <= bytes.count - offset else { throw .malformed(at: start) }
            defer { offset += count }
            return String(decoding: bytes[offset..<(offset + count)], as: UTF8.self)
        }

        private mutating func number(until end: UInt8) throws(Fault) -> Int {
            let start = offset
            while try peek() != end { offset += 1 }
            let digits = String(decoding: bytes[start..<offset], as: UTF8.self)
            offset += 1
            guard let number = Int(digits), "\(number)" == digits else { throw .malformed(at: start) }
            return number
        }
    }
}
