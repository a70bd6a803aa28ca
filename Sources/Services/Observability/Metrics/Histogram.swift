import Primitives
import Synchronization

/// The distribution of durations over fixed buckets. It is lock-free, and any thread may observe.
package final class Histogram: Sendable {
    /// Inclusive upper bounds in rising order. Longer durations are counted in `+Inf`.
    package let bounds: [Duration]
    /// One counter per bound and one for the rest; not cumulative.
    private let buckets: [Counter]
    private let nanoseconds = Counter()

    /// Makes an empty histogram.
    ///
    /// - Parameter bounds: upper bounds in rising order.
    package init(bounds: [Duration]) {
        precondition(zip(bounds, bounds.dropFirst()).allSatisfy(<), "histogram bounds must rise")
        self.bounds = bounds
        buckets = (0...bounds.count).map { _ in Counter() }
    }

    /// Counts a duration. A negative one counts as zero.
    package func observe(_ duration: Duration) {
        let index = bounds.firstIndex { duration <= $0 } ?? bounds.count
        buckets[index].increment()
        nanoseconds.increment(by: UInt64(max(0, duration.wholeNanoseconds)))
    }

    /// For each bound the number of observations that were not longer, and then the number of all observations.
    package var cumulativeCounts: [UInt64] {
        var sum: UInt64 = 0
        return buckets.map {
            sum &+= $0.value
            return sum
        }
    }

    /// The sum of all observations.
    package var sum: Duration { .nanoseconds(Int64(clamping: nanoseconds.value)) }
}
