internal import Primitives
internal import Sockets

/// Sending on connections: packets go to the backlog of a connection at once, and from there to the kernel at the end
/// of the round.
extension StreamTable {
    /// Queues a packet, or drops it if too many bytes wait already.
    mutating func queue(_ packet: Span<UInt8>, for id: ConnectionID, _ poller: inout Poller) {
        guard let stream = self[id] else {
            transmissions.failed += 1
            return
        }
        if !stream.append(packet) {
            drain(stream, &poller)
            guard stream.append(packet) else {
                transmissions.congested += 1
                return
            }
        }
        transmissions.sent += 1
        guard !stream.isQueued, !stream.awaitsRoom else { return }
        stream.isQueued = true
        queued.append(stream)
    }

    /// Sends what is queued. Returns the counts since the last call.
    mutating func flush(_ poller: inout Poller) -> Transmissions {
        // Taking from the end keeps the memory of the array.
        while let stream = queued.popLast() {
            stream.isQueued = false
            drain(stream, &poller)
        }
        defer { transmissions = Transmissions() }
        return transmissions
    }

    /// Continues sending, because the kernel has room again.
    func resume(_ id: ConnectionID, _ poller: inout Poller) {
        if let stream = self[id] { drain(stream, &poller) }
    }

    private func drain(_ stream: StreamConnection, _ poller: inout Poller) {
        let awaitsRoom = !stream.drain()
        guard awaitsRoom != stream.awaitsRoom, self[stream.id] === stream else { return }
        do {
            try poller.awaitRoom(awaitsRoom, in: stream.connection, as: stream.id)
            stream.awaitsRoom = awaitsRoom
        } catch {
            // The poller could not report room. The next read finds the connection closed, and tells its session.
            stream.connection.shutDown()
        }
    }
}
