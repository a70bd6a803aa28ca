package import Primitives
internal import Sockets

/// Somebody who knows the gateway's address: sends what a test wants and notes what comes back. Belongs to one thread.
package final class Stranger {
    private let link: PeerLink
    private let gateway: SocketAddress
    package private(set) var sentBytes = 0
    package private(set) var answers: [[UInt8]] = []

    /// - Parameter host: a loopback address of the gateway's family.
    package init(
        _ transport: PeerLink.Transport = .udp, to gateway: SocketAddress,
        on host: IPAddress = IPAddress(v4: 0x7F00_0001)
    ) throws {
        link = try PeerLink(transport, on: host)
        self.gateway = gateway
        try link.open(to: gateway)
    }

    /// In a datagram or a frame.
    package func send(_ bytes: [UInt8]) {
        sentBytes += bytes.count
        link.queue(bytes.span, to: gateway)
        link.flush()
    }

    /// Into the stream as it is.
    package func sendUnframed(_ bytes: [UInt8]) { link.sendUnframed(bytes) }

    /// Listens until the condition holds or the time is over; returns whether it held.
    package func listen(for duration: Duration, until condition: (Stranger) -> Bool = { _ in false }) throws -> Bool {
        var allowance = WaitAllowance(duration)
        while !condition(self) {
            guard let end = allowance.end(at: MonotonicClock.now) else { return false }
            try link.receive(until: end) { answers.append($0) }
        }
        return true
    }

    /// Whether the gateway has closed the connection.
    package var isDisconnected: Bool { link.isClosed }

    /// Closes the connection.
    package func leave() { link.close() }
}
