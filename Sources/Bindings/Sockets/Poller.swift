internal import CLinux
internal import Glibc
package import Primitives

/// Waits for packets, a wake-up or a point in time, whichever comes first (epoll(7), level-triggered).
@safe
package struct Poller: ~Copyable {
    /// Whether the last wait ended, among other things, by a wake-up.
    package private(set) var wasWoken: Bool

    private static let capacity = 64
    private static let wakeUpTag = UInt64.max
    private let descriptor: Int32
    private let events: UnsafeMutablePointer<epoll_event>
    private let wakeUp: WakeUp
    private var readySockets: [SocketIndex]
    /// Before Linux 5.11, and under some sandboxes, there is no wait with nanoseconds.
    private var hasNanosecondWait: Bool

    package init(wakeUp: WakeUp) throws(SocketError) {
        let descriptor = epoll_create1(Int32(EPOLL_CLOEXEC))
        guard descriptor >= 0 else { throw SocketError(latest: "epoll_create1") }
        do {
            try Self.register(wakeUp.fileDescriptor, tag: Self.wakeUpTag, with: descriptor)
        } catch {
            close(descriptor)
            throw error
        }
        self.descriptor = descriptor
        self.wakeUp = wakeUp
        unsafe events = .allocate(capacity: Self.capacity)
        unsafe events.initialize(repeating: epoll_event(), count: Self.capacity)
        readySockets = []
        readySockets.reserveCapacity(Self.capacity)
        wasWoken = false
        hasNanosecondWait = true
    }

    deinit {
        unsafe events.deallocate()
        close(descriptor)
    }

    /// From now on a wait ends when `socket` has datagrams; it is reported as `index`. Closing the socket removes it.
    package mutating func add(_ socket: UDPSocket, as index: SocketIndex) throws(SocketError) {
        try Self.register(socket.fileDescriptor, tag: UInt64(index.rawValue), with: descriptor)
    }

    /// Waits; `nil` is for ever, a time in the past only looks. Returns how many sockets are ready.
    package mutating func wait(until deadline: MonotonicTime?) throws(SocketError) -> Int {
        readySockets.removeAll(keepingCapacity: true)
        wasWoken = false
        let count = try waitForEvents(until: deadline)
        for index in 0..<count {
            let tag = unsafe events[index].data.u64
            if tag == Self.wakeUpTag {
                wasWoken = true
                wakeUp.acknowledge()
            } else {
                readySockets.append(SocketIndex(UInt16(truncatingIfNeeded: tag)))
            }
        }
        return readySockets.count
    }

    /// The sockets that the last wait found ready.
    package func readySocket(_ index: Int) -> SocketIndex { readySockets[index] }

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

    /// Rounds up: to wake early is to wake twice.
    private func millisecondWait(_ left: Duration?) -> Int32 {
        let milliseconds = left.map { Int32(clamping: ($0.wholeNanoseconds / 1_000_000) + ($0.wholeNanoseconds % 1_000_000 > 0 ? 1 : 0)) }
        return unsafe epoll_wait(descriptor, events, Int32(Self.capacity), milliseconds ?? -1)
    }

    private static func register(_ target: Int32, tag: UInt64, with descriptor: Int32) throws(SocketError) {
        var event = unsafe epoll_event(events: EPOLLIN.rawValue, data: epoll_data_t(u64: tag))
        guard unsafe epoll_ctl(descriptor, EPOLL_CTL_ADD, target, &event) == 0 else { throw SocketError(latest: "epoll_ctl") }
    }
}
