import Primitives

/// So many at once, and after that one per interval (the generic cell rate algorithm): one time is all it keeps.
struct RateLimit: Equatable, Sendable {
    struct Configuration: Equatable, Sendable {
        /// At least 1.
        var burst: Int
        var interval: Duration
    }

    /// When everything that was let through is worked off.
    private var workedOff = MonotonicTime.zero

    func allows(_ configuration: Configuration, at now: MonotonicTime) -> Bool {
        workedOff <= now + configuration.interval * (configuration.burst - 1)
    }

    /// Lets one through and counts it, if there is room.
    mutating func admit(_ configuration: Configuration, at now: MonotonicTime) -> Bool {
        guard allows(configuration, at: now) else { return false }
        workedOff = max(workedOff, now) + configuration.interval
        return true
    }
}
