import Audio
import MediaPlane
import MediaServer
import Opus
import SDP
import Testing

/// How much audio goes into the packets to a peer (RFC 8866 §6.4), and what its fmtp asks for (RFC 7587 §6.1).
struct PacketTimeTests {
    private static func played(to codec: Codec, _ packetTime: PacketTime, cycles: Int = 60, amplitude: Double = 8_000)
        -> [EngineRig.Sent]
    {
        var rig = EngineRig(a: [.opus()], b: [codec], packetTime: packetTime, source: .player(1))
        rig.engine.setPlayer(SinePlayer(amplitude: amplitude), number: 1)
        rig.run(cycles: cycles)
        return rig.sent
    }

    private static let wishes: [(preferred: Int?, maximum: Int?, opus: Int, sampled: Int)] = [
        (nil, nil, 20_000, 20_000), (10_000, nil, 10_000, 10_000), (20_000, nil, 20_000, 20_000),
        (30_000, nil, 20_000, 30_000),
        (40_000, nil, 40_000, 40_000), (60_000, nil, 60_000, 60_000), (120_000, nil, 120_000, 120_000),
        (999_000, nil, 120_000, 120_000),
        (nil, 60_000, 20_000, 20_000), (nil, 10_000, 10_000, 10_000), (60_000, 40_000, 40_000, 40_000),
        (5_000, nil, 5_000, 5_000),
        (3_000, nil, 2_500, 5_000), (20_000, 2_000, 2_500, 5_000),
    ]

    @Test(arguments: wishes, [Codec.opus(), .pcmu, .pcma, .g722])
    func `packets are as long as the peer wants, and follow each other without a gap`(
        _ wish: (preferred: Int?, maximum: Int?, opus: Int, sampled: Int), _ codec: Codec
    ) {
        let sent = Self.played(to: codec, PacketTime(preferred: wish.preferred, maximum: wish.maximum))
        let length = codec.isNamed("opus") ? wish.opus : wish.sampled
        #expect(sent.count == 60 * 20_000 / length)
        for (previous, next) in zip(sent, sent.dropFirst()) {
            #expect(next.number == previous.number &+ 1)
            #expect(next.timestamp == previous.timestamp &+ UInt32(length * codec.clockRate / 1_000_000))
            #expect(!next.marker)
        }
        for packet in sent {
            if codec.isNamed("opus") {
                #expect(OpusDecoder.sampleCount(of: packet.payload.span) == length * 48 / 1_000)
            } else {
                #expect(packet.payload.count == length * 8 / 1_000)
            }
        }
        #expect(sent.first?.marker == true)
    }

    @Test(arguments: [10_000, 20_000, 40_000, 60_000, 120_000]) func `what is heard does not depend on it`(
        _ preferred: Int
    ) throws {
        let sent = Self.played(to: .opus(), PacketTime(preferred: preferred, maximum: nil))
        var decoder = try OpusDecoder()
        var heard: [Int16] = []
        for packet in sent {
            var samples = [Int16](repeating: 0, count: 5_760)
            var span = samples.mutableSpan
            let count = try decoder.decode(packet.payload.span, into: &span)
            heard += samples.prefix(count)
        }
        #expect(heard.count == 60 * 960)
        let level = AudioLevel(of: heard.span.extracting(9_600..<heard.count))
        #expect(abs(Int(level.decibelsBelow) - 15) <= 1)
    }

    @Test(arguments: [
        ("maxaveragebitrate=12000", 2 * 12_000 / 8 / 50), ("maxaveragebitrate=12000;cbr=1", 12_000 / 8 / 50),
        ("maxaveragebitrate=64000; cbr=1", 160),
        ("cbr=1;maxaveragebitrate=64000;stereo=1", 160),
    ])
    func `no packet is larger than the bit rate that the peer asks for allows`(_ parameters: String, _ largest: Int) {
        let sent = Self.played(to: .opus(parameters), PacketTime(), amplitude: 20_000)
        #expect(sent.count == 60)
        #expect(sent.dropFirst(5).allSatisfy { $0.payload.count <= largest + 1 })
    }

    @Test(arguments: [20_000, 60_000, 120_000]) func `no packet is larger than any path takes`(_ preferred: Int) {
        let sent = Self.played(
            to: .opus("maxaveragebitrate=510000;cbr=1"), PacketTime(preferred: preferred), amplitude: 30_000)
        #expect(sent.count == 60 * 20_000 / preferred && sent.allSatisfy { $0.payload.count <= 1_200 })
    }

    /// The bandwidth stands in the configuration of the first byte (RFC 6716 §3.1): narrow, medium, wide, super-wide
    /// and full.
    @Test(arguments: [(8_000, 0), (12_000, 1), (16_000, 2), (24_000, 3), (48_000, 4), (44_100, 3)])
    func `no more bandwidth is coded than the peer plays`(_ rate: Int, _ bandwidth: Int) {
        let sent = Self.played(to: .opus("maxplaybackrate=\(rate);maxaveragebitrate=64000"), PacketTime())
        #expect(sent.map { Self.bandwidth($0.payload[0] >> 3) }.max() == bandwidth)
    }

    private static func bandwidth(_ configuration: UInt8) -> Int {
        switch configuration {
        case 0...3, 16...19: 0
        case 4...7: 1
        case 8...11, 20...23: 2
        case 12, 13, 24...27: 3
        default: 4
        }
    }

    @Test(arguments: [10_000, 20_000, 40_000, 60_000])
    func `silence is not sent to a peer that asked for that; time goes on, and what follows has the marker`(
        _ preferred: Int
    ) {
        var rig = EngineRig(
            a: [.opus()], b: [.opus("usedtx=1")], packetTime: PacketTime(preferred: preferred, maximum: nil),
            source: .player(1))
        let player = SinePlayer()
        rig.engine.setPlayer(player, number: 1)
        rig.run(cycles: 30)
        player.amplitude = 0
        rig.run(cycles: 150)
        let quiet = rig.sent.filter { $0.cycle >= 60 && $0.cycle < 180 }
        // Now and then the background is refreshed (RFC 7587 §3.1.3).
        #expect(quiet.count <= 120 * 20_000 / preferred / 4, "\(quiet.count)")
        player.amplitude = 8_000
        rig.run(cycles: 30)
        for (previous, next) in zip(rig.sent, rig.sent.dropFirst()) {
            #expect(next.number == previous.number &+ 1)
            let isContinuous = next.timestamp &- previous.timestamp == UInt32(preferred * 48 / 1_000)
            #expect(next.marker == !isContinuous)
        }
        // 20 ms of timestamps per cycle, whatever was not sent.
        let (first, last) = (rig.sent[0], rig.sent[rig.sent.count - 1])
        #expect(
            abs(Int(last.timestamp &- first.timestamp) - (last.cycle - first.cycle) * 960) < preferred * 48 / 1_000
                + 960)
    }

    @Test func `silence is sent to a peer that did not ask`() {
        let sent = Self.played(to: .opus(), PacketTime(), amplitude: 0)
        #expect(sent.count == 60)
    }
}
