/// Splits a description into lines, one at a time, and enforces the limits on size.
///
/// Lines end in CRLF; LF alone is tolerated (RFC 8866 §5). Empty lines are tolerated at the very end.
struct DescriptionLines {
    /// A line: its number from 1, its type letter and the range of its value.
    struct Line {
        let number: Int
        let type: UInt8
        fileprivate let value: Range<Int>
    }

    /// The next line to be taken; `nil` at the end.
    private(set) var current: Line?
    private let bytes: [UInt8]
    private var offset = 0
    private var number = 0

    init(_ text: String) throws(SDPError) {
        guard text.utf8.count <= DescriptionLimits.bytes else {
            throw .limitExceeded(.bytes(DescriptionLimits.bytes))
        }
        bytes = Array(text.utf8)
        try advance()
    }

    /// The number of the next line, for errors about a missing line.
    var lineNumber: Int { current?.number ?? number + 1 }

    func text(of line: Line) -> String { text(line.value) }

    func bytes(of line: Line) -> ArraySlice<UInt8> { bytes[line.value] }

    /// The value up to the first `separator`, and the value after it; the tail is `nil` if there is no separator.
    func split(_ line: Line, at separator: UInt8) -> (head: String, tail: String?) {
        guard let index = bytes[line.value].firstIndex(of: separator) else { return (text(line.value), nil) }
        return (text(line.value.lowerBound..<index), text(index + 1..<line.value.upperBound))
    }

    /// Takes the current line if it has that type; `nil` if it has another.
    mutating func take(_ type: Unicode.Scalar) throws(SDPError) -> Line? {
        guard let line = current, line.type == UInt8(ascii: type) else { return nil }
        try advance()
        return line
    }

    private func text(_ range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }

    /// Finds the end of a line: the line feed or the end of the text. Also counts the NULs and carriage returns before
    /// it.
    private static func scan(_ bytes: Span<UInt8>, from start: Int) -> (end: Int, controls: Int) {
        var (end, controls) = (start, 0)
        while end < bytes.count {
            let byte = bytes[end]
            // All characters that are searched are below the space, and hardly any other character is.
            if byte < UInt8(ascii: " ") {
                if byte == UInt8(ascii: "\n") { break }
                if byte == UInt8(ascii: "\r") || byte == 0 { controls += 1 }
            }
            end += 1
        }
        return (end, controls)
    }

    private mutating func advance() throws(SDPError) {
        guard offset < bytes.count else {
            current = nil
            return
        }
        number += 1
        let start = offset
        var (end, controls) = Self.scan(bytes.span, from: start)
        offset = min(end + 1, bytes.count)
        if end > start, bytes[end - 1] == UInt8(ascii: "\r") { (end, controls) = (end - 1, controls - 1) }
        guard end > start else {
            guard bytes[offset...].allSatisfy({ $0 == UInt8(ascii: "\r") || $0 == UInt8(ascii: "\n") }) else {
                throw .malformedLine(number, .empty)
            }
            (offset, current) = (bytes.count, nil)
            return
        }
        guard end - start <= DescriptionLimits.lineBytes else {
            throw .limitExceeded(.lineBytes(DescriptionLimits.lineBytes, line: number))
        }
        guard end - start >= 2, bytes[start + 1] == UInt8(ascii: "=") else {
            throw .malformedLine(number, .noType)
        }
        guard controls == 0 else {
            throw .malformedLine(number, .controlCharacter)
        }
        current = Line(number: number, type: bytes[start], value: start + 2..<end)
    }
}

/// The limits on descriptions that the gateway reads. An offer of a browser has about 6 KB and 160 attributes.
package enum DescriptionLimits {
    /// The most bytes of a description.
    package static let bytes = 65_536
    /// The most bytes of a line without its line end.
    package static let lineBytes = 4_096
    /// The most m-lines of a description.
    package static let mediaCount = 64
    /// The most `a=` and `b=` lines of a description.
    package static let attributeCount = 2_000
}
