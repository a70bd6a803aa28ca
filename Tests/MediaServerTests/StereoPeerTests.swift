import Audio
import MediaPlane
import MediaServer
import Opus
import SDP
import Testing

/// Peers that say in two channels, and what others hear of them (RFC 7587 §7.1).
struct StereoPeerTests {
    private static let stereo = "stereo=1;sprop-stereo=1"

    /// A sine on each side, or the first on both sides of packets of one channel.
    private struct OpusSpeaker: ~Copyable {
        private var one: OpusEncoder
        private var both: OpusEncoder
        private var left: Oscillator
        private var right: Oscillator
        private var timestamp: UInt32 = .max - 10_000

        init(_ one: consuming OpusEncoder, _ both: consuming OpusEncoder, _ left: Double, _ right: Double) {
            self.one = one
            self.both = both
            self.left = Oscillator(frequency: left)
            self.right = Oscillator(frequency: right)
        }

        mutating func next(channels: Int = 2) throws -> (payload: [UInt8], timestamp: UInt32) {
            var samples: [Int16] = []
            for _ in 0..<960 {
                let (left, right) = (Int16(8_000 * left.next()), Int16(8_000 * right.next()))
                samples += channels == 2 ? [left, right] : [left]
            }
            var payload = [UInt8](repeating: 0, count: 1_500)
            var span = payload.mutableSpan
            let size =
                try channels == 2 ? both.encode(samples.span, into: &span) : one.encode(samples.span, into: &span)
            defer { timestamp &+= 960 }
            return (Array(payload[..<size]), timestamp)
        }
    }

    private static func speaker(_ left: Double, _ right: Double) throws -> OpusSpeaker {
        var configuration = OpusEncoder.Configuration()
        configuration.channels = 2
        return OpusSpeaker(try OpusEncoder(), try OpusEncoder(configuration), left, right)
    }

    private static func isStereo(_ packet: EngineRig.Sent) -> Bool { packet.payload[0] & 0x04 != 0 }

    /// What a leg hears with two ears, without the first 400 ms.
    private static func heard(by leg: LegIndex, _ rig: EngineRig) throws -> (left: [Int16], right: [Int16]) {
        var decoder = try OpusDecoder(channels: 2)
        var heard: [Int16] = []
        for packet in rig.sent where packet.leg == leg {
            var samples = [Int16](repeating: 0, count: 2 * 5_760)
            var span = samples.mutableSpan
            let count = try decoder.decode(packet.payload.span, into: &span)
            heard += samples.prefix(2 * count)
        }
        let sound = Sound(heard, channels: 2)
        return (Array(sound.channel(0).dropFirst(19_200)), Array(sound.channel(1).dropFirst(19_200)))
    }

    /// Which of the tones are heard on a side: those with a tenth of its power.
    private static func tones(_ samples: some Sequence<Int16>, _ among: [Double]) -> Set<Double> {
        let samples = Array(samples)
        return Set(among.filter { share(of: $0, in: samples) > 0.1 })
    }

    private static func legs(_ count: Int) -> [LegIndex] { (0..<count).map { LegIndex($0) } }

    @Test func `in a mix each side of a peer is heard on that side by those who take both, and on none of its own`()
        throws
    {
        var rig = EngineRig(mixing: [[.opus(Self.stereo)], [.opus(Self.stereo)], [.opus()], [.pcmu]])
        var first = try Self.speaker(500, 1_000)
        var second = try Self.speaker(1_500, 2_000)
        for _ in 0..<80 {
            let (one, two) = (try first.next(), try second.next())
            rig.receive(one.payload, from: Self.legs(4)[0], payloadType: 111, timestamp: one.timestamp)
            rig.receive(two.payload, from: Self.legs(4)[1], payloadType: 111, timestamp: two.timestamp)
            rig.runCycle()
        }
        let all = [500.0, 1_000, 1_500, 2_000]
        let byFirst = try Self.heard(by: Self.legs(4)[0], rig)
        #expect(Self.tones(byFirst.left, all) == [1_500] && share(of: 1_500, in: byFirst.left) > 0.95)
        #expect(Self.tones(byFirst.right, all) == [2_000] && share(of: 2_000, in: byFirst.right) > 0.95)
        let bySecond = try Self.heard(by: Self.legs(4)[1], rig)
        #expect(Self.tones(bySecond.left, all) == [500] && Self.tones(bySecond.right, all) == [1_000])
        let byThird = try Self.heard(by: Self.legs(4)[2], rig)
        #expect(byThird.left == byThird.right && Self.tones(byThird.left, all) == Set(all))
        let mono = !rig.sent.contains { $0.leg == Self.legs(4)[2] && Self.isStereo($0) }
        #expect(mono)
        let narrow = rig.sent.filter { $0.leg == Self.legs(4)[3] }.flatMap { $0.payload.map(G711.muLaw.decode) }
            .dropFirst(3_200)
        #expect(all.dropLast().allSatisfy { share(of: $0, in: Array(narrow), rate: 8_000) > 0.1 })
    }

