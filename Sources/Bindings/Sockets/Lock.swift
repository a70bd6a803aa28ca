internal import CLinux
internal import Synchronization

/// A `Mutex` that the thread sanitizer knows. Where one thread hands an object or an array to another, the lock between
/// them is one of these.
///
/// In Swift 6.3, `Mutex` takes a contended lock inside a library that is not built for the sanitizer. The sanitizer
/// then does not know that one thread waited for the other, and reports their alternate accesses as a race. Therefore
/// each owner reports here that it has taken the lock and that it releases it. In builds without the sanitizer that is
/// two calls of empty functions.
@safe
package final class Lock<Value: Sendable & ~Copyable>: Sendable {
    private let mutex: Mutex<Value>

    /// Makes a lock that owns `value`.
    package init(_ value: consuming sending Value) { mutex = Mutex(value) }

    /// Runs `body` with the value while no other thread has it, and returns its result.
    package func withLock<Result: Sendable>(_ body: (inout Value) -> Result) -> Result {
        // Any address that belongs to this lock alone.
        let address = unsafe Unmanaged.passUnretained(self).toOpaque()
        return mutex.withLock { value in
            unsafe clinux_lock_taken(address)
            defer { unsafe clinux_lock_left(address) }
            return body(&value)
        }
    }
}
