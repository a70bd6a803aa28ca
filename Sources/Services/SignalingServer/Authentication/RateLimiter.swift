import Primitives

/// A rate limiter for many keys, by the generic cell rate algorithm. It keeps for each key the time at which the key
/// owes nothing any more (the "theoretical arrival time" of the algorithm).
struct RateLimiter<Key: Hashable & Sendable>: Sendable {
    private let rate: LoginThrottle.Rate
    private let capacity: Int
    private var clearAt: [Key: MonotonicTime] = [:]

    init(_ rate: LoginThrottle.Rate, capacity: Int) {
        precondition(rate.burst >= 1 && capacity >= 2, "a throttle allows at least one failure and remembers two keys")
        self.rate = rate
        self.capacity = capacity
    }

    /// How long the key waits for its next attempt; zero or less when it is allowed now.
    ///
    /// - Parameter expected: how many further charges are taken into account.
    func wait(_ key: Key, at now: MonotonicTime, adding expected: Int = 0) -> Duration {
        let owed = clearAt[key].map { max(.zero, $0 - now) } ?? .zero
        return owed + rate.interval * (expected - rate.burst + 1)
    }

    mutating func charge(_ key: Key, at now: MonotonicTime) {
        if clearAt[key] == nil && clearAt.count >= capacity { makeRoom(at: now) }
        clearAt[key] = max(clearAt[key] ?? now, now) + rate.interval
    }

    /// Forgets the keys that owe nothing; if that is not enough, the half that owes least.
    private mutating func makeRoom(at now: MonotonicTime) {
        clearAt = clearAt.filter { $0.value > now }
        guard clearAt.count >= capacity else { return }
        let keep = clearAt.sorted { $0.value > $1.value }.prefix(capacity / 2)
        clearAt = Dictionary(uniqueKeysWithValues: keep.map { ($0.key, $0.value) })
    }
}
