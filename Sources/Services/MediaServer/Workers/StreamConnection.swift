internal import ICE
internal import Primitives
internal import Sockets

/// One TCP connection of a worker: its frames in both directions, and whether the peer has authenticated itself.
///
/// Confined to its worker's thread, which made it; a debug build asserts it.
final class StreamConnection {
    let id: ConnectionID
    let path: Path
    /// When the connection is closed unless a valid check comes first; `nil` after one has come.
    private(set) var deadline: MonotonicTime?
    let connection: TCPConnection
    var reader = FrameReader(maximumLength: DatagramPool.slotSize)
    /// The packets to be sent; allocated with the first one.
    private var backlog: FrameBacklog?
    private let backlogBytes: Int
    /// Packets wait to be sent at the end of the round.
    var isQueued = false
    /// Packets wait because the kernel's buffer is full; the poller reports when there is room again.
    var awaitsRoom = false

    private let owner = OwnerThread()

    init(id: ConnectionID, path: Path, connection: TCPConnection, deadline: MonotonicTime, backlogBytes: Int) {
        self.id = id
        self.path = path
        self.connection = connection
        self.deadline = deadline
        self.backlogBytes = backlogBytes
    }

    private func assertOwner() { assert(owner.isCurrent, "a connection is used on its worker's thread") }

    var isProven: Bool { deadline == nil }

    func prove() {
        assertOwner()
        deadline = nil
    }

    /// Queues a packet; `false` if too many bytes wait already.
    func append(_ packet: Span<UInt8>) -> Bool {
        assertOwner()
        if backlog == nil { backlog = FrameBacklog(capacity: backlogBytes) }
        return backlog?.append(packet) ?? false
    }

    /// Writes the packets that wait, as far as the kernel takes them. Returns whether all have been written.
    func drain() -> Bool {
        assertOwner()
        while let backlog, !backlog.isEmpty {
            switch connection.send(backlog.front) {
            case .bytes(let count): self.backlog?.removeFirst(count)
            case .wouldBlock: return false
            // The poller reports this as well, and the reader then closes the connection.
            case .closed: self.backlog?.removeAll()
            }
        }
        return true
    }
}
