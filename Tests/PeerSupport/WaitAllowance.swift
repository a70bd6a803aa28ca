package import Primitives

/// The time that a wait may still take, spent in steps of at most a second.
///
/// A step that takes longer counts as one second: the machine has stood still (a snapshot of it was taken, or it was
/// moved), and what the wait is for has had no chance to happen.
package struct WaitAllowance {
    private static let longestStep = Duration.seconds(1)

    private var left: Duration
    private var lastLook: MonotonicTime?

    /// Makes an allowance of this duration, of which nothing is spent.
    package init(_ duration: Duration) { left = duration }

    /// The time until which the next step may wait; `nil` if nothing is left.
    package mutating func end(at now: MonotonicTime) -> MonotonicTime? {
        if let lastLook { left -= min(now - lastLook, Self.longestStep) }
        lastLook = now
        return left > .zero ? now + min(left, Self.longestStep) : nil
    }
}
