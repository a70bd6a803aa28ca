import Synchronization

/// Whether the gateway is stopping. Its announcement can be withdrawn until it is set. It is read from every thread.
package final class DrainingFlag: Sendable {
    private let announced = Atomic(false)
    private let flag = Atomic(false)

    /// Makes a flag that is not set.
    package init() {}

    /// Whether clients that can go elsewhere should. Everything is still served.
    package var isAnnounced: Bool { announced.load(ordering: .acquiring) }

    /// Whether no new work starts any more.
    package var isSet: Bool { flag.load(ordering: .acquiring) }

    /// Announces the end: ``isAnnounced`` is `true` from now on.
    package func announce() { announced.store(true, ordering: .releasing) }

    /// Takes the announcement back: ``isAnnounced`` is `false` again, unless ``isSet`` is `true`.
    package func withdraw() {
        if !isSet { announced.store(false, ordering: .releasing) }
    }

    /// Starts the end: both properties are `true` from now on.
    package func set() {
        announce()
        flag.store(true, ordering: .releasing)
    }
}