    @Test func `who takes two channels is sent one as long as nobody else has two`() throws {
        var rig = EngineRig(mixing: [[.opus(Self.stereo)], [.opus("stereo=1")], [.pcmu]])
        var first = try Self.speaker(500, 1_000)
        var second = try Self.speaker(1_500, 2_000)
        for _ in 0..<60 {
            let (one, two) = (try first.next(), try second.next(channels: 1))
            rig.receive(one.payload, from: Self.legs(3)[0], payloadType: 111, timestamp: one.timestamp)
            rig.receive(two.payload, from: Self.legs(3)[1], payloadType: 111, timestamp: two.timestamp)
            rig.runCycle()
        }
        let toFirst = rig.sent.filter { $0.leg == Self.legs(3)[0] }
        let toSecond = rig.sent.filter { $0.leg == Self.legs(3)[1] }
        #expect(!toFirst.isEmpty && !toFirst.contains(where: Self.isStereo))
        #expect(toSecond.count { Self.isStereo($0) } > 50)
    }

    @Test func `when the last who has two channels leaves, those who take two are sent one, in the same stream`() throws
    {
        var rig = EngineRig(mixing: [[.opus("stereo=1")], [.opus(Self.stereo)], [.opus()]])
        var speaker = try Self.speaker(500, 1_000)
        for cycle in 0..<80 {
            if cycle == 40 { rig.setSource(.silence) }
            let packet = try speaker.next()
            rig.receive(packet.payload, from: EngineRig.b, payloadType: 111, timestamp: packet.timestamp)
            rig.runCycle()
        }
        let sent = rig.sent.filter { $0.leg == EngineRig.a }
        let kinds = sent.suffix(60).map(Self.isStereo)
        #expect(kinds == (0..<60).map { $0 < 20 })
        for (previous, next) in zip(sent, sent.dropFirst()) {
            #expect(next.timestamp == previous.timestamp &+ 960 && next.number == previous.number &+ 1)
        }
    }

    /// Opus may have another number of channels in each packet (RFC 6716 §3.1).
    @Test func `a peer that changes between one channel and two is heard without a gap`() throws {
        // Packets in Opus can come though another codec is preferred.
        var rig = EngineRig(a: [.g722, .opus(Self.stereo)], b: [.opus("stereo=1")])
        var speaker = try Self.speaker(500, 1_000)
        for cycle in 0..<150 {
            let packet = try speaker.next(channels: 50..<100 ~= cycle ? 1 : 2)
            rig.receive(packet.payload, payloadType: 111, timestamp: packet.timestamp)
            rig.runCycle()
        }
        let statistics = try #require(rig.receivedFromA)
        #expect(statistics.concealed == 0 && statistics.undecodable == 0 && statistics.shortened == 0)
        for (previous, next) in zip(rig.sent, rig.sent.dropFirst()) {
            #expect(next.timestamp == previous.timestamp &+ 960 && next.number == previous.number &+ 1)
        }
        let (left, right) = try Self.heard(by: EngineRig.b, rig)
        let second = 48_000
        for (start, expected) in [(0, [1_000.0]), (second * 7 / 10, [500]), (second * 17 / 10, [1_000])] {
            #expect(Self.tones(Array(left[start..<(start + 19_200)]), [500, 1_000]) == [500])
            #expect(Self.tones(Array(right[start..<(start + 19_200)]), [500, 1_000]) == Set(expected))
        }
    }

