import Synchronization

/// Whether the gateway is stopping. Set once, read from everywhere.
package final class DrainingFlag: Sendable {
    private let flag = Atomic(false)

    package init() {}

    package var isSet: Bool { flag.load(ordering: .acquiring) }

    package func set() { flag.store(true, ordering: .releasing) }
}
