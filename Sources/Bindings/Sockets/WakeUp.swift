internal import CLinux
internal import Glibc
internal import Synchronization

/// Ends the wait of a worker from any thread (eventfd(2)).
///
/// Wake-ups are remembered and merged: after any number of them while the worker is busy, its next wait returns at
/// once, and only that one.
@safe
package final class WakeUp: Sendable {
    let fileDescriptor: Int32
    /// Set by the first of several wake-ups, so that the others need no system call.
    private let isPending = Atomic(false)

    /// Makes a wake-up that is not pending.
    ///
    /// - Throws: `SocketError` with the errno of eventfd(2).
    package init() throws(SocketError) {
        fileDescriptor = eventfd(0, Int32(EFD_NONBLOCK) | Int32(EFD_CLOEXEC))
        guard fileDescriptor >= 0 else { throw SocketError(latest: "eventfd") }
    }

    deinit { close(fileDescriptor) }

    /// Ends the current wait of the worker, or the next one if the worker is busy.
    package func wake() {
        guard !isPending.exchange(true, ordering: .acquiringAndReleasing) else { return }
        // The write fails only if the counter is at its maximum, and then the worker is awake in any case.
        _ = eventfd_write(fileDescriptor, 1)
    }

    /// Arms the wake-up again. Data that was written before a `wake()` merged into this one is visible to the caller
    /// afterwards.
    func acknowledge() {
        var count: eventfd_t = 0
        _ = unsafe eventfd_read(fileDescriptor, &count)
        _ = isPending.exchange(false, ordering: .acquiringAndReleasing)
    }
}
