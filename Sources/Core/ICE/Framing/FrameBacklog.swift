/// Frames for a byte stream (RFC 4571 §2) that the peer has not taken yet.
///
/// The buffer has a fixed size. A frame that does not fit as a whole is refused, so a slow peer loses packets and costs
/// no memory.
package struct FrameBacklog: Sendable {
    /// A ring buffer, allocated once.
    private var bytes: [UInt8]
    private var start = 0
    /// The number of bytes that wait, including length fields.
    package private(set) var count = 0

    /// Makes an empty backlog for `capacity` bytes.
    package init(capacity: Int) {
        bytes = [UInt8](repeating: 0, count: capacity)
    }

    /// Whether no byte waits.
    package var isEmpty: Bool { count == 0 }

    /// Appends a packet with its length field; `false` if it does not fit.
    package mutating func append(_ packet: Span<UInt8>) -> Bool {
        guard packet.count <= Int(UInt16.max), FrameReader.headerSize + packet.count <= bytes.count - count else {
            return false
        }
        append(UInt8(truncatingIfNeeded: packet.count >> 8))
        append(UInt8(truncatingIfNeeded: packet.count))
        for index in packet.indices { append(packet[index]) }
        return true
    }

    /// The next bytes to write that are contiguous in memory; empty only if nothing waits.
    package var front: Span<UInt8> {
        @_lifetime(borrow self)
        get { bytes.span.extracting(start..<min(start + count, bytes.count)) }
    }

    /// Removes the first `taken` bytes, which have been written.
    package mutating func removeFirst(_ taken: Int) {
        precondition(taken >= 0 && taken <= count, "what has left was there")
        count -= taken
        start = count == 0 ? 0 : (start + taken) % bytes.count
    }

    /// Removes everything.
    package mutating func removeAll() { removeFirst(count) }

    private mutating func append(_ byte: UInt8) {
        let end = start + count
        bytes[end < bytes.count ? end : end - bytes.count] = byte
        count += 1
    }
}
