package import Primitives

/// The packets that were sent over a transport under transport-wide sequence numbers, until feedback says what came of
/// them (draft-holmer-rmcat-transport-wide-cc-extensions-01 §2).
///
/// What is remembered lies in a ring of fixed size, made with the first packet; nothing is allocated after that.
package struct SentPackets: Equatable, Sendable {
    /// Packets that are remembered, a power of two: more than a second of 10 Mbit/s.
    package static let capacity = 2_048

    /// What is known of one packet.
    package struct Packet: Equatable, Sendable {
        /// Microseconds, modulo 2³²: only differences mean anything.
        package var sentAt: UInt32
        /// The length of the packet, in bytes.
        package var octets: Int
    }

    private struct Entry: Equatable, Sendable {
        var sentAt: UInt32 = 0
        /// 0 once it is known that the packet came.
        var octets: UInt16 = 0
        var isCountedAsLost = false
    }

    /// By the low bits of the number.
    private var entries: [Entry] = []
    /// The unwrapped number of the next packet; the first is 1.
    private var next: Int64 = 1

    package init() {}

    /// Gives the next packet its number.
    ///
    /// - Parameter octets: The length of the packet, 1 ... 65,535; longer ones count as that.
    package mutating func packetSent(octets: Int, at now: MonotonicTime) -> SequenceNumber {
        if entries.isEmpty { entries = [Entry](repeating: Entry(), count: Self.capacity) }
        let number = next
        entries[Self.slot(number)] = Entry(
            sentAt: UInt32(truncatingIfNeeded: now.nanoseconds / 1_000), octets: UInt16(clamping: octets))
        next += 1
        return SequenceNumber(UInt16(truncatingIfNeeded: number))
    }

    /// The packet has arrived; `nil` for one that nothing is known of (any more), or that is known to have arrived.
    package mutating func packetArrived(_ number: SequenceNumber) -> Packet? {
        guard let slot = slot(of: number), entries[slot].octets > 0 else { return nil }
        defer { entries[slot].octets = 0 }
        return Packet(sentAt: entries[slot].sentAt, octets: Int(entries[slot].octets))
    }

    /// The packet has not arrived; `false` for one that nothing is known of, or that was said to have arrived or to be
    /// lost before.
    package mutating func packetLost(_ number: SequenceNumber) -> Bool {
        guard let slot = slot(of: number), entries[slot].octets > 0, !entries[slot].isCountedAsLost else {
            return false
        }
        entries[slot].isCountedAsLost = true
        return true
    }

    /// Where a packet that was sent a short while ago is remembered.
    private func slot(of number: SequenceNumber) -> Int? {
        let newest = next - 1
        let place = newest + Int64(Int16(bitPattern: number.rawValue &- UInt16(truncatingIfNeeded: newest)))
        guard !entries.isEmpty, place <= newest, place >= 1, place > newest - Int64(Self.capacity) else { return nil }
        return Self.slot(place)
    }

    private static func slot(_ place: Int64) -> Int { Int(truncatingIfNeeded: place) & (capacity - 1) }
}
