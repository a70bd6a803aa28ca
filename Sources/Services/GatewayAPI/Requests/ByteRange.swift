/// Which bytes of a file a request asks for (RFC 9110 §14.2).
package enum ByteRange: Equatable, Sendable {
    /// All of them.
    case whole
    /// These, at least one.
    case part(Range<Int>)
    /// Some, of which the file has none.
    case unsatisfiable

    /// Reads the headers of a request. A header that cannot be understood, that has another unit than bytes, or several
    /// ranges, is ignored.
    ///
    /// - Parameters:
    ///   - header: `Range`; `nil`: none.
    ///   - condition: `If-Range`; `nil`: none. A range holds only for the entity tag of the file (RFC 9110 §13.1.5); a
    ///     date fits no file.
    ///   - entityTag: the strong entity tag of the file, with its quotation marks.
    ///   - size: how many bytes the file has.
    package init(_ header: String?, condition: String?, entityTag: String, size: Int) {
        self = .whole
        guard let header, condition.map({ $0 == entityTag }) ?? true else { return }
        let parts = header.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, parts[0].lowercased() == "bytes" else { return }
        let places = parts[1].filter { $0 != " " && $0 != "\t" }.split(
            separator: "-", omittingEmptySubsequences: false)
        guard places.count == 2, let first = Self.number(places[0]), let last = Self.number(places[1]) else { return }
        switch (first, last) {
        case (nil, nil): return
        case (nil, let count?):
            self = count > 0 && size > 0 ? .part(max(0, size - count)..<size) : .unsatisfiable
        case (let first?, let last):
            if let last, last < first { return }
            self = first < size ? .part(first..<min(size, (last ?? size - 1) &+ 1)) : .unsatisfiable
        }
    }

    /// Reads digits, too many of which are a very large number; an inner `nil`: there are none; an outer one: something
    /// else is there.
    private static func number(_ text: Substring) -> Int?? {
        guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return text.isEmpty ? .some(nil) : .some(Int(text).map { min($0, .max - 1) } ?? .max - 1)
    }
}
