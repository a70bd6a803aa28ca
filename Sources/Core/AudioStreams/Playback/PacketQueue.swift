import Audio

/// Opus packets that wait, first in first out.
struct PacketQueue: Equatable, Sendable {
    /// Packets at the front that were taken, before they are freed.
    private static let slack = 256

    /// The longest packet, in bytes: the longest frame of Opus (RFC 6716 §3.2), one of which fits into an RTP packet.
    static let maximumLength = 1_275

    private var packets: [(bytes: [UInt8], samples: Int)] = []
    private var start = 0

    static func == (a: Self, b: Self) -> Bool {
        a.packets[a.start...].elementsEqual(b.packets[b.start...]) { $0.bytes == $1.bytes }
    }

    /// The samples of 48,000 Hz of a packet; `nil` if it is none.
    static func samples(of packet: [UInt8]) -> Int? { OpusPacket.sampleCount(of: packet.span) }

    mutating func append(_ packet: [UInt8], _ samples: Int) { packets.append((packet, samples)) }

    mutating func removeFirst() -> (bytes: [UInt8], samples: Int)? {
        guard start < packets.count else { return nil }
        let first = packets[start]
        start += 1
        if start == packets.count {
            removeAll()
        } else if start >= Self.slack {
            packets.removeFirst(start)
            start = 0
        }
        return first
    }

    mutating func removeAll() {
        packets = []
        start = 0
    }
}
