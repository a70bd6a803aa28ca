internal import ICE
internal import MediaPlane
internal import Observability
internal import Primitives
internal import Sockets

/// Receives and sends the packets of a worker: the datagrams of its UDP sockets and the frames of its TCP connections,
/// in one set of slots.
///
/// The sender of a packet names a path, whatever transport it uses. Nothing is allocated per packet.
struct PacketTransport: ~Copyable {
    /// The most bytes read from a connection at a time.
    private static let readSize = 65_536

    var pool: DatagramPool
    private var poller: Poller
    let endpoint: WorkerEndpoint
    let endpoints: [WorkerEndpoint]
    let layout: WorkerLayout
    private let firstListener: Int
    private var streams: StreamTable
    /// The bytes of the connection that was read last, and how many of them have been processed.
    private var bytes: [UInt8]
    private var byteCount = 0
    private var taken = 0
    /// What became of packets for connections of other workers.
    var passedOn = Transmissions()

    /// - Parameter endpoints: The endpoints of all workers, because a leg that has moved here sends from the sockets of
    ///   its former worker.
    init(
        of endpoint: WorkerEndpoint, among endpoints: [WorkerEndpoint], layout: WorkerLayout, wakeUp: WakeUp,
        limits: StreamTable.Limits,
        metrics: GatewayMetrics
    ) throws(SocketError) {
        var poller = try Poller(wakeUp: wakeUp)
        let first = layout.firstSocket(of: endpoint.index)
        for (place, socket) in endpoint.sockets.enumerated() {
            try poller.add(socket, as: SocketIndex(UInt16(first + place)))
        }
        for (place, listener) in endpoint.listeners.enumerated() {
            try poller.add(listener, as: SocketIndex(UInt16(first + place)))
        }
        self.poller = poller
        self.endpoint = endpoint
        self.endpoints = endpoints
        self.layout = layout
        firstListener = first
        pool = DatagramPool(sockets: endpoints.flatMap(\.sockets))
        streams = StreamTable(limits: limits, metrics: metrics)
        bytes = [UInt8](repeating: 0, count: endpoint.listeners.isEmpty ? 0 : Self.readSize)
    }

    // MARK: Waiting

    /// Waits until `deadline`, or until a connection has to be closed. Returns the number of sockets with datagrams.
    mutating func wait(until deadline: MonotonicTime?) throws(SocketError) -> Int {
        guard let own = streams.nextDeadline else { return try poller.wait(until: deadline) }
        return try poller.wait(until: min(deadline ?? own, own))
    }

    var wasWoken: Bool { poller.wasWoken }
    func readySocket(_ index: Int) -> SocketIndex { poller.readySocket(index) }
    var readyListenerCount: Int { poller.readyListenerCount }
    func readyListener(_ index: Int) -> SocketIndex { poller.readyListener(index) }
    var readyConnectionCount: Int { poller.readyConnectionCount }
    func readyConnection(_ index: Int) -> Poller.ReadyConnection { poller.readyConnection(index) }

    // MARK: Receiving

    /// Receives the datagrams that wait in a UDP socket. Returns their number.
    mutating func receive(from socket: SocketIndex) -> Int { pool.receive(from: socket) }

    func remote(_ slot: Int) -> SocketAddress { pool.remote(slot) }
    func count(_ slot: Int) -> Int { pool.count(slot) }
    func isTruncated(_ slot: Int) -> Bool { pool.isTruncated(slot) }

    @_lifetime(borrow self)
    func datagram(_ slot: Int) -> Span<UInt8> { pool.datagram(slot) }

    /// The whole memory of a slot: the packet, and room behind it to let it grow.
    @_lifetime(&self)
    mutating func slot(_ slot: Int) -> MutableSpan<UInt8> { pool.slot(slot) }

    // MARK: Sending

    /// Queues the first `count` bytes of a slot.
    mutating func queue(slot: Int, count: Int, over path: Path) {
        switch path.transport {
        case .udp: pool.queue(slot: slot, count: count, to: path.remote, via: path.local)
        case .tcp(let id):
            guard isHere(path) else {
                return Self.passOn(slot, of: pool, count: count, over: path, to: home(of: path), &passedOn)
            }
            Self.queue(slot, of: pool, count: count, for: id, of: &streams, &poller)
        }
    }

