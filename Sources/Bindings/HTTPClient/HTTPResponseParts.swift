/// What has come of one response so far.
struct HTTPResponseParts {
    /// The header section as it came, and the content.
    struct Taken: Equatable {
        var head: [UInt8] = []
        var content: [UInt8] = []
        /// One of them is longer than it may be, and not whole.
        var isTooLarge = false
        /// The content was longer than it may be, and is given up; the response counts without it.
        var isCut = false
    }

    /// The most bytes of the head, and of the content.
    private let limit: Int
    private let cutsContent: Bool
    private var parts = Taken()

    init(limit: Int, cutsContent: Bool = false) {
        self.limit = limit
        self.cutsContent = cutsContent
    }

    /// Takes a line of the head.
    ///
    /// - Returns: whether the response goes on. If not, it is given up.
    mutating func append(line: some Collection<UInt8>) -> Bool {
        // Informational responses come before the one that counts (RFC 9110 §15.2).
        if line.starts(with: "HTTP/".utf8) { parts.head.removeAll(keepingCapacity: true) }
        guard hasRoom(for: line.count, behind: parts.head.count) else { return false }
        parts.head.append(contentsOf: line)
        return true
    }

    /// Takes a part of the content.
    ///
    /// - Returns: whether the response goes on. If not, it is given up.
    mutating func append(content: some Collection<UInt8>) -> Bool {
        if cutsContent, parts.content.count + content.count > limit { (parts.content, parts.isCut) = ([], true) }
        guard !parts.isCut, hasRoom(for: content.count, behind: parts.content.count) else { return false }
        parts.content.append(contentsOf: content)
        return true
    }

    /// Gives what has come away, so that nothing of it is kept until the next response.
    mutating func take() -> Taken {
        defer { parts = Taken() }
        return parts
    }

    private mutating func hasRoom(for count: Int, behind length: Int) -> Bool {
        if length + count > limit { parts.isTooLarge = true }
        return !parts.isTooLarge
    }
}
