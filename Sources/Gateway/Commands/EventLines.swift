/// The lines of a stream of events as they come in pieces, and the cursor of the last one (docs/call-events.md).
package struct EventLines: Equatable, Sendable {
    /// The `id` of the last complete event; before the first one, the place where the reader wants to start.
    package private(set) var cursor: String?
    private var rest: [UInt8] = []

    /// Makes lines that start behind a cursor.
    package init(since cursor: String?) { self.cursor = cursor }

    /// Takes in a piece, and returns the complete lines, without the empty ones that say that the gateway is there.
    package mutating func complete(_ piece: [UInt8]) -> [UInt8] {
        rest += piece
        guard let last = rest.lastIndex(of: newline) else { return [] }
        let lines = rest[...last].split(separator: newline)
        rest.removeSubrange(...last)
        // A line that is no event moves nothing.
        if let line = lines.last, let event = try? JSONValue(parsing: Array(line)), let id = event["id"].text {
            cursor = id
        }
        return lines.flatMap { $0 + [newline] }
    }

    /// The connection has ended: what was not complete comes again.
    package mutating func breakOff() { rest = [] }
}

private let newline = UInt8(ascii: "\n")
