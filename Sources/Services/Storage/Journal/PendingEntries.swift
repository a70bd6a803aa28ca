import CallRuntime

/// The entries that are not durable yet, in order. Those that were added together become durable together.
///
/// If a disk has no room for all of them, fewer are tried at a time: half as many with every attempt that fails, twice
/// as many with every one that succeeds. So what fits is written, and what was added together is never split.
struct PendingEntries: Equatable, Sendable {
    /// The groups of entries that were added together, none of which is empty.
    private var groups: [[JournalEntry]] = []
    /// The most groups that are taken at a time, 1 or more.
    private var limit = Int.max
    /// What is added now belongs to the last group.
    private var isJoining = false

    /// Whether nothing waits.
    var isEmpty: Bool { groups.isEmpty }

    /// How many entries wait.
    var count: Int { groups.reduce(0) { $0 + $1.count } }

    /// What is added from now on, until ``stopJoining()``, becomes durable together.
    mutating func startJoining() { isJoining = true }

    /// Ends what ``startJoining()`` has started.
    mutating func stopJoining() { isJoining = false }

    /// Whether what is added has to wait, since it becomes durable with what is still to come.
    var isHeld: Bool { isJoining }

    /// Adds entries, which become durable together.
    mutating func append(_ entries: [JournalEntry]) {
        guard !entries.isEmpty else { return }
        if isJoining, !groups.isEmpty {
            groups[groups.count - 1] += entries
        } else {
            groups.append(entries)
        }
    }

    /// Takes out the groups of the next transaction.
    mutating func take() -> [[JournalEntry]] {
        let taken = Array(groups.prefix(limit))
        groups.removeFirst(taken.count)
        return taken
    }

    /// Groups that were taken out have been written.
    mutating func wasWritten() { limit = limit > Int.max / 2 ? .max : limit * 2 }

    /// Puts groups back that could not be written.
    ///
    /// - Parameter lacksRoom: whether fewer of them may fit.
    /// - Returns: whether fewer of them are to be tried at once.
    mutating func putBack(_ taken: [[JournalEntry]], lacksRoom: Bool) -> Bool {
        groups = taken + groups
        guard lacksRoom, taken.count > 1 else { return false }
        limit = taken.count / 2
        return true
    }
}
