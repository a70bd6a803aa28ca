internal import CLinux
internal import Glibc
internal import Synchronization

/// A named thread, for an owner that must not share a thread.
@safe
package final class WorkerThread: Sendable {
    /// The start of the new thread: made before the thread runs, and read by it only.
    private final class Start: Sendable {
        let name: String
        let body: @Sendable () -> Void

        init(name: String, body: @escaping @Sendable () -> Void) {
            self.name = name
            self.body = body
        }
    }

    private let handle: Mutex<pthread_t?>

    /// Starts a thread.
    ///
    /// - Parameters:
    ///   - name: The name that `top` and debuggers show; Linux keeps 15 bytes of it.
    ///   - body: The work of the thread, which ends when `body` returns.
    /// - Throws: `SocketError` with the error number of pthread_create(3).
    package init(name: String, body: @escaping @Sendable () -> Void) throws(SocketError) {
        let start = unsafe Unmanaged.passRetained(Start(name: name, body: body))
        var thread = pthread_t()
        let result = unsafe pthread_create(
            &thread, nil,
            { context in
                guard let context = unsafe context else { preconditionFailure("a thread starts with its context") }
                let start = unsafe Unmanaged<Start>.fromOpaque(context).takeRetainedValue()
                unsafe start.name.withCString { unsafe clinux_name_thread($0) }
                start.body()
                return nil
            }, start.toOpaque()
        )
        guard result == 0 else {
            unsafe start.release()
            throw SocketError(call: "pthread_create", code: result)
        }
        handle = Mutex(thread)
    }

    /// A thread that was not joined continues on its own.
    deinit {
        if let thread = handle.withLock({ $0 }) { pthread_detach(thread) }
    }

    /// Waits until the body has returned. A second call returns at once.
    package func join() {
        let thread = handle.withLock { handle in
            defer { handle = nil }
            return handle
        }
        if let thread { pthread_join(thread, nil) }
    }
}

/// The shares of threads in the cores' time.
package enum ThreadPriority {
    /// The nice value of work that can wait: against a thread at 0, the scheduler gives it a tenth of a core's time.
    private static let patient: Int32 = 10

    /// Lowers the priority of the calling thread, so that it uses the time that other threads leave. The call is cheap
    /// and may be repeated.
    ///
    /// On Linux the nice value belongs to a thread, and 0 stands for the calling one (setpriority(2), "C library/kernel
    /// differences").
    package static func lower() {
        // Lowering the priority of a thread is always permitted to the thread itself.
        _ = setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, patient)
    }
}
