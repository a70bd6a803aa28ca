import Audio
import MediaPlane
import MediaServer
import Opus
import SDP
import Testing

/// What a peer may send and how it comes out on a leg that is coded anew.
struct ReceivedAudioTests {
    /// A sine of 500 Hz in Opus, in packets of any length.
    private struct OpusSpeaker: ~Copyable {
        var encoder: OpusEncoder
        var oscillator = Oscillator(frequency: 500)
        var timestamp: UInt32 = .max - 100_000

        init() throws { encoder = try OpusEncoder() }

        mutating func next(_ count: Int) throws -> (payload: [UInt8], timestamp: UInt32) {
            let samples = (0..<count).map { _ in Int16(8_000 * oscillator.next()) }
            var payload = [UInt8](repeating: 0, count: 1_500)
            var span = payload.mutableSpan
            let size = try encoder.encode(samples.span, into: &span)
            defer { timestamp &+= UInt32(count) }
            return (Array(payload[..<size]), timestamp)
        }
    }

    /// The audio sent to b, which is G.711, in cycles of 20 ms.
    private static func heard(_ sent: [EngineRig.Sent]) -> [Int16] {
        sent.flatMap { packet in packet.payload.map(G711.muLaw.decode) }
    }

    /// RMS of a sine of 8,000: 15 dB below full scale.
    private static func isEven(_ heard: [Int16]) -> Bool {
        stride(from: 0, to: heard.count - 160, by: 160).allSatisfy { start in
            let level = AudioLevel(of: heard.span.extracting(start..<(start + 160)))
            return abs(Int(level.decibelsBelow) - 15) <= 2
        }
    }

    @Test func `a worker that is late now and then leaves nothing out and says nothing twice`() throws {
        var rig = EngineRig(a: [.opus()], b: [.pcmu])
        var speaker = try OpusSpeaker()
        for cycle in 0..<300 {
            let packet = try speaker.next(960)
            rig.receive(packet.payload, payloadType: 111, timestamp: packet.timestamp)
            rig.runCycle(late: .milliseconds(cycle % 7 == 0 ? 18 : cycle % 3))
        }
        let statistics = try #require(rig.receivedFromA)
        #expect(statistics.played > 290 * 960)
        #expect(statistics.shortened == 0)
        #expect(statistics.lengthened == 0)
        #expect(statistics.concealed == 0)
    }

    @Test(arguments: [120, 240, 480, 960, 1_920, 2_880, 3_840, 4_800, 5_760])
    func `Opus is heard whatever its packets hold`(_ length: Int) throws {
        var rig = EngineRig(a: [.opus()], b: [.pcmu])
        var speaker = try OpusSpeaker()
        var spoken = 0
        for cycle in 0..<150 {
            // A packet is sent when its last sample has been said.
            while spoken + length <= cycle * 960 {
                let packet = try speaker.next(length)
                rig.receive(packet.payload, payloadType: 111, timestamp: packet.timestamp)
                spoken += length
            }
            rig.runCycle()
        }
        let heard = Self.heard(rig.sent.suffix(100))
        #expect(heard.count == 100 * 160)
        #expect(Self.isEven(heard))
        // In pieces: a delay that is followed by pitch periods moves the phase.
        for start in stride(from: 0, to: heard.count, by: 800) {
            #expect(share(of: 500, in: Array(heard[start..<(start + 800)]), rate: 8_000) > 0.9)
        }
    }

    @Test func `the length of packets may change in the middle`() throws {
        var rig = EngineRig(a: [.opus()], b: [.pcmu])
        var speaker = try OpusSpeaker()
        let lengths = [960, 960, 2_880, 120, 240, 480, 5_760, 960, 1_920, 120, 3_840]
        var (spoken, next) = (0, 0)
        for cycle in 0..<600 {
            while spoken + lengths[next % lengths.count] <= cycle * 960 {
                let packet = try speaker.next(lengths[next % lengths.count])
                rig.receive(packet.payload, payloadType: 111, timestamp: packet.timestamp)
                spoken += lengths[next % lengths.count]
                next += 1
            }
            rig.runCycle()
        }
        // Packets of 120 ms among short ones come late for what the short ones taught: after a while nothing is missed.
        let heard = Self.heard(rig.sent.suffix(300))
        #expect(Self.isEven(heard))
    }

    // MARK: Comfort noise

