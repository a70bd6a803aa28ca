internal import Primitives
internal import Sockets

/// What goes out on connections: into each one's backlog at once, from there to the kernel at the end of a round.
extension StreamTable {
    /// Queues a packet, or drops it when the far end owes too much already.
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

    /// Sends what is queued; counts what happened since the last call.
    mutating func flush(_ poller: inout Poller) -> Transmissions {
        // Taken from the end, which leaves the array its memory.
        while let stream = queued.popLast() {
            stream.isQueued = false
            drain(stream, &poller)
        }
        defer { transmissions = Transmissions() }
        return transmissions
    }

    /// There is room again.
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
            // Nobody would say when to go on. The next read finds the connection ended, and tells its session.
            stream.connection.shutDown()
        }
    }
}
