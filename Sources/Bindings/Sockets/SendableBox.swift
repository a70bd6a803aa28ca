internal import Synchronization

/// A value on its way from one thread to another, which then owns it alone.
///
/// The compiler cannot check that the sender keeps no reference to the value: the sender is responsible for that. This
/// type ensures that the value is taken only once.
package final class SendableBox<Content>: @unchecked Sendable {  // its content is reached once, by the taker's thread
    private var content: Content?
    private let isFull = Atomic(false)

    /// Packs a value, to which the sender keeps no reference.
    package init(_ content: Content) {
        self.content = content
        isFull.store(true, ordering: .releasing)
    }

    /// Unpacks the value. A second call traps.
    package func take() -> Content {
        let wasFull = isFull.exchange(false, ordering: .acquiringAndReleasing)
        guard wasFull, let taken = content else { preconditionFailure("the content of a box is taken once") }
        content = nil
        return taken
    }
}
