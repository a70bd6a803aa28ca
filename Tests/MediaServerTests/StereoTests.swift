import Audio
import MediaPlane
import MediaServer
import Opus
import SDP
import Testing

/// Two channels on their way to a peer that takes them, and to others (RFC 7587 §6.1, §7.1).
struct StereoTests {
    /// 500 Hz on the left, 1,000 Hz on the right.
    private static func sound(milliseconds: Int = 2_000) -> Sound {
        var (left, right) = (Oscillator(frequency: 500), Oscillator(frequency: 1_000))
        return Sound(
            (0..<(milliseconds * 48)).flatMap { _ in [Int16(8_000 * left.next()), Int16(8_000 * right.next())] },
            channels: 2)
    }

    private static func played(
        to codecs: [Codec], _ packetTime: PacketTime = PacketTime(), cycles: Int = 60,
        then change: (inout EngineRig) -> Void = { _ in }
    ) -> [EngineRig.Sent] {
        var rig = EngineRig(a: [.opus()], b: codecs, packetTime: packetTime, source: .player(1))
        rig.engine.setPlayer(SamplePlayer(sound(), from: 0, repeats: true), number: 1)
        rig.run(cycles: cycles)
        change(&rig)
        return rig.sent
    }

    /// What a peer with two ears hears of it, without the beginning.
    private static func heard(_ sent: [EngineRig.Sent]) throws -> (left: [Int16], right: [Int16]) {
        var decoder = try OpusDecoder(channels: 2)
        var heard: [Int16] = []
        for packet in sent {
            var samples = [Int16](repeating: 0, count: 2 * 5_760)
            var span = samples.mutableSpan
            let count = try decoder.decode(packet.payload.span, into: &span)
            heard += samples.prefix(2 * count)
        }
        let sound = Sound(heard, channels: 2)
        return (Array(sound.channel(0).dropFirst(9_600)), Array(sound.channel(1).dropFirst(9_600)))
    }

    /// The bit of the first byte (RFC 6716 §3.1).
    private static func isStereo(_ packet: EngineRig.Sent) -> Bool { packet.payload[0] & 0x04 != 0 }

    @Test(arguments: [
        ("stereo=1", 20_000), ("stereo=1", 10_000), ("stereo=1", 60_000),
        ("minptime=10;useinbandfec=1;stereo=1", 20_000),
        ("stereo=1; maxaveragebitrate=128000", 120_000), ("sprop-stereo=0;stereo=1;cbr=1", 40_000),
    ])
    func `a peer that takes two channels hears each on its side`(_ parameters: String, _ preferred: Int) throws {
        let sent = Self.played(to: [.opus(parameters)], PacketTime(preferred: preferred))
        let stereo = sent.allSatisfy(Self.isStereo)
        #expect(stereo && sent.count == 60 * 20_000 / preferred)
        for (previous, next) in zip(sent, sent.dropFirst()) {
            #expect(
                next.timestamp == previous.timestamp &+ UInt32(preferred * 48 / 1_000)
                    && next.number == previous.number &+ 1)
        }
        let (left, right) = try Self.heard(sent)
        #expect(share(of: 500, in: left) > 0.95 && share(of: 1_000, in: left) < 0.02)
        #expect(share(of: 1_000, in: right) > 0.95 && share(of: 500, in: right) < 0.02)
    }

    @Test(arguments: [nil, "stereo=0", "sprop-stereo=1", "stereo=2", "stereo"] as [String?])
    func `others hear both in one`(_ parameters: String?) throws {
        let sent = Self.played(to: [.opus(parameters)])
        let mono = !sent.contains(where: Self.isStereo)
        #expect(mono && sent.count == 60)
        let (left, right) = try Self.heard(sent)
        #expect(left == right)
        #expect(share(of: 500, in: left) > 0.4 && share(of: 1_000, in: left) > 0.4)
    }

    @Test func `so do peers whose codec has one channel`() {
        let sent = Self.played(to: [.pcmu])
        var narrow = sent.flatMap { $0.payload.map(G711.muLaw.decode) }
        #expect(narrow.count == 60 * 160)
        narrow.removeFirst(1_600)
        #expect(share(of: 500, in: narrow, rate: 8_000) > 0.4 && share(of: 1_000, in: narrow, rate: 8_000) > 0.4)
    }

    @Test(arguments: [20_000, 60_000]) func `what has one channel is coded as one, and the stream goes on`(
        _ preferred: Int
    ) throws {
        let sent = Self.played(to: [.opus("stereo=1")], PacketTime(preferred: preferred), cycles: 31) { rig in
            rig.engine.setPlayer(SinePlayer(), number: 1)
            rig.run(cycles: 29)
        }
        let kinds = sent.map(Self.isStereo)
        let change = try #require(kinds.firstIndex(of: false))
        #expect((31 * 20_000 + preferred - 1) / preferred == change)
        #expect(!kinds[change...].contains(true))
        for (previous, next) in zip(sent, sent.dropFirst()) {
            #expect(
                next.timestamp == previous.timestamp &+ UInt32(preferred * 48 / 1_000)
                    && next.number == previous.number &+ 1 && !next.marker)
        }
        let (left, right) = try Self.heard(Array(sent[change...]))
        #expect(left == right && share(of: 440, in: left) > 0.9)
    }

    @Test func `digits sound on both sides, and the playback goes on in two channels`() throws {
        let sent = Self.played(to: [.opus("stereo=1")], cycles: 10) { rig in
            let isPressed = rig.press("5", duration: 200, gap: 60)
            #expect(isPressed)
            rig.run(cycles: 40)
        }
        let kinds = sent.map(Self.isStereo)
        #expect(kinds.count == 50 && kinds.prefix(10).allSatisfy(\.self) && kinds.suffix(20).allSatisfy(\.self))
        #expect(!kinds[11..<19].contains(true))
        let digit = try Self.heard(sent.filter { 6..<20 ~= $0.cycle })
        #expect(share(of: 500, in: digit.left) + share(of: 1_000, in: digit.left) < 0.3)
    }

    @Test func `a sound with two channels starts where it should, and ends when it is over`() {
        let player = SamplePlayer(Sound([1, -1, 2, -2, 3, -3], channels: 2), from: 1, repeats: false)
        var frame = [Int16](repeating: 9, count: 6)
        var span = frame.mutableSpan
        let goesOn = player.next(into: &span)
        #expect(!goesOn)
        #expect(frame == [2, -2, 3, -3, 0, 0])
    }
}
