internal import Synchronization

/// A value on its way from one thread to another, which has it alone afterwards.
///
/// The compiler cannot see that whoever packs it keeps nothing of it: that is for the sender to see to. That nobody takes it twice is seen
/// to here.
package final class Parcel<Content>: @unchecked Sendable {  // its content is reached once, by the thread that takes it
    private var content: Content?
    private let isFull = Atomic(false)

    package init(_ content: Content) {
        self.content = content
        isFull.store(true, ordering: .releasing)
    }

    /// Unpacks it, once.
    package func take() -> Content {
        let wasFull = isFull.exchange(false, ordering: .acquiringAndReleasing)
        guard wasFull, let taken = content else { preconditionFailure("a parcel is taken once") }
        content = nil
        return taken
    }
}
