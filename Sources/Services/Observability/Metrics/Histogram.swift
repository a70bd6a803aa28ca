import Primitives
import Synchronization

/// How durations are distributed over fixed buckets. Lock-free; any thread may observe.
package final class Histogram: Sendable {
    /// Inclusive upper bounds in rising order; what is longer than the last goes to `+Inf`.
    package let bounds: [Duration]
    /// One per bound and one for the rest; not cumulative.
    private let buckets: [Counter]
    private let nanoseconds = Counter()

    package init(bounds: [Duration]) {
        precondition(zip(bounds, bounds.dropFirst()).allSatisfy(<), "histogram bounds must rise")
        self.bounds = bounds
        buckets = (0...bounds.count).map { _ in Counter() }
    }

    /// A negative duration counts as zero.
    package func observe(_ duration: Duration) {
        let index = bounds.firstIndex { duration <= $0 } ?? bounds.count
        buckets[index].increment()
        nanoseconds.increment(by: UInt64(max(0, duration.wholeNanoseconds)))
    }

    /// How many observations were at most as long as each bound, then how many there were at all.
    package var cumulativeCounts: [UInt64] {
        var sum: UInt64 = 0
        return buckets.map {
            sum &+= $0.value
            return sum
        }
    }

    package var sum: Duration { .nanoseconds(Int64(clamping: nanoseconds.value)) }
}
