import Audio
import AudioStreams
import CallControl
import CallRuntime
import MediaPlane
import MediaServer
import Opus
import SDP
import Testing

/// Streams of Opus: packets pass as they are wherever a peer has Opus and nothing else is to be heard.
struct OpusStreamTests {
    /// a talks to a headless leg with a stream of Opus, which b hears.
    private struct Rig {
        var engine: EngineRig
        let voice = SpeakingVoice(PlayingVoice(nil))
        let link = StreamLink()

        init(
            a codecsOfA: [Codec] = [.opus()], b codecsOfB: [Codec] = [.opus()], dialect: StreamDialectName = .own
        ) {
            engine = EngineRig(a: codecsOfA, b: codecsOfB)
            let start = StreamStart(
                stream: "s", call: "c", application: "a", from: "alice@example.com", to: "bot@example.com",
                format: .opus)
            voice.attach(
                MediaStream(link: link, terms: StreamTerms(dialect: dialect, format: .opus), start: start))
            engine.listen(voice)
            engine.setSource(.leg(LegIndex(2)))
            engine.forget()
        }

        private(set) var cycles = 0

        mutating func cycle() {
            cycles += 1
            voice.stream?.receive()
            voice.stream?.advance()
            engine.runCycle()
        }

        /// What b was sent.
        var sent: [EngineRig.Sent] { engine.sent.filter { $0.leg == EngineRig.b } }

        /// The audio that the program was sent since the last call.
        func told() -> [[UInt8]] {
            link.takeOutward().frames.compactMap { if case .binary(let bytes) = $0 { bytes } else { nil } }
        }
    }

    /// Packets of a sine, one after the other.
    private func packets(_ count: Int, milliseconds: Int = 20, frequency: Double = 440) throws -> [[UInt8]] {
        var encoder = try OpusEncoder()
        var oscillator = Oscillator(frequency: frequency)
        var packets: [[UInt8]] = []
        for _ in 0..<count {
            let samples = (0..<(48 * milliseconds)).map { _ in Int16(8_000 * oscillator.next()) }
            var packet = [UInt8](repeating: 0, count: 1_275)
            let size = try encode(samples, with: &encoder, into: &packet)
            packets.append(Array(packet[..<size]))
        }
        return packets
    }

    private func encode(
        _ samples: [Int16], with encoder: inout OpusEncoder, into packet: inout [UInt8]
    ) throws -> Int {
        var room = packet.mutableSpan
        return try encoder.encode(samples.span, into: &room)
    }

    @Test(arguments: StreamDialectName.allCases.filter { $0.carries(.opus) })
    func `packets pass in both directions as they are`(_ dialect: StreamDialectName) throws {
        var rig = Rig(dialect: dialect)
        let (heard, said) = (try packets(10), try packets(10, frequency: 1_000))
        for number in 0..<10 {
            rig.engine.receive(heard[number], payloadType: 111, timestamp: UInt32(number * 960))
            _ = rig.link.receive(.binary(said[number]))
            rig.cycle()
        }
        #expect(rig.told() == heard)
        #expect(rig.sent.map(\.payload) == said)
        #expect(rig.sent.map(\.payloadType) == [Int](repeating: 111, count: 10))
        let times = rig.sent.map(\.timestamp)
        #expect(zip(times, times.dropFirst()).allSatisfy { $1 &- $0 == 960 })
        #expect(rig.sent.map(\.marker) == [true] + [Bool](repeating: false, count: 9))
    }

    @Test func `a long packet takes the time of three cycles`() throws {
        var rig = Rig()
        let said = try packets(3, milliseconds: 60)
        for packet in said { _ = rig.link.receive(.binary(packet)) }
        for _ in 0..<9 { rig.cycle() }
        #expect(rig.sent.map(\.payload) == said && rig.sent.map(\.cycle) == [0, 3, 6])
        let times = rig.sent.map(\.timestamp)
        #expect(zip(times, times.dropFirst()).allSatisfy { $1 &- $0 == 2_880 })
        rig.cycle()
        #expect(rig.sent.count == 3, "then it says nothing")
    }

    /// Whether each packet has the timestamp of its cycle.
    private func areInTime(_ sent: [EngineRig.Sent]) -> Bool {
        guard let first = sent.first else { return false }
        return sent.allSatisfy { $0.timestamp &- first.timestamp == UInt32(($0.cycle - first.cycle) * 960) }
    }

    @Test func `a list in the middle of long packets changes nothing about the time`() throws {
        var rig = Rig()
        for packet in try packets(6, milliseconds: 60) { _ = rig.link.receive(.binary(packet)) }
        let list = try PlayList(items: [.silence(.seconds(1))], loops: nil, volume: 0)
        for start in [1, 8] {
            while rig.cycles < start { rig.cycle() }
            var oscillator = Oscillator(frequency: 700)
            let samples = (0..<(4 * AudioMixer.frame)).map { _ in Int16(8_000 * oscillator.next()) }
            let tone = SpokenItem(.sound(Sound(samples)), length: nil)
            rig.voice.play(list, [tone], number: UInt32(start), tag: nil, replacing: true)
        }
        for _ in 0..<12 { rig.cycle() }
        #expect(rig.sent.count > 8 && areInTime(rig.sent), "\(rig.sent.map { ($0.cycle, $0.timestamp) })")
    }

    @Test func `packets shorter than a cycle that come one by one leave gaps`() throws {
        var rig = Rig()
        for packet in try packets(10, milliseconds: 10) {
            _ = rig.link.receive(.binary(packet))
            rig.cycle()
        }
        #expect(rig.sent.count == 10 && areInTime(rig.sent), "\(rig.sent.map { ($0.cycle, $0.timestamp) })")
    }

    @Test func `a peer with another codec hears the program, and the program hears it, in packets made here`() throws {
        var rig = Rig(a: [.pcmu], b: [.pcmu])
        let loud = [UInt8](repeating: 0x10, count: 160)
        for packet in try packets(20) {
            rig.engine.receive(loud, payloadType: 0, timestamp: UInt32(rig.sent.count * 160))
            _ = rig.link.receive(.binary(packet))
            rig.cycle()
        }
        #expect(rig.sent.count == 20 && rig.sent.allSatisfy { $0.payload.count == 160 })
        let samples = rig.sent.dropFirst(5).flatMap { $0.payload.map(G711.muLaw.decode) }
        #expect((samples.max() ?? 0) > 5_000 && (samples.min() ?? 0) < -5_000)
        let told = rig.told()
        #expect(told.count == 20 && told.allSatisfy { OpusPacket.sampleCount(of: $0.span) == 960 })
    }

    @Test func `a list goes before the packets, and what is broken is refused`() throws {
        var rig = Rig()
        let said = try packets(6)
        for packet in said { _ = rig.link.receive(.binary(packet)) }
        _ = rig.link.receive(.binary([0xFF, 0xFF]))
        var oscillator = Oscillator(frequency: 700)
        let samples = (0..<(3 * AudioMixer.frame)).map { _ in Int16(8_000 * oscillator.next()) }
        let tone = SpokenItem(.sound(Sound(samples)), length: nil)
        let list = try PlayList(items: [.silence(.seconds(1))], loops: nil, volume: 0)
        rig.voice.play(list, [tone], number: 1, tag: nil, replacing: true)
        for _ in 0..<6 { rig.cycle() }
        let payloads = rig.sent.map(\.payload)
        #expect(payloads.count == 6 && Array(payloads[3...]) == Array(said[3...]))
        #expect(!payloads[..<3].contains { said.contains($0) })
        #expect(rig.voice.stream?.takeRefusals() == 1)
    }
}
