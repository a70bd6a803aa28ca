import Audio
import MediaPlane
import MediaServer
import SDP
import Testing

/// How loud what the gateway makes for a leg is, as statistics tell it.
struct SpokenLevelTests {
    private static func playing(_ amplitude: Double, to codecs: [Codec]) -> EngineRig {
        var rig = EngineRig(a: [.opus()], b: codecs, source: .player(1))
        rig.engine.setPlayer(SinePlayer(amplitude: amplitude), number: 1)
        rig.run(cycles: 5)
        return rig
    }

    /// The RMS of a sine is 3 dB below its peak.
    @Test(
        arguments: [(32_000, 3), (8_000, 15), (800, 35), (80, 55)] as [(Double, UInt8)],
        [Codec.opus(), .opus("stereo=1"), .pcmu, .g722])
    func `it is that of the samples, whatever the codec`(_ sine: (amplitude: Double, level: UInt8), _ codec: Codec) {
        let rig = Self.playing(sine.amplitude, to: [codec])
        #expect(rig.spoken(to: EngineRig.b)?.decibelsBelow == sine.level)
        #expect(rig.spoken(to: EngineRig.a) == nil, "nothing is made for whoever hears nothing")
    }

    @Test func `a player that has ended is silence, and a source that is none has no level`() {
        var rig = Self.playing(8_000, to: [.pcmu])
        rig.engine.setPlayer(nil, number: 1)
        rig.runCycle()
        #expect(rig.spoken(to: EngineRig.b) == .silence)
        rig.setSource(.silence)
        #expect(rig.spoken(to: EngineRig.b) == nil)
    }

    @Test func `digits are heard by those who are not told of them`() throws {
        for (codecs, sounds) in [([Codec.opus(), .events48], false), ([.opus()], true)] {
            var rig = Self.playing(20, to: codecs)
            #expect(rig.press("5", duration: 200, gap: 50))
            rig.run(cycles: 4)
            let level = try #require(rig.spoken(to: EngineRig.b))
            #expect(sounds ? level.decibelsBelow < 20 : level == .silence, "\(level)")
        }
    }

    @Test func `what is coded anew is as loud as what was decoded`() throws {
        var rig = EngineRig(a: [.pcma], b: [.opus()])
        var oscillator = Oscillator(frequency: 500, rate: 8_000)
        for cycle in 0..<30 {
            rig.receive(
                (0..<160).map { _ in G711.aLaw.encode(Int16(8_000 * oscillator.next())) }, payloadType: 8,
                timestamp: UInt32(cycle * 160))
            rig.runCycle()
        }
        let (heard, said) = (try #require(rig.heard(from: EngineRig.a)), try #require(rig.spoken(to: EngineRig.b)))
        #expect(heard == said && abs(Int(said.decibelsBelow) - 15) <= 1, "\(heard), \(said)")
    }
}
