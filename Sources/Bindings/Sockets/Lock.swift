internal import CLinux
internal import Synchronization

/// A `Mutex` that the thread sanitizer sees: `Mailbox` and `PacketMailbox`, where threads meet, are watched like
/// everything else.
///
/// `Mutex` of Swift 6.3 takes a contended lock inside a library that is not built for the sanitizer, which then does
/// not know that one thread waited for the other, and reports what they do in turns as a race. So each owner says
/// here that it has come and that it leaves. In builds without the sanitizer that is two calls of empty functions.
@safe
package final class Lock<Value: Sendable & ~Copyable>: Sendable {
    private let mutex: Mutex<Value>

    package init(_ value: consuming sending Value) { mutex = Mutex(value) }

    package func withLock<Result: Sendable>(_ body: (inout Value) -> Result) -> Result {
        // Any address will do that is this lock's own.
        let address = unsafe Unmanaged.passUnretained(self).toOpaque()
        return mutex.withLock { value in
            unsafe clinux_lock_taken(address)
            defer { unsafe clinux_lock_left(address) }
            return body(&value)
        }
    }
}
