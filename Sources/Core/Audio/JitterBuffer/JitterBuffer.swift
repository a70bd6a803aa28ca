package import Primitives

/// Packets of one stream that wait to be decoded, in the order of their timestamps; memory for all of them is taken once.
///
/// Time is counted in samples of 48 kHz from the first packet on, without wrapping.
package struct JitterBuffer: ~Copyable {
    package struct Packet: Equatable, Sendable {
        package var number: SequenceNumber
        /// Where its audio begins.
        package var position: Int64
        /// How much audio it holds.
        package var sampleCount: Int
        /// Its payload describes noise that goes on until audio comes (RFC 3389).
        package var isNoise = false
        var start: Int
        var length: Int
    }

    package enum Insertion: Equatable, Sendable {
        case accepted
        case duplicate
        /// Its time to be played is over.
        case late
        /// There is no room for it, or it is larger than any that audio has.
        case refused
    }

    /// More than half a second of packets of 2.5 ms.
    package static let capacity = 256
    /// What fits a datagram.
    package static let maximumPayload = 1_500
    /// Bytes that may wait: more than half a second of the largest packets of 20 ms (RFC 6716 §3.4), or of any smaller ones.
    package static let byteLimit = 30 * 1_276
    /// A third more than may wait: payloads are moved together at most once while so much comes, however full the buffer is.
    private static let byteCapacity = 40 * 1_276

    /// In the order of position.
    private var packets: [Packet] = []
    /// Payloads, one behind the other as they came, with holes where packets have left; so many bytes count.
    private var bytes = [UInt8](repeating: 0, count: byteCapacity)
    private var byteCount = 0
    /// Bytes of the packets that wait, which is what counts without the holes.
    private var waitingBytes = 0
    /// How often payloads have been moved together.
    package private(set) var moves: UInt64 = 0

    package init() { packets.reserveCapacity(Self.capacity) }

    package var count: Int { packets.count }
    package var first: Packet? { packets.first }
    /// The end of the last packet.
    package var end: Int64? { packets.last.map { $0.position + Int64($0.sampleCount) } }

    /// Takes a copy of a payload.
    ///
    /// - Parameter played: whatever lies before it is late.
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

    /// Takes the first packet out; its payload stays readable until the next insertion.
    package mutating func removeFirst() -> Packet {
        waitingBytes -= packets[0].length
        return packets.removeFirst()
    }

    @_lifetime(borrow self)
    package func payload(of packet: Packet) -> Span<UInt8> {
        bytes.span.extracting(packet.start..<(packet.start + packet.length))
    }

    package mutating func removeAll() {
        packets.removeAll(keepingCapacity: true)
        byteCount = 0
        waitingBytes = 0
    }

    /// Moves payloads together, the one that lies first first: nothing is written over before it has been moved.
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

    /// The places of the packets, in the order in which their payloads lie: sorted by one byte of `start` after the other, so that the
    /// order in which they came costs nothing.
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
