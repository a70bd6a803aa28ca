import Synchronization

/// A number that goes up and down, such as calls in progress. Lock-free; any thread may change it.
package final class Gauge: Sendable {
    private let storage = Atomic<Int64>(0)

    package init() {}

    package func increment(by amount: Int64 = 1) {
        storage.wrappingAdd(amount, ordering: .relaxed)
    }

    package func decrement(by amount: Int64 = 1) {
        storage.wrappingSubtract(amount, ordering: .relaxed)
    }

    package func set(_ value: Int64) {
        storage.store(value, ordering: .relaxed)
    }

    package var value: Int64 { storage.load(ordering: .relaxed) }
}
