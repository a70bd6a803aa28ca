internal import CLinux
internal import Glibc
internal import Synchronization

/// Ends a worker's wait from any thread (eventfd(2)).
///
/// Wakes are remembered and coalesce: however many come while the worker is busy, its next wait returns at once, once.
@safe
package final class WakeUp: Sendable {
    let fileDescriptor: Int32
    /// Set by the first of several wakes, so that the others cost no system call.
    private let isPending = Atomic(false)

    package init() throws(SocketError) {
        fileDescriptor = eventfd(0, Int32(EFD_NONBLOCK) | Int32(EFD_CLOEXEC))
        guard fileDescriptor >= 0 else { throw SocketError(latest: "eventfd") }
    }

    deinit { close(fileDescriptor) }

    package func wake() {
        guard !isPending.exchange(true, ordering: .acquiringAndReleasing) else { return }
        // It fails only when the counter is at its maximum, and then the worker is awake anyway.
        _ = eventfd_write(fileDescriptor, 1)
    }

    /// Re-arms. What was written before a `wake()` that this call swallows is visible to the caller afterwards.
    func acknowledge() {
        var count: eventfd_t = 0
        _ = unsafe eventfd_read(fileDescriptor, &count)
        _ = isPending.exchange(false, ordering: .acquiringAndReleasing)
    }
}
