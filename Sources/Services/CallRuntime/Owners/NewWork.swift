import Synchronization

/// Whether new subscriptions and calls are refused. The drain of the gateway decides it, and every owner may ask.
final class NewWork: Sendable {
    private let refused = Atomic(false)

    /// Whether the gateway takes nothing new.
    var isRefused: Bool {
        get { refused.load(ordering: .acquiring) }
        set { refused.store(newValue, ordering: .releasing) }
    }
}
