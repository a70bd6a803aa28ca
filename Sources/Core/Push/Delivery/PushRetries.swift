package import Primitives

/// When a push is sent again: after delays that double, with jitter, as long as it is of use. Only its deadline bounds
/// the attempts.
package struct PushRetries: Hashable, Sendable {
    /// The longest first delay; more than 0.
    package var firstDelay = Duration.milliseconds(500)
    /// The longest delay that comes of doubling, of a push that is of use for no longer than ``nearTime``; at least the
    /// first one.
    package var longestDelay = Duration.seconds(8)
    /// The longest delay that comes of doubling, of any other push; at least the first one.
    package var longestFarDelay = Duration.seconds(300)
    /// The longest time for which a call rings: whoever waits for an answer waits for no other push.
    package var nearTime = Duration.seconds(600)

    /// Makes a schedule with the default of each property.
    package init() {}

    /// The time of the next attempt; `nil`: there is none.
    ///
    /// - Parameters:
    ///   - attempt: how many there were.
    ///   - lifetime: how long the push was of use when it was taken.
    ///   - least: what the provider asks to wait. The jitter comes on top of it.
    ///   - deadline: when the push is of no use any more.
    package func next(
        after attempt: Int, of lifetime: Duration, least: Duration?, deadline: MonotonicTime, now: MonotonicTime,
        random: inout some RandomSource
    ) -> MonotonicTime? {
        let longest = (lifetime <= nearTime ? longestDelay : longestFarDelay).wholeNanoseconds
        var delay = min(firstDelay.wholeNanoseconds, longest)
        for _ in 1..<max(attempt, 1) where delay < longest { delay = min(delay * 2, longest) }
        // Half of the delay is fixed, so that no attempt follows at once.
        let half = UInt64(max(delay / 2, 1))
        let jittered = Duration.nanoseconds(Int64(half + random.next() % half))
        let time = now + max(least ?? .zero, .zero) + jittered
        return time < deadline ? time : nil
    }
}
