package import Primitives

/// A rate limit: `burst` at once, and after that one per `interval` (the generic cell rate algorithm). Its state is a
/// single time.
package struct RateLimit: Equatable, Sendable {
    /// How many are admitted.
    package struct Configuration: Equatable, Sendable {
        /// The number admitted at once, at least 1.
        package var burst: Int
        /// The time per further one.
        package var interval: Duration

        /// Makes a configuration of its parts; each parameter is the property of that name.
        package init(burst: Int, interval: Duration) {
            self.burst = burst
            self.interval = interval
        }
    }

    /// The time at which everything admitted so far is worked off.
    private var workedOff = MonotonicTime.zero

    /// Nothing has been admitted yet.
    package init() {}

    func allows(_ configuration: Configuration, at now: MonotonicTime) -> Bool {
        workedOff <= now + configuration.interval * (configuration.burst - 1)
    }

    /// Admits and counts one if the limit allows it; returns whether it did.
    package mutating func admit(_ configuration: Configuration, at now: MonotonicTime) -> Bool {
        guard allows(configuration, at: now) else { return false }
        workedOff = max(workedOff, now) + configuration.interval
        return true
    }
}
