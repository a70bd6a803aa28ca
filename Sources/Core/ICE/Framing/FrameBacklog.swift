/// Frames on their way into a byte stream (RFC 4571 §2) that the far end has not taken yet.
///
/// A fixed number of bytes: a frame finds room whole or is refused, so that a slow reader costs packets and no memory.
package struct FrameBacklog: Sendable {
    /// A ring; allocated once.
    private var bytes: [UInt8]
    private var start = 0
    package private(set) var count = 0

    package init(capacity: Int) {
        bytes = [UInt8](repeating: 0, count: capacity)
    }

    package var isEmpty: Bool { count == 0 }

    /// Appends a packet with its length before it; `false` if there is no room.
    package mutating func append(_ packet: Span<UInt8>) -> Bool {
        guard packet.count <= Int(UInt16.max), FrameReader.headerSize + packet.count <= bytes.count - count else {
            return false
        }
        append(UInt8(truncatingIfNeeded: packet.count >> 8))
        append(UInt8(truncatingIfNeeded: packet.count))
        for index in packet.indices { append(packet[index]) }
        return true
    }

    /// What comes next, as far as it lies in one piece; empty only if nothing is left.
    package var front: Span<UInt8> {
        @_lifetime(borrow self)
        get { bytes.span.extracting(start..<min(start + count, bytes.count)) }
    }

    /// The first `taken` bytes have left.
    package mutating func removeFirst(_ taken: Int) {
        precondition(taken >= 0 && taken <= count, "what has left was there")
        count -= taken
        start = count == 0 ? 0 : (start + taken) % bytes.count
    }

    package mutating func removeAll() { removeFirst(count) }

    private mutating func append(_ byte: UInt8) {
        let end = start + count
        bytes[end < bytes.count ? end : end - bytes.count] = byte
        count += 1
    }
}
