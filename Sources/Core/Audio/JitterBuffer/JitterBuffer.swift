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
        var slot: Int
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

    /// More than half a second of packets of 10 ms.
    package static let capacity = 64
    /// The largest payload of audio (RFC 6716 §3.4: one frame).
    package static let maximumPayload = 1_276

    /// In the order of position.
    private var packets: [Packet] = []
    private var free: [Int]
    private var bytes: [UInt8]

    package init() {
        packets.reserveCapacity(Self.capacity)
        free = Array((0..<Self.capacity).reversed())
        bytes = [UInt8](repeating: 0, count: Self.capacity * Self.maximumPayload)
    }

    package var count: Int { packets.count }
    package var first: Packet? { packets.first }
    /// The end of the last packet.
    package var end: Int64? { packets.last.map { $0.position + Int64($0.sampleCount) } }

    /// Takes a copy of a payload.
    ///
    /// - Parameter played: whatever lies before it is late.
    package mutating func insert(
        _ payload: Span<UInt8>, number: SequenceNumber, position: Int64, sampleCount: Int, played: Int64
    ) -> Insertion {
        guard position + Int64(sampleCount) > played else { return .late }
        guard payload.count <= Self.maximumPayload, sampleCount > 0 else { return .refused }
        var place = packets.count
        while place > 0, packets[place - 1].position >= position {
            if packets[place - 1].position == position { return .duplicate }
            place -= 1
        }
        guard let slot = free.popLast() else { return .refused }
        let start = slot * Self.maximumPayload
        for index in payload.indices { bytes[start + index] = payload[index] }
        packets.insert(Packet(number: number, position: position, sampleCount: sampleCount, slot: slot, length: payload.count), at: place)
        return .accepted
    }

    /// Takes the first packet out; its payload stays readable until the next insertion.
    package mutating func removeFirst() -> Packet {
        let packet = packets.removeFirst()
        free.append(packet.slot)
        return packet
    }

    @_lifetime(borrow self)
    package func payload(of packet: Packet) -> Span<UInt8> {
        let start = packet.slot * Self.maximumPayload
        return bytes.span.extracting(start..<(start + packet.length))
    }

    package mutating func removeAll() {
        while !packets.isEmpty { _ = removeFirst() }
    }
}
