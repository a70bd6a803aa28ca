package import Primitives

/// The packet memory of one worker: a slab of receive slots, one of transmit slots, and the queues to its sockets.
///
///     receive(from:) ─▶ slot 0…n−1 ─▶ changed in place ─▶ queue(slot:) ─┐
///                                       own packets ─▶ queue(copying:) ─┴▶ flush() ─▶ sendmmsg per socket
///
/// Nothing is allocated per packet. A received packet that is relayed never moves: the slot it came in is the buffer it
/// leaves from, so it must not be changed again between `queue(slot:)` and `flush()`.
///
/// Sockets may be other workers', too: several threads may send by one, and only one receives.
@safe
package struct DatagramPool: ~Copyable {
    /// Bytes per slot: the largest UDP payload on an Ethernet path, plus room for an SRTP trailer.
    package static let slotSize = 2048

    private let sockets: [UDPSocket]
    private let slots: Int
    private let transmitSlots: Int
    /// The receive slots, then the transmit slots.
    private let memory: UnsafeMutablePointer<UInt8>
    private let inbound: MessageVector
    /// By socket; made when something is sent by it for the first time.
    private var outbound: [OutboundQueue?]
    /// Those that there are, with their sockets.
    private var queues: [(queue: OutboundQueue, socket: UDPSocket)] = []
    private var received = 0
    private var copied = 0
    private var unreported = Transmissions()

    /// - Parameters:
    ///   - sockets: addressed by `SocketIndex` from here on.
    ///   - slots: how many datagrams one `receive` takes at most.
    ///   - transmitSlots: how many copied datagrams fit before a flush happens by itself.
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

    /// Takes what waits in a socket, at most one slot's worth per slot: fewer than `slots` means the socket is empty.
    ///
    /// Overwrites the slots; what is still queued from them leaves first.
    package mutating func receive(from socket: SocketIndex) -> Int {
        transmit()
        received = inbound.receive(from: sockets[Int(socket.rawValue)].fileDescriptor, resetting: received)
        return received
    }

    /// Empties the slots for packets that come another way; what is still queued from them leaves first.
    package mutating func emptySlots() {
        transmit()
        received = 0
    }

    /// Takes the next slot for a packet that comes another way; `nil` when all are taken. It holds an empty one until `fill`.
    package mutating func takeSlot(from remote: SocketAddress) -> Int? {
        guard received < slots else { return nil }
        inbound.setReceived(received, count: 0, from: remote)
        received += 1
        return received - 1
    }

    /// Takes the next packet that another thread sent into the next slot; `nil` without either.
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

    /// The slot's first `count` bytes are the packet.
    package mutating func fill(_ slot: Int, count: Int) {
        precondition(count >= 0 && count <= Self.slotSize, "a packet ends within its slot")
        inbound.setReceived(slot, count: count, from: remote(slot))
    }

    /// Gives the slot taken last back.
    package mutating func giveBackSlot() {
        precondition(received > 0, "a slot was taken")
        received -= 1
    }

    /// Who sent the datagram in a slot.
    package func remote(_ slot: Int) -> SocketAddress {
        checkReceived(slot)
        guard let remote = inbound.remote(slot) else {
            preconditionFailure("an Internet socket received from another family")
        }
        return remote
    }

    /// The length of the datagram in a slot.
    package func count(_ slot: Int) -> Int {
        checkReceived(slot)
        return inbound.count(slot)
    }

    /// Whether the datagram was larger than the slot; its end is lost.
    package func isTruncated(_ slot: Int) -> Bool {
        checkReceived(slot)
        return inbound.isTruncated(slot)
    }

    /// The datagram in a slot.
    @_lifetime(borrow self)
    package func datagram(_ slot: Int) -> Span<UInt8> { bytes(slot, count: inbound.count(slot)) }

    /// The first bytes of a slot, which may be more or less than came in.
    @_lifetime(borrow self)
    package func bytes(_ slot: Int, count: Int) -> Span<UInt8> {
        checkReceived(slot)
        precondition(count >= 0 && count <= Self.slotSize, "a packet ends within its slot")
        let bytes = unsafe Span(_unsafeStart: UnsafePointer(memory + slot * Self.slotSize), count: count)
        return unsafe _overrideLifetime(bytes, borrowing: self)
    }

    /// A slot's whole memory: the datagram, and behind it the room to let it grow.
    @_lifetime(&self)
    package mutating func slot(_ slot: Int) -> MutableSpan<UInt8> {
        checkReceived(slot)
        let bytes = unsafe MutableSpan(_unsafeStart: memory + slot * Self.slotSize, count: Self.slotSize)
        return unsafe _overrideLifetime(bytes, mutating: &self)
    }

    /// Queues the first `count` bytes of a receive slot where they are.
    package mutating func queue(slot: Int, count: Int, to remote: SocketAddress, via socket: SocketIndex) {
        checkReceived(slot)
        precondition(count >= 0 && count <= Self.slotSize, "a datagram ends within its slot")
        unsafe enqueue(memory + slot * Self.slotSize, count: count, to: remote, via: socket)
    }

    /// Queues a copy of `bytes`.
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

    /// Sends everything queued; counts what happened since the last call, flushes that happened by themselves included.
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

/// The datagrams that wait for one socket; they stay where they are until sent.
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
