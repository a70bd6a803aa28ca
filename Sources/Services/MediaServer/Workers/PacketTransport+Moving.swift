internal import MediaPlane
internal import Observability
internal import Primitives
internal import Sockets

/// Paths of legs that have moved from worker to worker: what comes in on sockets of the worker where they began, and leaves by them.
///
/// Datagrams leave by the other worker's socket at once. A connection's bytes are its worker's alone, so that its frames go there.
extension PacketTransport {
    /// Whether the socket or the connection is this worker's own.
    func isHere(_ path: Path) -> Bool { layout.worker(of: path) == endpoint.index }

    /// Hands a packet to the worker that has the connection.
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

    /// Takes the next packet that another worker sent into a slot; `nil` when there are none, or no slots.
    mutating func receivePassedOn() -> (slot: Int, path: Path, direction: PacketMailbox.Direction)? {
        pool.receive(from: endpoint.packets)
    }

    /// The slots are free for packets that come another way.
    mutating func emptySlots() { pool.emptySlots() }

    /// A path is nobody's any more. A connection is closed after what has been queued for it: an empty packet, which is never sent, stands
    /// for its end.
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
