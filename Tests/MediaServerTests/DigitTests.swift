import Audio
import MediaPlane
import MediaServer
import Primitives
import SDP
import Testing

/// Digits that are pressed, heard and passed on (RFC 4733, ITU-T Q.23).
struct DigitTests {
    /// A digit's packets in order: the digit's code, its end, its duration and the timestamp.
    private static func events(_ sent: [EngineRig.Sent], payloadType: Int) -> [(
        code: UInt8, isEnd: Bool, duration: Int, packet: EngineRig.Sent
    )] {
        sent.filter { $0.payloadType == payloadType }.map { packet in
            (
                packet.payload[0], packet.payload[1] & 0x80 != 0, Int(packet.payload[2]) << 8 | Int(packet.payload[3]),
                packet
            )
        }
    }

    private static let ways: [(codec: Codec, events: Codec?, preferred: Int)] = [
        (.opus(), .events48, 20_000), (.opus(), .events8, 20_000), (.pcmu, .events8, 20_000), (.g722, .events8, 20_000),
        (.pcma, .events8, 10_000), (.opus(), .events48, 60_000), (.pcmu, .events8, 30_000),
        (.opus("usedtx=1"), .events48, 40_000),
    ]

    @Test(arguments: ways) func `digits go over a playback, all of them, and it goes on from where it would be`(
        _ way: (codec: Codec, events: Codec?, preferred: Int)
    ) throws {
        let events = try #require(way.events)
        var rig = EngineRig(
            a: [.opus()], b: [way.codec, events], packetTime: PacketTime(preferred: way.preferred), source: .player(1))
        let player = SinePlayer()
        rig.engine.setPlayer(player, number: 1)
        rig.run(cycles: 13)
        let isPressed = rig.press("1*#,9", duration: 100, gap: 80) && rig.press("D", duration: 60, gap: 60)
        rig.run(cycles: 187)
        #expect(isPressed && !rig.isPressing)
        #expect(player.played == 200 * 960, "what plays does not wait")

        let digits = Self.events(rig.sent, payloadType: Int(events.payloadType.rawValue))
        #expect(digits.filter { $0.packet.marker }.map(\.code) == [1, 10, 11, 9, 15])
        for code in [1, 10, 11, 9, 15] as [UInt8] {
            let digit = digits.filter { $0.code == code }
            let milliseconds = code == 15 ? 60 : 100
            #expect(digit.count(where: \.isEnd) == 3 && Set(digit.map(\.packet.timestamp)).count == 1)
            #expect(digit.map(\.duration).max() == milliseconds * events.clockRate / 1_000)
            #expect(digit.suffix(3).allSatisfy { $0.isEnd && $0.duration == milliseconds * events.clockRate / 1_000 })
        }
        // Numbers are whole, and timestamps say what time it is, to within the packet that was not full yet.
        let first = try #require(rig.sent.first)
        for (previous, next) in zip(rig.sent, rig.sent.dropFirst()) { #expect(next.number == previous.number &+ 1) }
        for packet in rig.sent where packet.payloadType != Int(events.payloadType.rawValue) {
            let elapsed = Int(packet.timestamp &- first.timestamp) * 1_000_000 / way.codec.clockRate
            let expected = (packet.cycle - first.cycle) * 20_000
            #expect(abs(elapsed - expected) < max(20_000, way.preferred), "\(elapsed), \(expected)")
        }
        // To DTX a steady tone is no speech after a while.
        let last = try #require(rig.sent.last)
        #expect(
            last.payloadType == Int(way.codec.payloadType.rawValue)
                && (last.cycle >= 195 || way.codec.parameters != nil))
    }

    @Test(arguments: [(.opus(), .events48), (.pcmu, .events8), (.g722, .events8)] as [(Codec, Codec)])
    func `audio comes before digits and between them where nothing else is said`(
        _ codec: Codec, _ events: Codec
    ) throws {
        var rig = EngineRig(a: [.opus()], b: [codec, events], source: .player(1))
        rig.run(cycles: 10)
        #expect(rig.sent.isEmpty, "there is no player, and silence is not sent")
        let isPressed = rig.press("12", duration: 100, gap: 100)
        rig.run(cycles: 40)
        #expect(isPressed && !rig.isPressing)
        // Five steps of a digit and three endings, and what is left of the gap.
        let digit = Array(repeating: events, count: 8) + Array(repeating: codec, count: 2)
        let order = Array(repeating: codec, count: 5) + digit + digit
        #expect(rig.sent.map(\.payloadType) == order.map { Int($0.payloadType.rawValue) })
        #expect(rig.sent.map(\.cycle) == Array(10..<(10 + order.count)), "and then nothing is sent again")

        // A telephone event starts where the audio before it ends, and the audio behind it where it ends.
        let audio = rig.sent.filter { $0.payloadType == Int(codec.payloadType.rawValue) }
        let first = try #require(audio.first)
        #expect(first.marker, "it starts a talk spurt")
        for packet in audio {
            let elapsed = Int(packet.timestamp &- first.timestamp) * 50 / codec.clockRate
            #expect(elapsed == packet.cycle - first.cycle)
        }
        let starts = rig.sent.filter { $0.payloadType == Int(events.payloadType.rawValue) && $0.marker }
        #expect(starts.map { Int($0.timestamp &- first.timestamp) * 50 / codec.clockRate } == [5, 15])
    }