    /// Half a second of tone, then noise at the level, then tone again.
    @Test(arguments: [40, 50, 60] as [UInt8], [25, 400])
    func `noise is heard at the level that the peer says, until it speaks again`(
        _ level: UInt8, _ pause: Int
    ) {
        var rig = EngineRig(a: [.pcma, .comfortNoise], b: [.pcmu])
        var oscillator = Oscillator(frequency: 500, rate: 8_000)
        var timestamp: UInt32 = 5_000
        for cycle in 0..<(25 + pause + 25) {
            if cycle == 25 {
                rig.receive([level], payloadType: 13, timestamp: timestamp)
            } else if cycle < 25 || cycle >= 25 + pause {
                let payload = (0..<160).map { _ in G711.aLaw.encode(Int16(8_000 * oscillator.next())) }
                rig.receive(payload, payloadType: 8, timestamp: timestamp, marker: cycle == 25 + pause)
            }
            timestamp &+= 160
            rig.runCycle()
        }
        let heard = Self.heard(rig.sent)
        #expect(rig.sent.count >= 25 + pause + 20, "never nothing once it has begun")
        let delay = 25 + pause + 25 - rig.sent.count
        // Away from the edges by the delay of the playout and the filters.
        let quiet = ((25 - delay + 5) * 160)..<((25 + pause - delay) * 160)
        #expect(abs(Int(AudioLevel(of: heard.span.extracting(quiet)).decibelsBelow) - Int(level)) <= 2)
        let last = (heard.count - 10 * 160)..<heard.count
        #expect(abs(Int(AudioLevel(of: heard.span.extracting(last)).decibelsBelow) - 15) <= 1)
    }

    @Test func `a peer may begin with noise, repeat it, and change it`() {
        var rig = EngineRig(a: [.pcma, .comfortNoise], b: [.pcmu])
        for (index, level) in ([60, 60, 40, 40] as [UInt8]).enumerated() {
            rig.receive([level], payloadType: 13, timestamp: UInt32(index * 8_000))
            rig.run(cycles: 50)
        }
        let heard = Self.heard(rig.sent)
        #expect(abs(Int(AudioLevel(of: heard.span.extracting(8_000..<15_000)).decibelsBelow) - 60) <= 3)
        #expect(abs(Int(AudioLevel(of: heard.span.extracting(20_000..<30_000)).decibelsBelow) - 40) <= 2)
    }

    @Test func `noise without a level is passed over`() {
        var rig = EngineRig(a: [.pcma, .comfortNoise], b: [.pcmu])
        rig.receive([], payloadType: 13, timestamp: 0)
        rig.run(cycles: 20)
        #expect(Self.heard(rig.sent).allSatisfy { abs(Int($0)) < 10 })
    }

    private static func silenced(_ codecs: [Codec], _ packetTime: PacketTime = PacketTime()) -> EngineRig {
        var rig = EngineRig(a: [.opus()], b: codecs, packetTime: packetTime, source: .player(1))
        let player = SinePlayer()
        rig.engine.setPlayer(player, number: 1)
        rig.run(cycles: 20)
        player.amplitude = 20
        rig.run(cycles: 100)
        player.amplitude = 8_000
        rig.run(cycles: 20)
        return rig
    }

    @Test(arguments: [Codec.pcmu, .pcma], [20_000, 40_000, 60_000])
    func `a peer that knows noise is told its level instead of silence`(_ codec: Codec, _ preferred: Int) throws {
        let sent = Self.silenced([codec, .comfortNoise], PacketTime(preferred: preferred)).sent
        let noise = sent.filter { $0.payloadType == 13 }
        #expect((2...3).contains(noise.count), "\(noise.count)")
        // A sine of 20 has an RMS of 14: 67 dB below full scale.
        #expect(noise.allSatisfy { $0.payload.count == 1 && abs(Int($0.payload[0]) - 67) <= 1 && !$0.marker })
        for (previous, next) in zip(sent, sent.dropFirst()) {
            #expect(next.number == previous.number &+ 1)
            #expect(next.marker == (next.payloadType != 13 && previous.payloadType == 13))
            // Timestamps say when, to within the packet that was not full yet.
            #expect(
                abs(Int(next.timestamp &- previous.timestamp) - (next.cycle - previous.cycle) * 160) <= preferred * 8
                    / 1_000)
        }
        #expect(sent.count { $0.payloadType != 13 } < 60 * 20_000 / preferred + 6)
    }

    @Test(arguments: [[Codec.pcmu], [.g722, .comfortNoise], [.opus(), .comfortNoise]])
    func `others get the silence itself`(_ codecs: [Codec]) {
        let sent = Self.silenced(codecs).sent
        #expect(sent.count == 140)
        #expect(sent.allSatisfy { $0.payloadType != 13 })
    }
}
