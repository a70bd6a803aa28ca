import Synchronization

/// A number that only grows, such as packets received. It is lock-free, and any thread may add to it.
///
/// Every addition is one atomic instruction on memory that all threads share. A loop that counts per packet adds up
/// locally and adds one sum per batch.
package final class Counter: Sendable {
    private let storage = Atomic<UInt64>(0)

    /// Makes a counter at zero.
    package init() {}

    /// Adds to the counter, 1 unless said otherwise.
    package func increment(by amount: UInt64 = 1) {
        storage.wrappingAdd(amount, ordering: .relaxed)
    }

    /// The sum so far.
    package var value: UInt64 { storage.load(ordering: .relaxed) }
}
