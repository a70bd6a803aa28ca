internal import CLinux
internal import Glibc
package import Primitives

/// Waits for packets, connections, a wake-up or a point in time, whichever comes first (epoll(7), level-triggered).
@safe
package struct Poller: ~Copyable {
    /// Whether the last wait was ended by a wake-up, possibly together with other events.
    package private(set) var wasWoken: Bool

    /// A connection that can be read, written or both. A broken connection is readable.
    package struct ReadyConnection: Equatable, Sendable {
        /// The connection, as it was added.
        package let id: ConnectionID
        /// Whether bytes can be read, or the connection has ended.
        package let isReadable: Bool
        /// Whether there is room for bytes, if that was asked for.
        package let isWritable: Bool
    }

    /// The kind of a tag: two bits above the index of a socket or the number of a connection.
    private enum Kind: UInt64 {
        case socket, listener, connection, wakeUp
    }

    private static let capacity = 64
    private static let kindShift: UInt64 = 62
    private let descriptor: Int32
    private let events: UnsafeMutablePointer<epoll_event>
    private let wakeUp: WakeUp
    private var readySockets: [SocketIndex]
    private var readyListeners: [SocketIndex]
    private var readyConnections: [ReadyConnection]
    /// Before Linux 5.11, and in some sandboxes, there is no wait in nanoseconds.
    private var hasNanosecondWait: Bool

    /// Makes a poller that `wakeUp` can wake from any thread.
    ///
    /// - Throws: `SocketError` with the errno of epoll_create1(2) or epoll_ctl(2).
    package init(wakeUp: WakeUp) throws(SocketError) {
        let descriptor = epoll_create1(Int32(EPOLL_CLOEXEC))
        guard descriptor >= 0 else { throw SocketError(latest: "epoll_create1") }
        do {
            try Self.control(
                EPOLL_CTL_ADD, wakeUp.fileDescriptor, EPOLLIN.rawValue, Self.tag(.wakeUp, 0), of: descriptor)
        } catch {
            close(descriptor)
            throw error
        }
        self.descriptor = descriptor
        self.wakeUp = wakeUp
        unsafe events = .allocate(capacity: Self.capacity)
        unsafe events.initialize(repeating: epoll_event(), count: Self.capacity)
        (readySockets, readyListeners, readyConnections) = ([], [], [])
        readySockets.reserveCapacity(Self.capacity)
        readyListeners.reserveCapacity(Self.capacity)
        readyConnections.reserveCapacity(Self.capacity)
        wasWoken = false
        hasNanosecondWait = true
    }

    deinit {
        unsafe events.deallocate()
        close(descriptor)
    }

    /// Adds a socket: a wait ends when it has datagrams, and reports it as `index`. Closing the socket removes it.
    ///
    /// - Throws: `SocketError` with the errno of epoll_ctl(2).
    package mutating func add(_ socket: UDPSocket, as index: SocketIndex) throws(SocketError) {
        try Self.control(
            EPOLL_CTL_ADD, socket.fileDescriptor, EPOLLIN.rawValue, Self.tag(.socket, UInt64(index.rawValue)),
            of: descriptor)
    }

    /// Adds a listener: a wait ends when a connection waits to be accepted. Closing the listener removes it.
    ///
    /// - Throws: `SocketError` with the errno of epoll_ctl(2).
    package mutating func add(_ listener: TCPListener, as index: SocketIndex) throws(SocketError) {
        try Self.control(
            EPOLL_CTL_ADD, listener.fileDescriptor, EPOLLIN.rawValue, Self.tag(.listener, UInt64(index.rawValue)),
            of: descriptor)
    }

    /// Adds a connection: a wait ends when it has bytes or has ended. Closing the connection removes it.
    ///
    /// - Throws: `SocketError` with the errno of epoll_ctl(2).
    package mutating func add(_ connection: TCPConnection, as id: ConnectionID) throws(SocketError) {
        try Self.control(
            EPOLL_CTL_ADD, connection.fileDescriptor, EPOLLIN.rawValue, Self.tag(.connection, id.rawValue),
            of: descriptor)
    }

    /// Sets whether a wait also ends when the connection has room for bytes.
    ///
    /// - Throws: `SocketError` with the errno of epoll_ctl(2).
    package mutating func awaitRoom(_ wanted: Bool, in connection: TCPConnection, as id: ConnectionID)
        throws(SocketError)
    {
        let interest = wanted ? EPOLLIN.rawValue | EPOLLOUT.rawValue : EPOLLIN.rawValue
        try Self.control(
            EPOLL_CTL_MOD, connection.fileDescriptor, interest, Self.tag(.connection, id.rawValue), of: descriptor)
    }

    /// Waits until `deadline`, or without limit if it is `nil`; a time in the past checks without waiting. Returns the
    /// number of sockets with datagrams.
    ///
    /// - Throws: `SocketError` with the errno of epoll_wait(2).
    package mutating func wait(until deadline: MonotonicTime?) throws(SocketError) -> Int {
        readySockets.removeAll(keepingCapacity: true)
        readyListeners.removeAll(keepingCapacity: true)
        readyConnections.removeAll(keepingCapacity: true)
        wasWoken = false
        let count = try waitForEvents(until: deadline)
        for index in 0..<count { note(unsafe events[index].data.u64, unsafe events[index].events) }
        return readySockets.count
    }

    private mutating func note(_ tag: UInt64, _ events: UInt32) {
        switch Kind(rawValue: tag >> Self.kindShift) {
        case .socket, nil: readySockets.append(SocketIndex(UInt16(truncatingIfNeeded: tag)))
        case .listener: readyListeners.append(SocketIndex(UInt16(truncatingIfNeeded: tag)))
        case .connection:
            let id = ConnectionID(rawValue: tag & ((1 << Self.kindShift) - 1))
            // A broken connection is read, which shows the cause.
            let isReadable = events & ~EPOLLOUT.rawValue != 0
            readyConnections.append(
                ReadyConnection(id: id, isReadable: isReadable, isWritable: events & EPOLLOUT.rawValue != 0))
        case .wakeUp:
            wasWoken = true
            wakeUp.acknowledge()
        }
    }

    /// A socket that the last wait found ready; `index` is below the number that `wait` returned.
    package func readySocket(_ index: Int) -> SocketIndex { readySockets[index] }

    /// The number of listeners that the last wait found ready.
    package var readyListenerCount: Int { readyListeners.count }
    /// A listener that the last wait found ready.
    package func readyListener(_ index: Int) -> SocketIndex { readyListeners[index] }

    /// The number of connections that the last wait found ready.
    package var readyConnectionCount: Int { readyConnections.count }
    /// A connection that the last wait found ready.
    package func readyConnection(_ index: Int) -> ReadyConnection { readyConnections[index] }

    private mutating func waitForEvents(until deadline: MonotonicTime?) throws(SocketError) -> Int {
        while true {
            let left = deadline.map { max(.zero, $0 - MonotonicClock.now) }
            let count = hasNanosecondWait ? nanosecondWait(left) : millisecondWait(left)
            if count >= 0 { return Int(count) }
            switch errno {
            case EINTR: continue
            case ENOSYS where hasNanosecondWait: hasNanosecondWait = false
            default: throw SocketError(latest: "epoll_wait")
            }
        }
    }

    private func nanosecondWait(_ left: Duration?) -> Int32 {
        guard let left else { return unsafe clinux_wait(descriptor, events, Int32(Self.capacity), nil) }
        let nanoseconds = Int(left.wholeNanoseconds)
        var timeout = timespec(tv_sec: nanoseconds / 1_000_000_000, tv_nsec: nanoseconds % 1_000_000_000)
        return unsafe clinux_wait(descriptor, events, Int32(Self.capacity), &timeout)
    }

    /// Rounds up, because an early wake-up causes a second one.
    private func millisecondWait(_ left: Duration?) -> Int32 {
        let milliseconds = left.map {
            Int32(clamping: ($0.wholeNanoseconds / 1_000_000) + ($0.wholeNanoseconds % 1_000_000 > 0 ? 1 : 0))
        }
        return unsafe epoll_wait(descriptor, events, Int32(Self.capacity), milliseconds ?? -1)
    }

    private static func tag(_ kind: Kind, _ number: UInt64) -> UInt64 { kind.rawValue << kindShift | number }

    private static func control(
        _ operation: Int32, _ target: Int32, _ interest: UInt32, _ tag: UInt64, of descriptor: Int32
    ) throws(SocketError) {
        var event = unsafe epoll_event(events: interest, data: epoll_data_t(u64: tag))
        guard unsafe epoll_ctl(descriptor, operation, target, &event) == 0 else {
            throw SocketError(latest: "epoll_ctl")
        }
    }
}
