import Synchronization

/// How many of something all owners of this process have together, such as subscriptions, for a limit of all. Requests
/// that come at once may exceed the limit by their number.
final class ProcessCount: Sendable {
    private let count = Atomic(0)

    /// The present number.
    var value: Int { count.load(ordering: .relaxed) }

    /// So many have started, or (negative) ended.
    func change(by difference: Int) { count.add(difference, ordering: .relaxed) }

    /// One more has started.
    ///
    /// - Returns: the number with it, which no other caller gets as long as the count only grows.
    func next() -> Int { count.add(1, ordering: .relaxed).newValue }
}
