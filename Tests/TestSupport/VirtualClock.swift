package import Primitives

/// A clock that moves only when told to.
package struct VirtualClock: Sendable {
    package private(set) var now: MonotonicTime

    /// Starts well away from zero, so that code which treats 0 as "never" is found out.
    package init(startingAt start: MonotonicTime = MonotonicTime(nanoseconds: 1_000_000_000_000)) { now = start }

    package mutating func advance(by duration: Duration) { now = now + duration }

    package mutating func advance(to time: MonotonicTime) { now = max(now, time) }
}
