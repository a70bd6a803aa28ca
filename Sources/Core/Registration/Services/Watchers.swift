package import CallControl
package import Primitives

/// The users who watch the presence of one user.
///
///     add ──▶ watching ── add: longer ──▶ watching ── time is over, remove ──▶ forgotten
package struct Watchers: Equatable, Sendable {
    private var ends: [UserAddress: MonotonicTime] = [:]
    private let limit: Int

    /// Makes an empty list.
    ///
    /// - Parameter limit: the most users in it, 1 or more.
    package init(limit: Int) { self.limit = limit }

    /// Whether nobody watches.
    package var isEmpty: Bool { ends.isEmpty }

    /// The users who watch, in the order of their addresses.
    package var users: [UserAddress] { ends.keys.sorted { $0.text < $1.text } }

    /// A user watches until this time, or for longer if that was asked for before.
    ///
    /// - Returns: `false` if there are as many as there may be; then nothing changes.
    package mutating func add(_ user: UserAddress, until end: MonotonicTime) -> Bool {
        guard ends[user] != nil || ends.count < limit else { return false }
        ends[user] = max(ends[user] ?? end, end)
        return true
    }

    /// A user does not watch any more.
    package mutating func remove(_ user: UserAddress) { ends[user] = nil }

    /// Forgets the users whose time is over.
    package mutating func timeout(at now: MonotonicTime) {
        guard let nextDeadline, nextDeadline <= now else { return }
        ends = ends.filter { $0.value > now }
    }

    /// When the time of the next user is over; `nil`: nobody watches.
    package var nextDeadline: MonotonicTime? { ends.values.min() }
}
