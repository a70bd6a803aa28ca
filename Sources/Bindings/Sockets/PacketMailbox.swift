package import Primitives

/// A bounded queue of packets to one owner: any thread sends, one thread takes, first in first out.
///
/// Its memory is allocated with the first packet, and the kernel provides it page by page; nothing is allocated after
/// that.
package final class PacketMailbox: Sendable {
    /// Where a packet is going.
    package enum Direction: Sendable {
        /// The packet came from a peer, and is for a leg of the receiving worker.
        case inbound
        /// The packet is for a peer, over a connection of the receiving worker.
        case outbound
    }

    private let ring: Lock<Ring>
    private let wakeUp: WakeUp

    /// Makes an empty mailbox.
    ///
    /// - Parameters:
    ///   - capacity: The most packets that wait, above 0; the next one is refused.
    ///   - wakeUp: Woken by every packet, because the owner may leave some packets for later.
    package init(capacity: Int, wakeUp: WakeUp) {
        ring = Lock(Ring(capacity: capacity))
        self.wakeUp = wakeUp
    }

    /// Queues a copy of a packet. Returns `false` if the mailbox is full, or the packet exceeds
    /// `DatagramPool.slotSize`.
    package func send(_ packet: Span<UInt8>, over path: Path, _ direction: Direction) -> Bool {
        guard packet.count <= DatagramPool.slotSize else { return false }
        let hadRoom = unsafe packet.withUnsafeBufferPointer { bytes in
            ring.withLock { ring in unsafe ring.append(bytes, path, direction) }
        }
        if hadRoom { wakeUp.wake() }
        return hadRoom
    }

    /// The number of packets that wait.
    package var count: Int { ring.withLock { $0.count } }

    /// Moves the first packet to the memory at `slot`; `nil` if there is none.
    @unsafe
    func take(into slot: UnsafeMutablePointer<UInt8>) -> (path: Path, count: Int, direction: Direction)? {
        ring.withLock { ring in unsafe ring.removeFirst(into: slot) }
    }
}

/// Packets in slots of one size, used as a ring.
@safe
// It is reached only under the lock, and keeps no pointer that it is given.
private struct Ring: ~Copyable, @unchecked Sendable {
    private struct Entry {
        var path: Path
        var count: Int
        var direction: PacketMailbox.Direction
    }

    private let capacity: Int
    private var memory: UnsafeMutablePointer<UInt8>?
    private var entries: [Entry] = []
    private var first = 0
    private(set) var count = 0

    init(capacity: Int) {
        precondition(capacity > 0, "a mailbox has room")
        self.capacity = capacity
        unsafe memory = nil
    }

    deinit { unsafe memory?.deallocate() }

    @unsafe
    mutating func append(_ bytes: UnsafeBufferPointer<UInt8>, _ path: Path, _ direction: PacketMailbox.Direction)
        -> Bool
    {
        guard count < capacity else { return false }
        let memory = unsafe self.memory ?? setMemoryAside()
        let entry = Entry(path: path, count: bytes.count, direction: direction)
        let place = (first + count) % capacity
        if place == entries.count {
            entries.append(entry)
        } else {
            entries[place] = entry
        }
        if let base = bytes.baseAddress {
            unsafe (memory + place * DatagramPool.slotSize).initialize(from: base, count: bytes.count)
        }
        count += 1
        return true
    }

    @unsafe
    private mutating func setMemoryAside() -> UnsafeMutablePointer<UInt8> {
        let memory = UnsafeMutablePointer<UInt8>.allocate(capacity: capacity * DatagramPool.slotSize)
        unsafe self.memory = memory
        entries.reserveCapacity(capacity)
        return unsafe memory
    }

    @unsafe
    mutating func removeFirst(into slot: UnsafeMutablePointer<UInt8>) -> (
        path: Path, count: Int, direction: PacketMailbox.Direction
    )? {
        guard count > 0, let memory = unsafe memory else { return nil }
        let entry = entries[first]
        unsafe slot.update(from: memory + first * DatagramPool.slotSize, count: entry.count)
        first = (first + 1) % capacity
        count -= 1
        return (entry.path, entry.count, entry.direction)
    }
}
