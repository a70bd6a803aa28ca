/// What became of queued datagrams.
package struct Transmissions: Equatable, Sendable {
    /// Taken by the kernel.
    package var sent = 0
    /// Dropped because the socket's send buffer was full.
    package var congested = 0
    /// Refused by the kernel: no route, forbidden, closed socket.
    package var failed = 0
    /// Larger than a slot, hence never queued.
    package var oversized = 0

    package init(sent: Int = 0, congested: Int = 0, failed: Int = 0, oversized: Int = 0) {
        self.sent = sent
        self.congested = congested
        self.failed = failed
        self.oversized = oversized
    }

    package static func += (total: inout Self, more: Self) {
        total.sent += more.sent
        total.congested += more.congested
        total.failed += more.failed
        total.oversized += more.oversized
    }

    package static func + (a: Self, b: Self) -> Self {
        var total = a
        total += b
        return total
    }
}
