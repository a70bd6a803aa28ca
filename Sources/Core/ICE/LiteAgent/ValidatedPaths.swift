import Primitives

/// The paths over which an authenticated check came, with the time of their last sign of life. Their number is limited,
/// and rarely above three.
struct ValidatedPaths: Sendable {
    private struct Entry: Sendable {
        let path: Path
        /// The peer's fragment in the USERNAME of its checks.
        var sender: String
        /// The time of the last check, or of the last packet that the peer's keys protect.
        var lastSign: MonotonicTime
        /// The time of the last check; `nil` if the peer was followed to the path without one.
        var lastCheck: MonotonicTime?
    }

    enum Change {
        case refreshed
        case added
        /// The path was added, and the path that had been silent longest was removed.
        case replaced(Path)
    }

    private let capacity: Int
    private var entries: [Entry] = []

    init(capacity: Int) {
        precondition(capacity >= 2, "a selected path and a new one must both find room")
        self.capacity = capacity
    }

    /// Records a check over `path` by `sender`. `spared` is never the path that is removed.
    mutating func record(_ path: Path, by sender: String, at now: MonotonicTime, sparing spared: Path?) -> Change {
        if let index = entries.firstIndex(where: { $0.path == path }) {
            entries[index].lastSign = now
            entries[index].lastCheck = now
            entries[index].sender = sender
            return .refreshed
        }
        return add(Entry(path: path, sender: sender, lastSign: now, lastCheck: now), sparing: spared)
    }

    /// Records that the peer, with the fragment `sender`, has been followed to `path`.
    mutating func follow(to path: Path, by sender: String, at now: MonotonicTime, sparing spared: Path?) -> Change {
        add(Entry(path: path, sender: sender, lastSign: now, lastCheck: nil), sparing: spared)
    }

    private mutating func add(_ entry: Entry, sparing spared: Path?) -> Change {
        defer { entries.append(entry) }
        guard entries.count == capacity else { return .added }
        let candidates = entries.indices.filter { entries[$0].path != spared }
        guard let victim = candidates.min(by: { entries[$0].lastSign < entries[$1].lastSign }) else {
            preconditionFailure("a full list has a path other than the spared one")
        }
        return .replaced(entries.remove(at: victim).path)
    }

    /// Records a packet over `path` that the peer's keys protect; `false` if the path is not in the list.
    mutating func noteSign(over path: Path, at now: MonotonicTime) -> Bool {
        guard let index = entries.firstIndex(where: { $0.path == path }) else { return false }
        entries[index].lastSign = now
        return true
    }

    /// Removes and returns the paths whose last sign of life is `timeout` or longer ago.
    mutating func forget(silentFor timeout: Duration, at now: MonotonicTime) -> [Path] {
        let silent = entries.filter { $0.lastSign + timeout <= now }.map(\.path)
        entries.removeAll { $0.lastSign + timeout <= now }
        return silent
    }

    /// Removes and returns the paths that were checked by another agent than `sender`.
    mutating func forget(notBy sender: String) -> [Path] {
        let others = entries.filter { $0.sender != sender }.map(\.path)
        entries.removeAll { $0.sender != sender }
        return others
    }

    /// Removes a path; `false` if it is not in the list.
    mutating func forget(_ path: Path) -> Bool {
        guard let index = entries.firstIndex(where: { $0.path == path }) else { return false }
        entries.remove(at: index)
        return true
    }

    func contains(_ path: Path) -> Bool { entries.contains { $0.path == path } }

    func lastSign(over path: Path) -> MonotonicTime? { entries.first { $0.path == path }?.lastSign }

    var all: [Path] { entries.map(\.path) }
    var newestSign: MonotonicTime? { entries.lazy.map(\.lastSign).max() }
    var newestCheck: MonotonicTime? { entries.lazy.compactMap(\.lastCheck).max() }
    var oldestSign: MonotonicTime? { entries.lazy.map(\.lastSign).min() }
    /// The path with the latest sign of life; `nil` if there is no path.
    var freshest: Path? { entries.max { $0.lastSign < $1.lastSign }?.path }
}
