/// A point on a clock that never goes back; only differences between two points have a meaning.
///
/// Core takes the time as an argument and never reads a clock. Its callers pass the kernel's monotonic clock, tests a
/// virtual one.
package struct MonotonicTime: Hashable, Comparable, Sendable {
    /// Nanoseconds since an arbitrary origin.
    package var nanoseconds: UInt64

    /// Makes the point with this number of nanoseconds.
    @inlinable
    package init(nanoseconds: UInt64) { self.nanoseconds = nanoseconds }

    /// The origin of the clock.
    package static let zero = MonotonicTime(nanoseconds: 0)

    /// Whether `a` is before `b`.
    @inlinable
    package static func < (a: Self, b: Self) -> Bool { a.nanoseconds < b.nanoseconds }

    /// The point after a duration. It saturates at both ends, so a deadline that cannot be represented never comes.
    @inlinable
    package static func + (time: Self, duration: Duration) -> Self {
        let delta = duration.wholeNanoseconds
        return delta >= 0 ? time.later(by: delta.magnitude) : time.earlier(by: delta.magnitude)
    }

    /// The point a duration earlier; it saturates at both ends.
    @inlinable
    package static func - (time: Self, duration: Duration) -> Self {
        let delta = duration.wholeNanoseconds
        return delta >= 0 ? time.earlier(by: delta.magnitude) : time.later(by: delta.magnitude)
    }

    /// The point a number of nanoseconds later; it saturates at the end of the clock.
    @inlinable
    package func later(by nanoseconds: UInt64) -> Self {
        let (sum, overflow) = self.nanoseconds.addingReportingOverflow(nanoseconds)
        return MonotonicTime(nanoseconds: overflow ? .max : sum)
    }

    /// The point a number of nanoseconds earlier; it saturates at the origin of the clock.
    @inlinable
    package func earlier(by nanoseconds: UInt64) -> Self {
        MonotonicTime(nanoseconds: nanoseconds > self.nanoseconds ? 0 : self.nanoseconds - nanoseconds)
    }

    /// The time from `b` to `a`; negative if `a` is earlier.
    @inlinable
    package static func - (a: Self, b: Self) -> Duration {
        a >= b
            ? .nanoseconds(Int64(clamping: a.nanoseconds - b.nanoseconds))
            : .zero - .nanoseconds(Int64(clamping: b.nanoseconds - a.nanoseconds))
    }
}

extension Duration {
    /// The duration in nanoseconds, clamped to 64 bits (±292 years).
    @inlinable
    package var wholeNanoseconds: Int64 {
        Int64(clamping: attoseconds / 1_000_000_000)
    }

    /// The duration in seconds, for ratios and reports.
    @inlinable
    package var inSeconds: Double { Double(wholeNanoseconds) / 1e9 }

    /// The duration in milliseconds, for reports.
    @inlinable
    package var inMilliseconds: Double { inSeconds * 1_000 }
}

/// The next time at which a state machine must be called, and why.
package struct Deadline<Reason: Hashable & Sendable>: Hashable, Sendable {
    /// The time at which the machine must be called.
    package var time: MonotonicTime
    /// What is due then.
    package var reason: Reason

    /// Makes a deadline of its parts; each parameter is the property of that name.
    package init(_ time: MonotonicTime, _ reason: Reason) {
        self.time = time
        self.reason = reason
    }

    /// The earlier of two deadlines; `nil` stands for never.
    package static func earlier(_ a: Self?, _ b: Self?) -> Self? {
        guard let a else { return b }
        guard let b else { return a }
        return b.time < a.time ? b : a
    }
}
