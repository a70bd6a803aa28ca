import CallControl

/// Which events a subscriber wants, of those that it may see.
package struct EventSelection: Hashable, Sendable {
    /// Why a selection cannot be read.
    package enum Fault: Error, Equatable, Sendable {
        /// This is no type, and no first word with `.*`.
        case unusableType(String)
        /// This is no identifier of a call.
        case unusableCall(String)
        /// The list has more items than this.
        case tooMany(Int)
    }

    /// The most types, and the most calls, of a selection.
    package static let limit = 64

    /// Who reads.
    package var reader: EventReader
    /// The types, such as `call.ended`, or `leg.*` for all that start so; empty: all.
    package private(set) var types: [String] = []
    /// The calls, in hexadecimal digits; empty: all.
    package private(set) var calls: Set<String> = []

    /// Selects everything that the reader may see.
    package init(reader: EventReader) { self.reader = reader }

    /// Reads a selection.
    ///
    /// - Parameters:
    ///   - types: types with commas between; `nil` or empty: all.
    ///   - calls: identifiers of calls with commas between; `nil` or empty: all.
    /// - Throws: what is wrong.
    package init(reader: EventReader, types: String?, calls: String?) throws(Fault) {
        try self.init(reader: reader, types: (types ?? "").split(separator: ",").map(String.init))
        let names = (calls ?? "").split(separator: ",")
        guard names.count <= Self.limit else { throw .tooMany(Self.limit) }
        for name in names {
            // Leading zeros and capital letters make no difference.
            guard let number = UInt64(name, radix: 16) else { throw .unusableCall(String(name)) }
            self.calls.insert(CallID(number).description)
        }
    }

    /// Takes a list of types; empty: all.
    ///
    /// - Throws: what is wrong.
    package init(reader: EventReader, types: [String]) throws(Fault) {
        self.reader = reader
        guard types.count <= Self.limit else { throw .tooMany(Self.limit) }
        if let type = types.first(where: { !Self.isType($0) }) { throw .unusableType(type) }
        self.types = types
    }

    /// Whether the subscriber gets the event.
    package func includes(_ event: PublicEvent) -> Bool {
        (calls.isEmpty || calls.contains(event.call))
            && (types.isEmpty || types.contains { Self.fits(event.type, $0) }) && reader.sees(event.scope)
    }

    private static func fits(_ type: String, _ wanted: String) -> Bool {
        wanted.hasSuffix("*") ? type.hasPrefix(wanted.dropLast()) : type == wanted
    }

    /// Two words of small letters and `_` with a full stop between, or a word and `.*`. Types that are not known yet
    /// may be asked for.
    private static func isType(_ text: String) -> Bool {
        let words = text.split(separator: ".", omittingEmptySubsequences: false)
        let isWord = { (word: Substring) in
            (1...32).contains(word.utf8.count) && word.utf8.allSatisfy { (0x61...0x7A).contains($0) || $0 == 0x5F }
        }
        return words.count == 2 && isWord(words[0]) && (words[1] == "*" || isWord(words[1]))
    }
}

/// The name of a place in the log: `<log>-<number>`. It is the `id` of the event at that place.
package struct EventCursor: Equatable, Sendable, CustomStringConvertible {
    /// The name of the log; each database has one of its own.
    package var log: String
    /// The place: everything up to this number is known.
    package var number: Int64

    /// Makes a cursor of its parts.
    package init(log: String, number: Int64) {
        self.log = log
        self.number = number
    }

    /// Reads a cursor; `nil` if the text is none.
    package init?(_ text: String) {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 2, (1...64).contains(parts[0].utf8.count), parts[1].utf8.count <= 19,
            parts[0].utf8.allSatisfy({ (0x30...0x39).contains($0) || (0x41...0x5A).contains($0 & 0xDF) || $0 == 0x5F }),
            let number = Int64(parts[1]), number >= 0
        else { return nil }
        self.init(log: String(parts[0]), number: number)
    }

    /// The text that ``init(_:)`` reads.
    package var description: String { "\(log)-\(number)" }
}

/// Where a subscriber starts to read.
package enum EventPlace: Equatable, Sendable {
    /// Behind the last event.
    case now
    /// Before the first event that is kept.
    case oldest
    /// Behind an event that is known.
    case after(EventCursor)

    /// Reads a place: `oldest`, or a cursor; `nil` if the text is neither.
    package init?(_ text: String) {
        if text == "oldest" {
            self = .oldest
        } else if let cursor = EventCursor(text) {
            self = .after(cursor)
        } else {
            return nil
        }
    }
}
