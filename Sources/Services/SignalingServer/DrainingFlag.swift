import Synchronization

/// Whether the gateway is stopping. Set once, read from everywhere.
package final class DrainingFlag: Sendable {
    private let announced = Atomic(false)
    private let flag = Atomic(false)

    package init() {}

    /// Whoever can go elsewhere should; everything is still served.
    package var isAnnounced: Bool { announced.load(ordering: .acquiring) }

    /// Nothing new begins.
    package var isSet: Bool { flag.load(ordering: .acquiring) }

    package func announce() { announced.store(true, ordering: .releasing) }

    package func set() {
        announce()
        flag.store(true, ordering: .releasing)
    }
}
