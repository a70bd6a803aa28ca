package import Primitives

/// Packets of one stream that wait to be decoded, in the order of their timestamps. Memory for all of them is allocated
/// once.
///
/// Time is counted in samples of 48 kHz from the first packet on, without wrapping.
package struct JitterBuffer: ~Copyable {
    /// A packet that waits; its payload lies in the buffer.
    package struct Packet: Equatable, Sendable {
        /// The RTP sequence number.
        package var number: SequenceNumber
        /// The position of its first sample.
        package var position: Int64
        /// Its length in samples per channel.
        package var sampleCount: Int
        /// Whether the payload describes comfort noise that lasts until audio comes (RFC 3389).
        package var isNoise = false
        var start: Int
        var length: Int
    }

    /// What became of a packet.
    package enum Insertion: Equatable, Sendable {
        /// The packet waits to be decoded.
        case accepted
        /// A packet for the same position waits already.
        case duplicate
        /// The time to play the packet is over.
        case late
        /// The buffer is full, the payload is too large, or the packet has no audio.
        case refused
    }

    /// The most packets that wait: more than half a second of packets of 2.5 ms.
    package static let capacity = 256
    /// The largest payload, in bytes: what fits a datagram.
    package static let maximumPayload = 1_500
    /// The most payload bytes that wait: more than half a second of the largest packets of 20 ms (RFC 6716 §3.4), or of
    /// any smaller ones.
    package static let byteLimit = 30 * 1_276
    /// The memory for payloads, a third more than `byteLimit`. However full the buffer is, at least the extra
    /// third arrives between two compactions.
    private static let byteCapacity = 40 * 1_276

    /// Sorted by position.
    private var packets: [Packet] = []
    /// Payloads in the order of their arrival, with holes where packets have left; the first `byteCount` bytes are in
    /// use.
    private var bytes = [UInt8](repeating: 0, count: byteCapacity)
    private var byteCount = 0
    /// Payload bytes of the packets that wait, without the holes.
    private var waitingBytes = 0
    /// How often payloads have been compacted.
    package private(set) var moves: UInt64 = 0

    /// Makes an empty buffer with all its memory.
    package init() { packets.reserveCapacity(Self.capacity) }

    /// The number of packets that wait.
    package var count: Int { packets.count }
    /// The packet with the lowest position; `nil` if none waits.
    package var first: Packet? { packets.first }
    /// The position behind the last sample of the last packet; `nil` if none waits.
    package var end: Int64? { packets.last.map { $0.position + Int64($0.sampleCount) } }

    /// Takes a packet, and copies its payload.
    ///
    /// - Parameters:
    ///   - payload: The RTP payload, `maximumPayload` bytes at most.
    ///   - number: The RTP sequence number.
    ///   - position: The position of its first sample.
    ///   - sampleCount: Its length in samples per channel, above 0.
    ///   - isNoise: Whether it is comfort noise.
    ///   - played: A packet that ends at or before this position is late.
    package mutating func insert(
        _ payload: Span<UInt8>, number: SequenceNumber, position: Int64, sampleCount: Int, isNoise: Bool = false,
        played: Int64
    ) -> Insertion {
        guard position + Int64(sampleCount) > played else { return .late }
        guard payload.count <= Self.maximumPayload, sampleCount > 0, packets.count < Self.capacity else {
            return .refused
        }
        var place = packets.count
        while place > 0, packets[place - 1].position >= position {
            if packets[place - 1].position == position { return .duplicate }
            place -= 1
        }
        guard waitingBytes + payload.count <= Self.byteLimit else { return .refused }
        if byteCount + payload.count > Self.byteCapacity { closeHoles() }
        for index in payload.indices { bytes[byteCount + index] = payload[index] }
        let packet = Packet(
            number: number, position: position, sampleCount: sampleCount, isNoise: isNoise, start: byteCount,
            length: payload.count)
        packets.insert(packet, at: place)
        byteCount += payload.count
        waitingBytes += payload.count
        return .accepted
    }

    /// Removes the first packet, of which there must be one. Its payload stays readable until the next insertion.
    package mutating func removeFirst() -> Packet {
        waitingBytes -= packets[0].length
        return packets.removeFirst()
    }

    /// The payload of a packet that waits, or was removed since the last insertion.
    @_lifetime(borrow self)
    package func payload(of packet: Packet) -> Span<UInt8> {
        bytes.span.extracting(packet.start..<(packet.start + packet.length))
    }

    /// Removes all packets; the memory is kept.
    package mutating func removeAll() {
        packets.removeAll(keepingCapacity: true)
        byteCount = 0
        waitingBytes = 0
    }

    /// Compacts the payloads in the order in which they lie, so that no payload is overwritten before it has been
    /// moved.
    private mutating func closeHoles() {
        let order = layout()
        var free = 0
        for index in packets.indices {
            let place = Int(order[index])
            let start = packets[place].start
            for offset in 0..<packets[place].length { bytes[free + offset] = bytes[start + offset] }
            packets[place].start = free
            free += packets[place].length
        }
        byteCount = free
        moves += 1
    }

    /// The indices of the packets in the order in which their payloads lie. Radix sort by the two bytes of `start`
    /// takes the same time for every order of arrival.
    private func layout() -> InlineArray<256, UInt8> {
        var order = InlineArray<256, UInt8>(repeating: 0)
        for place in packets.indices { order[place] = UInt8(place) }
        order = sorted(order, byBitsFrom: 0)
        return sorted(order, byBitsFrom: 8)
    }

    private func sorted(_ order: InlineArray<256, UInt8>, byBitsFrom shift: Int) -> InlineArray<256, UInt8> {
        var next = InlineArray<257, Int>(repeating: 0)
        for index in packets.indices { next[packets[Int(order[index])].start >> shift & 0xFF + 1] += 1 }
        for value in 1...256 { next[value] += next[value - 1] }
        var sorted = order
        for index in packets.indices {
            let value = packets[Int(order[index])].start >> shift & 0xFF
            sorted[next[value]] = order[index]
            next[value] += 1
        }
        return sorted
    }
}
