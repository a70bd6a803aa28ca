import Synchronization

/// A number that goes up and down, such as calls in progress. It is lock-free, and any thread may change it.
package final class Gauge: Sendable {
    private let storage = Atomic<Int64>(0)

    /// Makes a gauge at zero.
    package init() {}

    /// Raises the gauge, by 1 unless said otherwise.
    package func increment(by amount: Int64 = 1) {
        storage.wrappingAdd(amount, ordering: .relaxed)
    }

    /// Lowers the gauge, by 1 unless said otherwise.
    package func decrement(by amount: Int64 = 1) {
        storage.wrappingSubtract(amount, ordering: .relaxed)
    }

    /// Replaces the value.
    package func set(_ value: Int64) {
        storage.store(value, ordering: .relaxed)
    }

    /// The value at present.
    package var value: Int64 { storage.load(ordering: .relaxed) }
}
