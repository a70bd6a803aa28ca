import Audio
import MediaPlane
import MediaServer
import Opus
import Primitives
import SDP
import Spandsp
import Testing

/// A mix of peers that each use another codec.
struct MixedCodecTests {
    /// A sine in packets of 20 ms.
    private final class Voice {
        private let codec: Codec
        private var oscillator: Oscillator
        private var timestamp: UInt32 = .max - 2_000
        private var opus: OpusEncoder
        private var g722 = G722Encoder()

        init(_ frequency: Double, in codec: Codec) throws {
            self.codec = codec
            oscillator = Oscillator(frequency: frequency, rate: MixedCodecTests.rate(of: codec))
            opus = try OpusEncoder()
        }

        func next() throws -> (payload: [UInt8], timestamp: UInt32) {
            let samples = (0..<(Int(MixedCodecTests.rate(of: codec)) / 50)).map { _ in Int16(8_000 * oscillator.next())
            }
            defer { timestamp &+= UInt32(codec.clockRate / 50) }
            return (try encoded(samples), timestamp)
        }

        private func encoded(_ samples: [Int16]) throws -> [UInt8] {
            if codec.isNamed("PCMU") { return samples.map(G711.muLaw.encode) }
            if codec.isNamed("PCMA") { return samples.map(G711.aLaw.encode) }
            var payload = [UInt8](repeating: 0, count: 1_500)
            var span = payload.mutableSpan
            let size =
                codec.isNamed("G722")
                ? g722.encode(samples.span, into: &span) : try opus.encode(samples.span, into: &span)
            return Array(payload[..<size])
        }
    }

    /// Samples per second; the clock of G.722 says 8,000 (RFC 3551 §4.5.2).
    private static func rate(of codec: Codec) -> Double { codec.isNamed("G722") ? 16_000 : Double(codec.clockRate) }

    /// What a peer hears, without the first 400 ms.
    private static func heard(by leg: LegIndex, in codec: Codec, _ rig: EngineRig) throws -> [Int16] {
        var opus = try OpusDecoder()
        var g722 = G722Decoder()
        var heard: [Int16] = []
        for packet in rig.sent where packet.leg == leg {
            #expect(packet.payloadType == Int(codec.payloadType.rawValue))
            if codec.isNamed("PCMU") {
                heard += packet.payload.map(G711.muLaw.decode)
            } else if codec.isNamed("PCMA") {
                heard += packet.payload.map(G711.aLaw.decode)
            } else {
                var samples = [Int16](repeating: 0, count: 5_760)
                var span = samples.mutableSpan
                let count =
                    codec.isNamed("G722")
                    ? g722.decode(packet.payload.span, into: &span) : try opus.decode(packet.payload.span, into: &span)
                heard += samples.prefix(count)
            }
        }
        return Array(heard.dropFirst(Int(rate(of: codec)) * 2 / 5))
    }

    @Test(arguments: [(Codec.opus(), .g722), (.pcmu, .pcma), (.pcma, .opus()), (.g722, .pcmu)] as [(Codec, Codec)])
    func `each hears all others in its own codec, and not itself`(_ one: Codec, _ other: Codec) throws {
        let codecs = [one, other, .opus()]
        var rig = EngineRig(mixing: codecs.map { [$0] })
        let voices = [try Voice(500, in: one), try Voice(1_000, in: other)]
        for _ in 0..<70 {
            for (place, voice) in voices.enumerated() {
                let packet = try voice.next()
                rig.receive(
                    packet.payload, from: LegIndex(place), payloadType: Int(codecs[place].payloadType.rawValue),
                    timestamp: packet.timestamp)
            }
            rig.runCycle()
        }
        // Of 500 and 1,000 Hz.
        let expected = [(0.0, 1.0), (1.0, 0.0), (0.5, 0.5)]
        for (place, codec) in codecs.enumerated() {
            let heard = try Self.heard(by: LegIndex(place), in: codec, rig)
            let rate = Self.rate(of: codec)
            #expect(heard.count >= Int(rate) / 2)
            let shares = (share(of: 500, in: heard, rate: rate), share(of: 1_000, in: heard, rate: rate))
            #expect(
                abs(shares.0 - expected[place].0) < 0.1 && abs(shares.1 - expected[place].1) < 0.1,
                "leg \(place): \(shares)")
            // A sine of 8,000 is 15 dB below full scale; two are 3 dB more.
            let level = Int(AudioLevel(of: heard.span).decibelsBelow)
            #expect(abs(level - (place == 2 ? 12 : 15)) <= 1, "leg \(place): \(level)")
        }
    }
}
