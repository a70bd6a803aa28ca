internal import Observability
internal import Primitives
internal import Sockets

/// The TCP connections of one worker, and their limits.
///
/// A connection is unproven until a valid connectivity check has come over it. Unproven connections are few and
/// short-lived. When there are too many, the oldest one is closed, so that a flood of silent connections cannot keep a
/// peer out. Proven connections belong to a session, which keeps a bounded number of paths and releases the others.
struct StreamTable {
    struct Limits: Equatable, Sendable {
        /// The most connections of a worker.
        var connections: Int
        /// The time from the connection to the first valid check.
        var firstCheckTimeout: Duration
        /// The most connections without a valid check.
        var unproven = 256
        /// The most of them from one address, behind which there may be an office.
        var unprovenPerAddress = 32
        /// The most bytes that wait for a slow receiver: a quarter of a second of video, or a few seconds of audio.
        var backlogBytes = 32_768
    }

    private let limits: Limits
    private let metrics: GatewayMetrics
    private var places: [StreamConnection?] = []
    private var generations: [UInt32] = []
    private var freePlaces: [UInt16] = []
    /// In the order of their deadlines.
    private var unproven: [StreamConnection] = []
    /// The connections with packets to send.
    var queued: [StreamConnection] = []
    /// What became of packets that were sent.
    var transmissions = Transmissions()

    init(limits: Limits, metrics: GatewayMetrics) {
        precondition(limits.connections <= Int(UInt16.max), "a place has 16 bits")
        self.limits = limits
        self.metrics = metrics
    }

    var count: Int { places.count - freePlaces.count }

    /// When the next unproven connection is closed; `nil` if there is none.
    var nextDeadline: MonotonicTime? { unproven.first?.deadline }

    subscript(_ id: ConnectionID) -> StreamConnection? {
        guard id.place < places.count, let stream = places[Int(id.place)], stream.id == id else { return nil }
        return stream
    }

    /// Adds a new connection. If a limit is reached, it is counted as turned away, and `nil` is returned.
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

    /// Counts a connection that was closed because the process had no descriptor for it.
    func countTurnedAway() { metrics.mediaConnectionsClosed[.limit].increment() }

    /// Marks a connection as proven, after a valid check.
    mutating func prove(_ id: ConnectionID) {
        guard let stream = self[id], !stream.isProven else { return }
        stream.prove()
        unproven.removeAll { $0 === stream }
    }

    /// Closes a connection, after sending what the kernel still takes. Returns its path; `nil` if it is closed already.
    @discardableResult
    mutating func close(_ id: ConnectionID, _ reason: MediaConnectionClosure) -> Path? {
        guard let stream = self[id] else { return nil }
        places[Int(id.place)] = nil
        freePlaces.append(id.place)
        unproven.removeAll { $0 === stream }
        // The counters are updated before the peer can notice the end.
        metrics.mediaConnectionsActive.decrement()
        metrics.mediaConnectionsClosed[reason].increment()
        _ = stream.drain()
        stream.connection.close()
        return stream.path
    }

    /// Closes the unproven connections whose time is over.
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
