internal import Observability
internal import Primitives
internal import Sockets

/// The TCP connections of one worker, and how many there may be.
///
/// A connection is unproven until a valid connectivity check has come over it. Unproven ones are few and short-lived; when
/// there are too many, the oldest goes, so that a flood of silent connections cannot keep a peer out. Proven ones belong to a
/// session, which remembers a bounded number of paths and lets go of the others.
struct StreamTable {
    struct Limits: Equatable, Sendable {
        /// All connections of a worker.
        var connections: Int
        /// From the connection to the first valid check.
        var firstCheckTimeout: Duration
        /// Those without a valid check, in all and from one address, behind which there may be an office.
        var unproven = 256
        var unprovenPerAddress = 32
        /// What a slow reader may owe: a quarter of a second of video, and a few seconds of audio.
        var backlogBytes = 32_768
    }

    private let limits: Limits
    private let metrics: GatewayMetrics
    private var places: [StreamConnection?] = []
    private var generations: [UInt32] = []
    private var freePlaces: [UInt16] = []
    /// In the order of their deadlines.
    private var unproven: [StreamConnection] = []
    /// Those that have something to send, and what became of what was sent.
    var queued: [StreamConnection] = []
    var transmissions = Transmissions()

    init(limits: Limits, metrics: GatewayMetrics) {
        precondition(limits.connections <= Int(UInt16.max), "a place has 16 bits")
        self.limits = limits
        self.metrics = metrics
    }

    var count: Int { places.count - freePlaces.count }

    /// When the next unproven connection has had its time.
    var nextDeadline: MonotonicTime? { unproven.first?.deadline }

    subscript(_ id: ConnectionID) -> StreamConnection? {
        guard id.place < places.count, let stream = places[Int(id.place)], stream.id == id else { return nil }
        return stream
    }

    /// Takes a new connection in, or returns `nil` and counts it as turned away.
    mutating func admit(_ connection: TCPConnection, by listener: SocketIndex, at now: MonotonicTime)
        -> StreamConnection?
    {
        let remote = connection.remoteAddress
        let fromThere = unproven.count { $0.path.remote.address == remote.address }
        guard fromThere < limits.unprovenPerAddress, makeRoom() else {
            metrics.mediaConnectionsClosed[.limit].increment()
            return nil
        }
        let id = takePlace()
        let stream = StreamConnection(
            id: id, path: Path(local: listener, remote: remote, transport: .tcp(id)), connection: connection,
            deadline: now + limits.firstCheckTimeout, backlogBytes: limits.backlogBytes)
        places[Int(id.place)] = stream
        unproven.append(stream)
        metrics.mediaConnectionsActive.increment()
        return stream
    }

    /// Somebody came whom the process had no descriptor for.
    func countTurnedAway() { metrics.mediaConnectionsClosed[.limit].increment() }

    /// A valid check came over it.
    mutating func prove(_ id: ConnectionID) {
        guard let stream = self[id], !stream.isProven else { return }
        stream.prove()
        unproven.removeAll { $0 === stream }
    }

    /// Closes it; what it can still take leaves first. Returns its path, or `nil` if it is closed already.
    @discardableResult
    mutating func close(_ id: ConnectionID, _ reason: MediaConnectionClosure) -> Path? {
        guard let stream = self[id] else { return nil }
        places[Int(id.place)] = nil
        freePlaces.append(id.place)
        unproven.removeAll { $0 === stream }
        // Whoever sees the end finds it counted.
        metrics.mediaConnectionsActive.decrement()
        metrics.mediaConnectionsClosed[reason].increment()
        _ = stream.drain()
        stream.connection.close()
        return stream.path
    }

    /// Closes unproven connections that have had their time.
    mutating func closeOverdue(at now: MonotonicTime) {
        while let first = unproven.first, let deadline = first.deadline, deadline <= now { close(first.id, .silent) }
    }

    mutating func closeAll() {
        for case let stream? in places { close(stream.id, .released) }
    }

    private mutating func makeRoom() -> Bool {
        if unproven.count >= limits.unproven || count >= limits.connections, let oldest = unproven.first {
            close(oldest.id, .limit)
        }
        return count < limits.connections
    }

    private mutating func takePlace() -> ConnectionID {
        if let place = freePlaces.popLast() {
            generations[Int(place)] &+= 1
            return ConnectionID(place: place, generation: generations[Int(place)])
        }
        places.append(nil)
        generations.append(0)
        return ConnectionID(place: UInt16(places.count - 1), generation: 0)
    }
}
