package import Primitives

/// Puts the Opus packets of one sender in order for a file, without decoding them.
///
/// Packets wait until those before them have come, for about 60 ms; what comes later still is left out. For a gap there
/// are packets without content, in which a decoder conceals: positions in a file must not grow by more than the samples
/// of its packets (RFC 7845 §4.1). A gap is as long as the timestamps say, but hardly longer than the time that has
/// passed: what was left out, as during a hold, is none.
package struct OpusOrder: Equatable, Sendable {
    /// A packet for the file.
    package struct Packet: Equatable, Sendable {
        /// The packet.
        package let bytes: [UInt8]
        /// Samples of 48 kHz that it decodes to, 120 to 5,760.
        package let samples: Int

        /// Makes a packet of its parts; each parameter is the property of that name.
        package init(bytes: [UInt8], samples: Int) {
            self.bytes = bytes
            self.samples = samples
        }
    }

    private struct Waiting: Equatable, Sendable {
        let timestamp: RTPTimestamp
        let packet: Packet
        var cycles = 0
    }

    /// So many cycles of 20 ms a packet waits for those before it.
    private static let patience = 3
    /// The most packets that wait. A sender that sends more of them in 60 ms is out of its mind.
    private static let maximumWaiting = 64
    /// The samples of a cycle.
    private static let cycle = 960
    /// By so many samples packets may be late without a gap.
    private static let slack = 4_800
    /// After so many samples of nothing the file goes on without waiting for the end of the gap.
    private static let longestGap = 48_000
    /// Code 0, CELT, full band, one channel: with a frame of 20 ms (RFC 6716 §3.1).
    private static let plain: UInt8 = 31 << 3

    /// In the order of their timestamps.
    private var waiting: [Waiting] = []
    /// The timestamp behind the packet that was handed out last; `nil`: none was since the stream started.
    private var end: RTPTimestamp?
    /// The samples of the packets without content that were handed out behind that one.
    private var filled = 0
    /// The samples that have passed since anything was handed out.
    private var passed = 0
    /// The first byte of a packet without content that follows the last one.
    private var empty = plain

    /// Nothing has come.
    package init() {}

    /// A packet has come. What is no Opus packet, came before, or comes too late is left out.
    package mutating func insert(_ payload: Span<UInt8>, timestamp: RTPTimestamp) {
        guard let samples = OpusPacket.sampleCount(of: payload), waiting.count < Self.maximumWaiting else { return }
        if let end, end.isNewer(than: timestamp) { return }
        let place = waiting.lastIndex { !$0.timestamp.isNewer(than: timestamp) }
        if let place, waiting[place].timestamp == timestamp { return }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(payload.count)
        for index in payload.indices { bytes.append(payload[index]) }
        let packet = Packet(bytes: bytes, samples: samples)
        waiting.insert(Waiting(timestamp: timestamp, packet: packet), at: place.map { $0 + 1 } ?? 0)
    }

    /// Another 20 ms have passed.
    ///
    /// - Returns: what belongs at the end of the file.
    package mutating func pass() -> [Packet] {
        passed += Self.cycle
        for index in waiting.indices { waiting[index].cycles += 1 }
        var packets: [Packet] = []
        // The first that has waited for long enough lets those before it go, too.
        let patient = waiting.lastIndex { $0.cycles > Self.patience }
        if let patient {
            for _ in 0...patient { packets += takeFirst() }
        }
        while let first = waiting.first, first.timestamp == end { packets += takeFirst() }
        if waiting.isEmpty, passed > Self.longestGap { packets += fill(passed - Self.slack) }
        return packets
    }

    /// The stream starts anew, with other timestamps, or what follows it is left out for a while.
    ///
    /// - Returns: what belongs at the end of the file before.
    package mutating func restart() -> [Packet] {
        var packets: [Packet] = []
        while !waiting.isEmpty { packets += takeFirst() }
        (end, filled) = (nil, 0)
        return packets
    }

    /// Nothing more comes.
    ///
    /// - Returns: what belongs at the end of the file.
    package mutating func finish() -> [Packet] {
        let packets = restart()
        return packets + fill(passed - Self.slack)
    }

    /// Hands out the first packet that waits, behind its gap.
    private mutating func takeFirst() -> [Packet] {
        let first = waiting.removeFirst()
        let gap = end.map { min(first.timestamp - $0 - filled, passed + Self.slack) } ?? passed - Self.slack
        let packets = fill(gap) + [first.packet]
        (end, filled, passed) = (first.timestamp + first.packet.samples, 0, 0)
        empty = first.packet.bytes[0] & 0xFC
        return packets
    }

    /// Packets without content for so many samples; what is less than 2.5 ms is left out.
    private mutating func fill(_ samples: Int) -> [Packet] {
        var (left, packets) = (samples, [Packet]())
        // Whole frames have the mode of the packet before, and the rest the mode that has short frames.
        let short = [31 as UInt8, 30, 29, 28].map { $0 << 3 | empty & 4 }
        for header in [empty] + short {
            let frame = OpusPacket.samplesPerFrame(header >> 3)
            while left >= frame {
                packets.append(Packet(bytes: [header], samples: frame))
                left -= frame
            }
        }
        let count = packets.reduce(0) { $0 + $1.samples }
        filled += count
        passed -= count
        return packets
    }
}