    @Test(arguments: ["stereo=1;sprop-stereo=1", "stereo=1", "stereo=0", nil] as [String?])
    func `what is coded anew keeps two channels for who takes them`(_ parameters: String?) throws {
        var rig = EngineRig(a: [.g722, .opus("sprop-stereo=1")], b: [.opus(parameters)])
        var speaker = try Self.speaker(500, 1_000)
        for _ in 0..<60 {
            let packet = try speaker.next()
            rig.receive(packet.payload, payloadType: 111, timestamp: packet.timestamp)
            rig.runCycle()
        }
        let (left, right) = try Self.heard(by: EngineRig.b, rig)
        if parameters?.hasPrefix("stereo=1") == true {
            #expect(share(of: 500, in: left) > 0.95 && share(of: 1_000, in: right) > 0.95)
        } else {
            #expect(left == right && Self.tones(left, [500, 1_000]) == [500, 1_000])
        }
    }

    @Test func `a peer may announce its second channel in a later description`() throws {
        var rig = EngineRig(a: [.g722, .opus("stereo=1")], b: [.opus("stereo=1")])
        var speaker = try Self.speaker(500, 1_000)
        for cycle in 0..<120 {
            if cycle == 50 { rig.renegotiate(a: [.g722, .opus(Self.stereo)]) }
            let packet = try speaker.next()
            rig.receive(packet.payload, payloadType: 111, timestamp: packet.timestamp)
            rig.runCycle()
        }
        let kinds = rig.sent.filter { $0.cycle > 10 }.map { ($0.cycle >= 50, Self.isStereo($0)) }
        let change = kinds.firstIndex { $0.1 }
        #expect(kinds.prefix { !$0.0 }.allSatisfy { !$0.1 } && kinds.suffix(60).allSatisfy { $0.1 } && change != nil)
        let (left, right) = try Self.heard(by: EngineRig.b, rig)
        #expect(
            Self.tones(left.suffix(48_000), [500, 1_000]) == [500]
                && Self.tones(right.suffix(48_000), [500, 1_000]) == [1_000])
    }

    /// Without `sprop-stereo=1` a stream costs what one channel costs.
    @Test(arguments: ["stereo=1", "sprop-stereo=0", "sprop-stereo=2", nil] as [String?])
    func `two channels that were not announced are heard as one`(_ parameters: String?) throws {
        var rig = EngineRig(a: [.g722, .opus(parameters)], b: [.opus("stereo=1")])
        var speaker = try Self.speaker(500, 1_000)
        for _ in 0..<60 {
            let packet = try speaker.next()
            rig.receive(packet.payload, payloadType: 111, timestamp: packet.timestamp)
            rig.runCycle()
        }
        let mono = !rig.sent.contains(where: Self.isStereo)
        let (left, right) = try Self.heard(by: EngineRig.b, rig)
        #expect(mono && left == right && Self.tones(left, [500, 1_000]) == [500, 1_000])
    }

    @Test func `digits that are pressed into a mix do not take its sides away for longer`() throws {
        var rig = EngineRig(mixing: [[.opus(Self.stereo)], [.opus(Self.stereo)]])
        var first = try Self.speaker(500, 1_000)
        for cycle in 0..<120 {
            let packet = try first.next()
            rig.receive(packet.payload, from: Self.legs(2)[0], payloadType: 111, timestamp: packet.timestamp)
            if cycle % 40 == 20 {
                let isPressed = rig.press("5", duration: 100, gap: 60)
                #expect(isPressed)
            }
            rig.runCycle()
        }
        let kinds = rig.sent.filter { $0.leg == EngineRig.b && $0.cycle > 10 }.map(Self.isStereo)
        let changes = zip(kinds, kinds.dropFirst()).count { $0 != $1 }
        #expect(changes == 6 && kinds.count { !$0 } <= 3 * 8)
    }
}
