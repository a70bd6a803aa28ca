internal import ICE
internal import Primitives
internal import Sockets

/// One TCP connection of a worker: its frames in both directions, and whether its far end has shown who it is.
///
/// Confined to its worker's thread.
final class StreamConnection {
    let id: ConnectionID
    let path: Path
    /// When it is closed if no valid check has come; `nil` once one has.
    private(set) var deadline: MonotonicTime?
    let connection: TCPConnection
    var reader = FrameReader(maximumLength: DatagramPool.slotSize)
    /// Allocated with the first packet out.
    private var backlog: FrameBacklog?
    private let backlogBytes: Int
    /// Packets wait, and the end of the round sends them.
    var isQueued = false
    /// Packets wait for the far end; the poller says when it takes more.
    var awaitsRoom = false

    init(id: ConnectionID, path: Path, connection: TCPConnection, deadline: MonotonicTime, backlogBytes: Int) {
        self.id = id
        self.path = path
        self.connection = connection
        self.deadline = deadline
        self.backlogBytes = backlogBytes
    }

    var isProven: Bool { deadline == nil }

    func prove() { deadline = nil }

    /// Queues a packet; `false` if the far end owes too much already.
    func append(_ packet: Span<UInt8>) -> Bool {
        if backlog == nil { backlog = FrameBacklog(capacity: backlogBytes) }
        return backlog?.append(packet) ?? false
    }

    /// Writes what waits, as far as there is room; returns whether all of it is gone.
    func drain() -> Bool {
        while let backlog, !backlog.isEmpty {
            switch connection.send(backlog.front) {
            case .bytes(let count): self.backlog?.removeFirst(count)
            case .wouldBlock: return false
            // The poller reports it, and what reads it closes the connection.
            case .closed: self.backlog?.removeAll()
            }
        }
        return true
    }
}
