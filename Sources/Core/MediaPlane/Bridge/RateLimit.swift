import Primitives

/// A rate limit: `burst` at once, and after that one per `interval` (the generic cell rate algorithm). Its state is a
/// single time.
struct RateLimit: Equatable, Sendable {
    struct Configuration: Equatable, Sendable {
        /// The number admitted at once, at least 1.
        var burst: Int
        var interval: Duration
    }

    /// The time at which everything admitted so far is worked off.
    private var workedOff = MonotonicTime.zero

    func allows(_ configuration: Configuration, at now: MonotonicTime) -> Bool {
        workedOff <= now + configuration.interval * (configuration.burst - 1)
    }

    /// Admits and counts one if the limit allows it; returns whether it did.
    mutating func admit(_ configuration: Configuration, at now: MonotonicTime) -> Bool {
        guard allows(configuration, at: now) else { return false }
        workedOff = max(workedOff, now) + configuration.interval
        return true
    }
}
