/// Counts of what became of queued datagrams.
package struct Transmissions: Equatable, Sendable {
    /// Datagrams taken by the kernel.
    package var sent = 0
    /// Datagrams dropped because the send buffer of the socket was full.
    package var congested = 0
    /// Datagrams refused by the kernel: no route, forbidden, or a closed socket.
    package var failed = 0
    /// Datagrams larger than a slot, which are never queued.
    package var oversized = 0

    /// Makes counts of their parts, each 0 unless given.
    package init(sent: Int = 0, congested: Int = 0, failed: Int = 0, oversized: Int = 0) {
        self.sent = sent
        self.congested = congested
        self.failed = failed
        self.oversized = oversized
    }

    /// Adds counts to a total.
    package static func += (total: inout Self, more: Self) {
        total.sent += more.sent
        total.congested += more.congested
        total.failed += more.failed
        total.oversized += more.oversized
    }

    /// The sum of two counts.
    package static func + (a: Self, b: Self) -> Self {
        var total = a
        total += b
        return total
    }
}
