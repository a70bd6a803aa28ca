package import Primitives

/// The packet memory of one worker: a slab of receive slots, one of transmit slots, and the queues to its sockets.
///
///     receive(from:) ─▶ slot 0…n−1 ─▶ changed in place ─▶ queue(slot:) ─┐
///                                       own packets ─▶ queue(copying:) ─┴▶ flush() ─▶ sendmmsg per socket
///
/// Nothing is allocated per packet. A received packet that is relayed is never moved: it is sent from the slot in which
/// it arrived, which must not be changed between `queue(slot:)` and `flush()`.
///
/// Sockets may belong to other workers: several threads may send on a socket, and only one receives.
@safe
package struct DatagramPool: ~Copyable {
    /// Bytes per slot: the largest UDP payload on an Ethernet path, and room for an SRTP trailer.
    package static let slotSize = 2048

    private let sockets: [UDPSocket]
    /// The most datagrams that one `receive` takes.
    package let slots: Int
    private let transmitSlots: Int
    /// The receive slots, followed by the transmit slots.
    private let memory: UnsafeMutablePointer<UInt8>
    private let inbound: MessageVector
    /// By socket; made when a datagram is first sent on the socket.
    private var outbound: [OutboundQueue?]
    /// The queues that have been made, with their sockets.
    private var queues: [(queue: OutboundQueue, socket: UDPSocket)] = []
    private var received = 0
    private var copied = 0
    private var unreported = Transmissions()

    /// Makes a pool with all its memory.
    ///
    /// - Parameters:
    ///   - sockets: The sockets in the order of their `SocketIndex`.
    ///   - slots: The most datagrams that one `receive` takes; 64 unless given.
    ///   - transmitSlots: The number of copied datagrams after which the pool flushes by itself; 64 unless given.
    package init(sockets: [UDPSocket], slots: Int = 64, transmitSlots: Int = 64) {
        precondition(slots > 0 && transmitSlots > 0, "a pool needs slots")
        self.sockets = sockets
        self.slots = slots
        self.transmitSlots = transmitSlots
        let size = (slots + transmitSlots) * Self.slotSize
        unsafe memory = .allocate(capacity: size)
        unsafe memory.initialize(repeating: 0, count: size)
        inbound = MessageVector(capacity: slots)
        for slot in 0..<slots { unsafe inbound.setBuffer(slot, memory + slot * Self.slotSize, count: Self.slotSize) }
        outbound = sockets.map { _ in nil }
    }

    deinit { unsafe memory.deallocate() }

    /// Receives the datagrams that wait in a socket, at most one per slot. Returns their number; fewer than `slots`
    /// means that the socket is empty.
    ///
    /// The slots are overwritten; datagrams that are still queued from them are sent first.
    package mutating func receive(from socket: SocketIndex) -> Int {
        transmit()
        received = inbound.receive(from: sockets[Int(socket.rawValue)].fileDescriptor, resetting: received)
        return received
    }

    /// Empties the slots for packets from another source. Datagrams that are still queued from them are sent first.
    package mutating func emptySlots() {
        transmit()
        received = 0
    }

    /// Takes the next slot for a packet from another source; `nil` if all slots are in use. The slot holds an empty
    /// packet until `fill`.
    package mutating func takeSlot(from remote: SocketAddress) -> Int? {
        guard received < slots else { return nil }
        inbound.setReceived(received, count: 0, from: remote)
        received += 1
        return received - 1
    }

    /// Takes the next packet of a mailbox into the next slot; `nil` if there is no packet or no free slot.
    package mutating func receive(from mailbox: PacketMailbox) -> (
        slot: Int, path: Path, direction: PacketMailbox.Direction
    )? {
        guard received < slots, let taken = unsafe mailbox.take(into: memory + received * Self.slotSize) else {
            return nil
        }
        inbound.setReceived(received, count: taken.count, from: taken.path.remote)
        received += 1
        return (received - 1, taken.path, taken.direction)
    }

    /// Sets the size of the packet that was written into a slot.
    package mutating func fill(_ slot: Int, count: Int) {
        precondition(count >= 0 && count <= Self.slotSize, "a packet ends within its slot")
        inbound.setReceived(slot, count: count, from: remote(slot))
    }

    /// Returns the slot that was taken last.
    package mutating func giveBackSlot() {
        precondition(received > 0, "a slot was taken")
        received -= 1
    }

    /// The sender's address of the datagram in a slot.
    package func remote(_ slot: Int) -> SocketAddress {
        checkReceived(slot)
        guard let remote = inbound.remote(slot) else {
            preconditionFailure("an Internet socket received from another family")
        }
        return remote
    }

    /// The size of the datagram in a slot, in bytes.
    package func count(_ slot: Int) -> Int {
        checkReceived(slot)
        return inbound.count(slot)
    }

    /// Whether the datagram was larger than the slot, so that its end is lost.
    package func isTruncated(_ slot: Int) -> Bool {
        checkReceived(slot)
        return inbound.isTruncated(slot)
    }

    /// The datagram in a slot.
    @_lifetime(borrow self)
    package func datagram(_ slot: Int) -> Span<UInt8> { bytes(slot, count: inbound.count(slot)) }

    /// The first `count` bytes of a slot, which may be more or fewer than were received.
    @_lifetime(borrow self)
    package func bytes(_ slot: Int, count: Int) -> Span<UInt8> {
        checkReceived(slot)
        precondition(count >= 0 && count <= Self.slotSize, "a packet ends within its slot")
        let bytes = unsafe Span(_unsafeStart: UnsafePointer(memory + slot * Self.slotSize), count: count)
        return unsafe _overrideLifetime(bytes, borrowing: self)
    }

    /// The whole memory of a slot: the datagram, and room behind it to let it grow.
    @_lifetime(&self)
    package mutating func slot(_ slot: Int) -> MutableSpan<UInt8> {
        checkReceived(slot)
        let bytes = unsafe MutableSpan(_unsafeStart: memory + slot * Self.slotSize, count: Self.slotSize)
        return unsafe _overrideLifetime(bytes, mutating: &self)
    }

    /// Queues the first `count` bytes of a receive slot without copying them.
    package mutating func queue(slot: Int, count: Int, to remote: SocketAddress, via socket: SocketIndex) {
        checkReceived(slot)
        precondition(count >= 0 && count <= Self.slotSize, "a datagram ends within its slot")
        unsafe enqueue(memory + slot * Self.slotSize, count: count, to: remote, via: socket)
    }

    /// Queues a copy of `bytes`. A packet larger than a slot is counted as oversized and is not sent.
    package mutating func queue(copying bytes: Span<UInt8>, to remote: SocketAddress, via socket: SocketIndex) {
        guard bytes.count <= Self.slotSize else {
            unreported.oversized += 1
            return
        }
        if copied == transmitSlots { transmit() }
        let start = unsafe memory + (slots + copied) * Self.slotSize
        unsafe bytes.withUnsafeBufferPointer { source in
            if let base = source.baseAddress { unsafe start.update(from: base, count: source.count) }
        }
        copied += 1
        unsafe enqueue(start, count: bytes.count, to: remote, via: socket)
    }

    /// Sends everything that is queued. Returns the counts since the last call, flushes of the pool itself included.
    package mutating func flush() -> Transmissions {
        transmit()
        defer { unreported = Transmissions() }
        return unreported
    }

    private mutating func transmit() {
        for (queue, socket) in queues where queue.count > 0 {
            unreported += queue.send(to: socket.fileDescriptor)
        }
        copied = 0
    }

    @unsafe
    private mutating func enqueue(
        _ bytes: UnsafeMutablePointer<UInt8>, count: Int, to remote: SocketAddress, via socket: SocketIndex
    ) {
        let index = Int(socket.rawValue)
        let queue = if let known = outbound[index] { known } else { makeQueue(index) }
        if queue.isFull { unreported += queue.send(to: sockets[index].fileDescriptor) }
        unsafe queue.append(bytes, count: count, to: remote)
    }

    private mutating func makeQueue(_ index: Int) -> OutboundQueue {
        let queue = OutboundQueue(capacity: slots + transmitSlots)
        outbound[index] = queue
        queues.append((queue, sockets[index]))
        return queue
    }

    private func checkReceived(_ slot: Int) {
        precondition(slot >= 0 && slot < received, "this slot holds no datagram")
    }
}

/// The datagrams that wait for one socket; their bytes are not moved.
@safe
private final class OutboundQueue {
    private let messages: MessageVector
    private(set) var count = 0

    init(capacity: Int) { messages = MessageVector(capacity: capacity) }

    var isFull: Bool { count == messages.capacity }

    @unsafe
    func append(_ bytes: UnsafeMutablePointer<UInt8>, count length: Int, to remote: SocketAddress) {
        unsafe messages.setBuffer(count, bytes, count: length)
        messages.setRemote(count, remote)
        count += 1
    }

    func send(to descriptor: Int32) -> Transmissions {
        defer { count = 0 }
        return messages.send(count, to: descriptor)
    }
}
