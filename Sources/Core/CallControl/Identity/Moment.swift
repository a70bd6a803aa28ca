package import Primitives

/// A point in time on both clocks: deadlines use the monotonic one, people read the other.
package struct Moment: Hashable, Sendable {
    /// The time on the monotonic clock.
    package var monotonic: MonotonicTime
    /// The time on the wall clock, milliseconds since 1970.
    package var epochMilliseconds: Int64

    /// Makes a moment of the readings of both clocks.
    package init(_ monotonic: MonotonicTime, epochMilliseconds: Int64) {
        self.monotonic = monotonic
        self.epochMilliseconds = epochMilliseconds
    }
}
