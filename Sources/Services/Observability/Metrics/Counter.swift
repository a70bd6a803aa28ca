import Synchronization

/// A number that only grows, such as packets received. Lock-free; any thread may add.
///
/// Every addition is one atomic instruction on memory that all threads share: a loop that counts per packet adds up
/// locally and hands over one sum per batch.
package final class Counter: Sendable {
    private let storage = Atomic<UInt64>(0)

    package init() {}

    package func increment(by amount: UInt64 = 1) {
        storage.wrappingAdd(amount, ordering: .relaxed)
    }

    package var value: UInt64 { storage.load(ordering: .relaxed) }
}
