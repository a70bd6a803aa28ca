package import Primitives

/// A point on both clocks: deadlines are reckoned on the one, people read the other.
package struct Moment: Hashable, Sendable {
    package var monotonic: MonotonicTime
    /// Milliseconds since 1970.
    package var epochMilliseconds: Int64

    package init(_ monotonic: MonotonicTime, epochMilliseconds: Int64) {
        self.monotonic = monotonic
        self.epochMilliseconds = epochMilliseconds
    }
}
