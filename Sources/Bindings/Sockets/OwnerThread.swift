internal import Glibc

/// The thread on which this value was made. Types that are confined to the thread of their owner assert it:
///
///     assert(owner.isCurrent, "an engine is its worker's alone")
///
/// An assertion is not evaluated in a release build.
package struct OwnerThread: Sendable {
    private let thread: pthread_t

    /// Stores the calling thread.
    package init() { thread = pthread_self() }

    /// Whether the caller runs on that thread. The identity of a thread that has ended may be that of a later one.
    package var isCurrent: Bool { pthread_equal(thread, pthread_self()) != 0 }
}
