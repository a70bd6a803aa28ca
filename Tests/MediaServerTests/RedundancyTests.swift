import Audio
import MediaPlane
import MediaServer
import Opus
import SDP
import Testing

/// Redundancy in the Opus that the gateway makes: a copy of the packet before, for peers that ask for it (RFC 7587
/// §6.1, RFC 6716 §4.2.3).
struct RedundancyTests {
    /// Like a voice: the harmonics of 125 Hz, in syllables. Redundancy is for speech, and what stays the same for ever
    /// is none.
    private final class VoicePlayer: AudioPlayer {
        private var harmonics = (1...12).map { Oscillator(frequency: 125 * Double($0)) }
        private var syllables = Oscillator(frequency: 4)

        func next(into samples: inout MutableSpan<Int16>) -> Bool {
            for index in samples.indices {
                var sum = 0.0
                for number in harmonics.indices { sum += harmonics[number].next() / Double(number + 1) }
                samples[index] = Int16(6_000 * sum * (0.55 + 0.45 * syllables.next()))
            }
            return true
        }
    }

    private static func spoken(to parameters: String, _ preferred: Int = 20_000) -> [EngineRig.Sent] {
        var rig = EngineRig(
            a: [.opus()], b: [.opus(parameters)], packetTime: PacketTime(preferred: preferred, maximum: nil),
            source: .player(1))
        rig.engine.setPlayer(VoicePlayer(), number: 1)
        rig.run(cycles: 90)
        return rig.sent
    }

    private static func carriesRedundancy(_ packet: EngineRig.Sent) -> Bool {
        OpusPacket.carriesRedundancy(packet.payload.span)
    }

    @Test(arguments: [
        ("", 20_000), ("minptime=10;", 10_000), ("stereo=1;", 40_000), ("maxplaybackrate=16000;", 60_000),
        ("maxaveragebitrate=40000;", 20_000),
    ])
    func `a peer that asks for redundancy gets it, and no other`(_ others: String, _ preferred: Int) {
        let with = Self.spoken(to: others + "useinbandfec=1", preferred)
        #expect(with.count { Self.carriesRedundancy($0) } > with.count / 2)
        for parameters in [others + "useinbandfec=0", others] {
            #expect(!Self.spoken(to: parameters, preferred).contains { Self.carriesRedundancy($0) })
        }
    }

    /// With and without the copy, against what would have been heard without loss.
    @Test func `what is lost on the way to a peer can be made from the next packet`() throws {
        let sent = Self.spoken(to: "useinbandfec=1")
        var (recovered, concealed, energy) = (0.0, 0.0, 0.0)
        for lost in stride(from: 30, to: sent.count - 1, by: 10) where Self.carriesRedundancy(sent[lost + 1]) {
            let said = try Self.heard(sent, lost, .received)
            let made = try Self.heard(sent, lost, .recovered)
            let hidden = try Self.heard(sent, lost, .concealed)
            for index in said.indices {
                energy += Double(said[index]) * Double(said[index])
                recovered += (Double(made[index]) - Double(said[index])) * (Double(made[index]) - Double(said[index]))
                concealed +=
                    (Double(hidden[index]) - Double(said[index])) * (Double(hidden[index]) - Double(said[index]))
            }
        }
        #expect(
            energy > 0 && recovered < energy / 4 && recovered < concealed, "\(recovered) and \(concealed) of \(energy)")
    }

    private enum Fate { case received, recovered, concealed }

    /// The 20 ms of a packet, made by a decoder that has heard all before it.
    private static func heard(_ sent: [EngineRig.Sent], _ index: Int, _ fate: Fate) throws -> [Int16] {
        var decoder = try OpusDecoder()
        var samples = [Int16](repeating: 0, count: 960)
        for packet in sent[..<index] {
            var span = samples.mutableSpan
            _ = try decoder.decode(packet.payload.span, into: &span)
        }
        let (own, next) = (sent[index].payload, sent[index + 1].payload)
        var span = samples.mutableSpan
        switch fate {
        case .received: _ = try decoder.decode(own.span, into: &span)
        case .recovered: try decoder.recover(from: next.span, into: &span)
        case .concealed: try decoder.conceal(into: &span)
        }
        return samples
    }
}
