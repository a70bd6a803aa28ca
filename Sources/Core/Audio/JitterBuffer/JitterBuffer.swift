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
    /// More than half a second of the largest packets of 20 ms (RFC 6716 §3.4), or of any smaller ones.
    private static let byteCapacity = 40 * 1_276

    /// In the order of position.
    private var packets: [Packet] = []
    /// Payloads, one behind the other as they came, with holes where packets have left; so many bytes count.
    private var bytes = [UInt8](repeating: 0, count: byteCapacity)
    private var byteCount = 0

    package init() { packets.reserveCapacity(Self.capacity) }

    package var count: Int { packets.count }
    package var first: Packet? { packets.first }
    /// The end of the last packet.
    package var end: Int64? { packets.last.map { $0.position + Int64($0.sampleCount) } }

    /// Takes a copy of a payload.
    ///
    /// - Parameter played: whatever lies before it is late.
    package mutating func insert(
        _ payload: Span<UInt8>, number: SequenceNumber, position: Int64, sampleCount: Int, isNoise: Bool = false, played: Int64
    ) -> Insertion {
        guard position + Int64(sampleCount) > played else { return .late }
        guard payload.count <= Self.maximumPayload, sampleCount > 0, packets.count < Self.capacity else { return .refused }
        var place = packets.count
        while place > 0, packets[place - 1].position >= position {
            if packets[place - 1].position == position { return .duplicate }
            place -= 1
        }
        if byteCount + payload.count > Self.byteCapacity { closeHoles() }
        guard byteCount + payload.count <= Self.byteCapacity else { return .refused }
        for index in payload.indices { bytes[byteCount + index] = payload[index] }
        let packet = Packet(
            number: number, position: position, sampleCount: sampleCount, isNoise: isNoise, start: byteCount, length: payload.count)
        packets.insert(packet, at: place)
        byteCount += payload.count
        return .accepted
    }

    /// Takes the first packet out; its payload stays readable until the next insertion.
    package mutating func removeFirst() -> Packet { packets.removeFirst() }

    @_lifetime(borrow self)
    package func payload(of packet: Packet) -> Span<UInt8> {
        bytes.span.extracting(packet.start..<(packet.start + packet.length))
    }

    package mutating func removeAll() {
        packets.removeAll(keepingCapacity: true)
        byteCount = 0
    }

    /// Moves payloads together, the one that lies first first: nothing is written over before it has been moved.
    private mutating func closeHoles() {
        var (moved, free) = (0, 0)
        while let place = nextPlace(from: moved) {
            let start = packets[place].start
            for index in 0..<packets[place].length { bytes[free + index] = bytes[start + index] }
            packets[place].start = free
            moved = start + max(1, packets[place].length)
            free += packets[place].length
        }
        byteCount = free
    }

    /// The packet whose payload lies first from `start` on.
    private func nextPlace(from start: Int) -> Int? {
        var best: Int?
        for place in packets.indices where packets[place].start >= start {
            if best.map({ packets[place].start < packets[$0].start }) ?? true { best = place }
        }
        return best
    }
}
