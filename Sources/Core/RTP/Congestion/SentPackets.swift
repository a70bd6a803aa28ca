package import Primitives

/// The packets that were sent over a transport with transport-wide sequence numbers, until feedback reports what became
/// of them (draft-holmer-rmcat-transport-wide-cc-extensions-01 §2).
///
/// They are kept in a ring of fixed size, which is allocated with the first packet; nothing is allocated after that.
package struct SentPackets: Equatable, Sendable {
    /// The number of packets that are kept, a power of two: more than a second of 10 Mbit/s.
    package static let capacity = 2_048

    /// What is known of one packet.
    package struct Packet: Equatable, Sendable {
        /// The time of sending in microseconds, modulo 2³²; only differences have a meaning.
        package var sentAt: UInt32
        /// The length of the packet in bytes.
        package var octets: Int
    }

    private struct Entry: Equatable, Sendable {
        var sentAt: UInt32 = 0
        /// The length in bytes; 0 once the packet is known to have arrived.
        var octets: UInt16 = 0
        var isCountedAsLost = false
    }

    /// The ring. A packet's index is the low bits of its sequence number.
    private var entries: [Entry] = []
    /// The unwrapped sequence number of the next packet; the first one is 1.
    private var next: Int64 = 1

    /// Starts with no packet sent; the ring is allocated with the first one.
    package init() {}

    /// Records that a packet is sent, and returns its transport-wide sequence number.
    ///
    /// - Parameters:
    ///   - octets: The length of the packet in bytes, 1…65,535; longer ones count as 65,535.
    ///   - now: The time of sending.
    package mutating func packetSent(octets: Int, at now: MonotonicTime) -> SequenceNumber {
        if entries.isEmpty { entries = [Entry](repeating: Entry(), count: Self.capacity) }
        let number = next
        entries[Self.slot(number)] = Entry(
            sentAt: UInt32(truncatingIfNeeded: now.nanoseconds / 1_000), octets: UInt16(clamping: octets))
        next += 1
        return SequenceNumber(UInt16(truncatingIfNeeded: number))
    }

    /// Records that a packet has arrived. Returns `nil` if the packet is not kept (any more), or is known to have
    /// arrived.
    package mutating func packetArrived(_ number: SequenceNumber) -> Packet? {
        guard let slot = slot(of: number), entries[slot].octets > 0 else { return nil }
        defer { entries[slot].octets = 0 }
        return Packet(sentAt: entries[slot].sentAt, octets: Int(entries[slot].octets))
    }

    /// Records that a packet has not arrived. Returns `false` if the packet is not kept, or was reported before, as
    /// arrived or as lost.
    package mutating func packetLost(_ number: SequenceNumber) -> Bool {
        guard let slot = slot(of: number), entries[slot].octets > 0, !entries[slot].isCountedAsLost else {
            return false
        }
        entries[slot].isCountedAsLost = true
        return true
    }

    /// The slot of a packet that was sent a short time ago; `nil` if it is not kept.
    private func slot(of number: SequenceNumber) -> Int? {
        let newest = next - 1
        let place = newest + Int64(Int16(bitPattern: number.rawValue &- UInt16(truncatingIfNeeded: newest)))
        guard !entries.isEmpty, place <= newest, place >= 1, place > newest - Int64(Self.capacity) else { return nil }
        return Self.slot(place)
    }

    private static func slot(_ place: Int64) -> Int { Int(truncatingIfNeeded: place) & (capacity - 1) }
}