    @Test func `digits that are pressed while others wait, or while something is said, do not wait`() {
        var rig = EngineRig(a: [.opus()], b: [.opus(), .events48], source: .player(1))
        var isPressed = rig.press("1", duration: 100, gap: 60)
        rig.run(cycles: 4)
        isPressed = rig.press("2", duration: 100, gap: 60) && isPressed
        rig.run(cycles: 20)
        rig.engine.setPlayer(SinePlayer(), number: 1)
        rig.run(cycles: 6)
        isPressed = rig.press("3", duration: 100, gap: 60) && isPressed
        rig.run(cycles: 10)
        #expect(isPressed)
        let starts = rig.sent.filter { $0.payloadType == 110 && $0.marker }
        #expect(starts.map(\.cycle) == [5, 13, 30])
    }

    @Test func `digits sound in the audio for a peer that knows no events, in the middle of a playback`() throws {
        var rig = EngineRig(a: [.opus()], b: [.pcmu], source: .player(1))
        rig.engine.setPlayer(SinePlayer(), number: 1)
        rig.run(cycles: 10)
        let isPressed = rig.press("5", duration: 100, gap: 100)
        #expect(isPressed)
        rig.run(cycles: 20)
        #expect(rig.sent.count == 30)
        let heard = rig.sent.map { $0.payload.map(G711.muLaw.decode) }
        let digit = heard[11..<14].flatMap(\.self)
        #expect(Self.share(770, in: digit) + Self.share(1_336, in: digit) > 0.9)
        #expect(Self.share(440, in: heard[20..<30].flatMap(\.self)) > 0.8)
        for (previous, next) in zip(rig.sent, rig.sent.dropFirst()) {
            #expect(next.timestamp == previous.timestamp &+ 160 && !next.marker)
        }
    }

    // MARK: In the audio of G.711

    /// A call from a G.711 peer to one that speaks Opus.
    private static func inband(_ digits: String, of codecs: [Codec], detects: Bool = true, packet: Int = 160)
        -> [EngineRig.Sent]
    {
        var rig = EngineRig(a: codecs, b: [.opus(), .events48], engine: AudioEngine(detectsInbandDTMF: detects))
        var queue = DigitQueue(digits, duration: .milliseconds(100), gap: .milliseconds(100))
        var (waiting, timestamp) = ([Int16](repeating: 0, count: 4_000), UInt32(0))
        while true {
            var frame = [Int16](repeating: 0, count: 960)
            var span = frame.mutableSpan
            let turn = queue.next()
            if turn == .done { break }
            if case .event(let step) = turn { step.sound(into: &span) }
            waiting += stride(from: 0, to: 960, by: 6).map { frame[$0] }
        }
        waiting += [Int16](repeating: 0, count: 8_000)
        var start = 0
        for cycle in 0..<(waiting.count / 160) {
            while start + packet <= (cycle + 1) * 160 {
                rig.receive(
                    waiting[start..<(start + packet)].map(G711.muLaw.encode), payloadType: 0, timestamp: timestamp)
                timestamp &+= UInt32(packet)
                start += packet
            }
            rig.runCycle()
        }
        return rig.sent
    }

    @Test(arguments: [80, 160, 480]) func `digits that sound in the audio come out as digits, once per press`(
        _ packet: Int
    ) {
        let sent = Self.inband("0123456789*#ABCD55", of: [.pcmu], packet: packet)
        let pressed = Self.events(sent, payloadType: 110).filter { $0.packet.marker }.map(\.code)
        #expect(pressed == Array(0...15) + [5, 5])
    }

    @Test func `they are not listened for unless it is asked for, nor where the peer can tell them otherwise`() {
        #expect(Self.events(Self.inband("123", of: [.pcmu], detects: false), payloadType: 110).isEmpty)
        #expect(Self.events(Self.inband("123", of: [.pcmu, .events8]), payloadType: 110).isEmpty)
    }

    /// By correlation with a sine and the one a quarter of a period later.
    private static func share(_ frequency: Double, in samples: [Int16]) -> Double {
        var oscillator = Oscillator(frequency: frequency, rate: 8_000)
        var ahead = Oscillator(frequency: frequency, rate: 32_000)
        // As near to a quarter as a rate four times as high allows.
        let reference = samples.map { _ in oscillator.next() }
        let skipped = Int((8_000 / frequency).rounded())
        let quarter = (0..<(samples.count * 4 + skipped)).map { _ in ahead.next() }
        var (real, imaginary, energy) = (0.0, 0.0, 0.0)
        for (index, sample) in samples.enumerated() {
            imaginary += Double(sample) * reference[index]
            real += Double(sample) * quarter[index * 4 + skipped]
            energy += Double(sample) * Double(sample)
        }
        return energy == 0 ? 0 : 2 * (real * real + imaginary * imaginary) / (Double(samples.count) * energy)
    }
}
