internal import MediaPlane
internal import Observability
internal import Primitives
internal import Sockets

/// Paths of legs that have moved between workers. Packets arrive at, and are sent from, the sockets of the worker where
/// a leg started.
///
/// Datagrams are sent from the other worker's socket directly. The bytes of a connection belong to its worker alone, so
/// its frames are passed to that worker.
extension PacketTransport {
    /// Whether the socket or the connection of a path belongs to this worker.
    func isHere(_ path: Path) -> Bool { layout.worker(of: path) == endpoint.index }

    /// Passes a packet to the worker that has the connection.
    static func passOn(_ packet: Span<UInt8>, over path: Path, to home: WorkerEndpoint, _ passedOn: inout Transmissions)
    {
        if home.send(packet, over: path, .outbound) {
            passedOn.sent += 1
        } else {
            passedOn.congested += 1
        }
    }

    static func passOn(
        _ slot: Int, of pool: borrowing DatagramPool, count: Int, over path: Path, to home: WorkerEndpoint,
        _ passedOn: inout Transmissions
    ) {
        passOn(pool.bytes(slot, count: count), over: path, to: home, &passedOn)
    }

    /// Takes the next packet that another worker passed on into a slot; `nil` if there is none, or no free slot.
    mutating func receivePassedOn() -> (slot: Int, path: Path, direction: PacketMailbox.Direction)? {
        pool.receive(from: endpoint.packets)
    }

    /// Frees the slots for packets from another source.
    mutating func emptySlots() { pool.emptySlots() }

    /// Releases a path that no leg claims any more. A connection is closed after the packets queued for it. For another
    /// worker, an empty packet, which is never sent on, stands for the end.
    mutating func release(_ path: Path) {
        guard let connection = path.connection else { return }
        if isHere(path) {
            close(connection, .released)
            return
        }
        let end: [UInt8] = []
        if !home(of: path).send(end.span, over: path, .outbound) { home(of: path).send(.closeConnection(connection)) }
    }

    func home(of path: Path) -> WorkerEndpoint { endpoints[Int(layout.worker(of: path).rawValue)] }
}
