import Audio
import MediaPlane
import MediaServer
import Primitives
import TestSupport
import Testing

/// Cycles follow the packets of a peer that a headless leg hears.
struct FollowedStartTests {
    /// Keeps whether it has heard anything but silence, cycle by cycle.
    private final class Ear: HeadlessVoice {
        var channels: Int { 1 }
        private(set) var heard: [Bool] = []

        func speak(into samples: inout MutableSpan<Int16>) -> Bool { false }

        func hear(_ samples: Span<Int16>, channels: Int) { heard.append(AudioLevel(of: samples) > .silence) }
    }

    private static let loud = (0..<160).map { G711.muLaw.encode($0 % 8 < 4 ? 8_000 : -8_000) }

    /// The first packet comes so many milliseconds after a cycle.
    @Test(arguments: [0, 1, 4, 7, 10, 13, 16, 19])
    func `a packet is heard about as long after it came, whenever that was`(_ phase: Int) throws {
        var rig = EngineRig(a: [.pcmu], b: [.pcmu])
        let ear = Ear()
        rig.listen(ear)
        _ = rig.engine.startCycle(at: rig.clock.now)
        let before = try #require(rig.engine.nextCycle)
        rig.stall(.milliseconds(phase))
        let arrival = rig.clock.now
        rig.receive(Self.loud, payloadType: 0, timestamp: 0)
        let next = try #require(rig.engine.nextCycle)
        #expect(abs((next - before).wholeNanoseconds) <= 10_000_000)
        let wait = Int((next - arrival).wholeNanoseconds / 1_000_000)
        #expect([0, 19].contains((wait + 20) % 20), "\(wait) ms")
        // It is due, or one more cycle after this one.
        rig.stall(max(.zero, next - arrival))
        rig.runCycle()
        rig.runCycle()
        #expect(ear.heard.contains(true))
    }

    @Test func `cycles follow nobody where two are decoded`() throws {
        var rig = EngineRig(a: [.pcmu], b: [.pcmu])
        rig.listen(Ear())
        rig.listen(Ear(), to: .leg(EngineRig.b))
        _ = rig.engine.startCycle(at: rig.clock.now)
        let before = rig.engine.nextCycle
        rig.stall(.milliseconds(7))
        rig.receive(Self.loud, payloadType: 0, timestamp: 0)
        #expect(rig.engine.nextCycle == before)
    }
}
