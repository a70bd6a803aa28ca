import Primitives

/// The paths over which an authenticated check came, with the time of the last one. Bounded; rarely more than three.
struct ValidatedPaths: Sendable {
    private struct Entry: Sendable {
        let path: Path
        /// The peer's fragment in the USERNAME of its checks.
        var sender: String
        var lastCheck: MonotonicTime
    }

    enum Change {
        case refreshed
        case added
        /// Added, and the path that had been silent longest had to go.
        case replaced(Path)
    }

    private let capacity: Int
    private var entries: [Entry] = []

    init(capacity: Int) {
        precondition(capacity >= 2, "a selected path and a new one must both find room")
        self.capacity = capacity
    }

    /// Notes a check over `path` by `sender`; `spared` is never the one to go.
    mutating func record(_ path: Path, by sender: String, at now: MonotonicTime, sparing spared: Path?) -> Change {
        if let index = entries.firstIndex(where: { $0.path == path }) {
            entries[index].lastCheck = now
            entries[index].sender = sender
            return .refreshed
        }
        defer { entries.append(Entry(path: path, sender: sender, lastCheck: now)) }
        guard entries.count == capacity else { return .added }
        let candidates = entries.indices.filter { entries[$0].path != spared }
        guard let victim = candidates.min(by: { entries[$0].lastCheck < entries[$1].lastCheck }) else {
            preconditionFailure("a full list has a path other than the spared one")
        }
        return .replaced(entries.remove(at: victim).path)
    }

    /// Removes the paths whose last check is `timeout` or longer ago, and returns them.
    mutating func forget(silentFor timeout: Duration, at now: MonotonicTime) -> [Path] {
        let silent = entries.filter { $0.lastCheck + timeout <= now }.map(\.path)
        entries.removeAll { $0.lastCheck + timeout <= now }
        return silent
    }

    /// Removes the paths that were checked by somebody else than `sender`, and returns them.
    mutating func forget(notBy sender: String) -> [Path] {
        let others = entries.filter { $0.sender != sender }.map(\.path)
        entries.removeAll { $0.sender != sender }
        return others
    }

    /// Removes one path; `false` if it is none of these.
    mutating func forget(_ path: Path) -> Bool {
        guard let index = entries.firstIndex(where: { $0.path == path }) else { return false }
        entries.remove(at: index)
        return true
    }

    func contains(_ path: Path) -> Bool { entries.contains { $0.path == path } }

    func lastCheck(over path: Path) -> MonotonicTime? { entries.first { $0.path == path }?.lastCheck }

    var all: [Path] { entries.map(\.path) }
    var newestCheck: MonotonicTime? { entries.lazy.map(\.lastCheck).max() }
    var oldestCheck: MonotonicTime? { entries.lazy.map(\.lastCheck).min() }
    /// The path checked last.
    var freshest: Path? { entries.max { $0.lastCheck < $1.lastCheck }?.path }
}
