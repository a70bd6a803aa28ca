/// A rate limit for one source: the generic cell rate algorithm (ITU-T I.371 Annex A).
///
/// Each action adds one `interval` of debt, which decreases with time. A source that owes `burst` intervals has to
/// wait.
package struct RateAllowance: Equatable, Sendable {
    /// The rate that is allowed.
    package struct Rate: Equatable, Sendable {
        /// The number of actions that are allowed at once, at least 1.
        package var burst: Int
        /// The time after which one more action is allowed.
        package var interval: Duration

        /// Makes a rate of its parts; each parameter is the property of that name.
        package init(burst: Int, interval: Duration) {
            self.burst = burst
            self.interval = interval
        }
    }

    /// The time at which the debt is gone (the theoretical arrival time of the algorithm); `nil` if there is none.
    package private(set) var clearAt: MonotonicTime?

    /// Makes an allowance without debt.
    package init() {}

    /// Counts one action if it is allowed now.
    ///
    /// - Returns: `nil` if the action is allowed; otherwise the time to wait, and the action is not counted.
    package mutating func charge(_ rate: Rate, at now: MonotonicTime) -> Duration? {
        let clear = max(clearAt ?? now, now)
        let wait = (clear - now) - rate.interval * (rate.burst - 1)
        guard wait <= .zero else { return wait }
        clearAt = clear + rate.interval
        return nil
    }

    /// Takes back one action that was counted.
    package mutating func refund(_ rate: Rate) { clearAt = clearAt.map { $0 - rate.interval } }

    /// Forgets a debt that is gone.
    package mutating func timeout(at now: MonotonicTime) {
        if let clear = clearAt, clear <= now { clearAt = nil }
    }
}
