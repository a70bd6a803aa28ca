import HummingbirdCore
import Synchronization

/// Keeps a listener from accepting before its ``ConnectionGate`` stands: the server gives it out only when it listens already.
/// Whoever connects meanwhile waits in the kernel's queue.
final class ListenerDoor: AvailableConnectionsDelegate {
    private let isOpen = Atomic(false)

    func open() { isOpen.store(true, ordering: .releasing) }

    func isAcceptingNewConnections() -> Bool { isOpen.load(ordering: .acquiring) }

    // The gate counts.
    func connectionOpened() {}
    func connectionClosed() {}
}
