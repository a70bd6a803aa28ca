/// How often somebody may do something: a generic cell rate algorithm (ITU-T I.371 Annex A) for one source.
///
/// Each time costs one `interval` of debt, which goes by with time; whoever owes `burst` of them waits.
package struct RateAllowance: Equatable, Sendable {
    package struct Rate: Equatable, Sendable {
        /// Times in a row, at least 1.
        package var burst: Int
        /// Time after which it is allowed once more.
        package var interval: Duration

        package init(burst: Int, interval: Duration) {
            self.burst = burst
            self.interval = interval
        }
    }

    /// When nothing will be owed any more (the theoretical arrival time of the algorithm); `nil`: nothing is owed.
    package private(set) var clearAt: MonotonicTime?

    package init() {}

    /// Charges for one time, if it is allowed now.
    ///
    /// - Returns: how long to wait otherwise.
    package mutating func charge(_ rate: Rate, at now: MonotonicTime) -> Duration? {
        let clear = max(clearAt ?? now, now)
        let wait = (clear - now) - rate.interval * (rate.burst - 1)
        guard wait <= .zero else { return wait }
        clearAt = clear + rate.interval
        return nil
    }

    /// A debt that has gone by is forgotten.
    package mutating func timeout(at now: MonotonicTime) {
        if let clear = clearAt, clear <= now { clearAt = nil }
    }
}
