import Synchronization

/// How many subscriptions this process has, for the limit of all. Requests that come at once may exceed the limit by
/// their number.
final class SubscriptionCount: Sendable {
    private let count = Atomic(0)

    /// The present number.
    var value: Int { count.load(ordering: .relaxed) }

    /// Subscriptions have started, or (negative) ended.
    func change(by difference: Int) { count.add(difference, ordering: .relaxed) }
}