    /// Queues a copy of `packet`.
    mutating func queue(copying packet: Span<UInt8>, over path: Path) {
        switch path.transport {
        case .udp: pool.queue(copying: packet, to: path.remote, via: path.local)
        case .tcp(let id):
            guard isHere(path) else { return Self.passOn(packet, over: path, to: home(of: path), &passedOn) }
            streams.queue(packet, for: id, &poller)
        }
    }

    /// Sends everything that is queued. Returns the counts since the last call.
    mutating func flush() -> Transmissions {
        defer { passedOn = Transmissions() }
        return streams.flush(&poller) + pool.flush() + passedOn
    }
}

// MARK: - Parts

// The parts are parameters, because a slot in use prevents changes of the whole pool, and through `self` of everything.
extension PacketTransport {
    private static func queue(
        _ slot: Int, of pool: borrowing DatagramPool, count: Int, for id: ConnectionID, of streams: inout StreamTable,
        _ poller: inout Poller
    ) {
        streams.queue(pool.bytes(slot, count: count), for: id, &poller)
    }

    private static func next(
        of reader: inout FrameReader, in bytes: [UInt8], count: Int, at offset: inout Int, into slot: Int,
        of pool: inout DatagramPool
    ) throws(FramingError) -> Int? {
        var packet = pool.slot(slot)
        return try reader.next(in: bytes.span.extracting(0..<count), at: &offset, into: &packet)
    }
}

// MARK: - Connections

extension PacketTransport {
    /// Accepts the connections that wait at a listener, at most `limit`, so that a flood leaves time for media.
    mutating func accept(from listener: SocketIndex, limit: Int = 64, at now: MonotonicTime) {
        for _ in 0..<limit {
            switch endpoint.listeners[Int(listener.rawValue) - firstListener].accept() {
            case .nobody: return
            case .turnedAway: streams.countTurnedAway()
            case .connection(let connection):
                guard let stream = streams.admit(connection, by: listener, at: now) else { continue }
                do {
                    try poller.add(connection, as: stream.id)
                } catch {
                    // The kernel has no memory to watch the connection.
                    streams.close(stream.id, .limit)
                }
            }
        }
    }

    /// The path over an open connection; `nil` if it is closed.
    func path(of id: ConnectionID) -> Path? { streams[id]?.path }

    /// Whether a valid check has come over a connection; `nil` if it is closed.
    func isProven(_ id: ConnectionID) -> Bool? { streams[id]?.isProven }

    /// Marks the connection of a path as proven, after a valid check. A connection of another worker is marked there.
    mutating func prove(_ path: Path) {
        if let connection = path.connection, isHere(path) { streams.prove(connection) }
    }

    /// Closes a connection, after sending what the kernel still takes. Returns its path; `nil` if it is closed already.
    @discardableResult
    mutating func close(_ id: ConnectionID, _ reason: MediaConnectionClosure) -> Path? { streams.close(id, reason) }

    mutating func closeOverdue(at now: MonotonicTime) { streams.closeOverdue(at: now) }
    mutating func closeAll() { streams.closeAll() }

    /// Continues sending, because the kernel has room again.
    mutating func resume(_ id: ConnectionID) { streams.resume(id, &poller) }

    /// Reads the bytes that are available, for `nextPackets`.
    mutating func read(from id: ConnectionID) -> TCPConnection.Progress {
        (byteCount, taken) = (0, 0)
        guard let stream = streams[id] else { return .wouldBlock }
        var room = bytes.mutableSpan
        let progress = stream.connection.receive(into: &room)
        if case .bytes(let count) = progress { byteCount = count }
        return progress
    }

    /// Puts the next packets of the bytes read into slots 0…n−1. Returns their number; 0 if there are no more.
    mutating func nextPackets(of id: ConnectionID) throws(FramingError) -> Int {
        guard let stream = streams[id] else { return 0 }
        pool.emptySlots()
        var count = 0
        while let slot = pool.takeSlot(from: stream.path.remote) {
            guard
                let length = try Self.next(
                    of: &stream.reader, in: bytes, count: byteCount, at: &taken, into: slot, of: &pool)
            else {
                pool.giveBackSlot()
                return count
            }
            if length == 0 {
                pool.giveBackSlot()  // a null packet keeps the connection busy and says nothing (RFC 4571 §2)
            } else {
                pool.fill(slot, count: length)
                count += 1
            }
        }
        return count
    }
}
