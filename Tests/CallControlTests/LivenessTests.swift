import CallControl
import Primitives
import TestSupport
import Testing

/// Clients that are gone without a word (spidr-wire §6.9).
struct LivenessTests {
    @Test func `an end that neither listens nor asks for anything is given up`() throws {
        var rig = try MidCallRig()
        _ = rig.call.deviceChanged(.callee, .channelsOpen(false), at: rig.clock.now)
        rig.clock.advance(by: .seconds(60))
        rig.call.heard(from: .callee, at: rig.clock.now)
        #expect(rig.call.nextDeadline == Deadline(rig.clock.now + .seconds(90), .silence(.callee)))
        rig.clock.advance(by: .seconds(90))
        #expect(
            rig.call.timeout(at: rig.clock.now).traces == ["release", "a1 callEnd 480 Client is gone", "bob1 callEnd 480 Client is gone", "ended"])
    }

    @Test func `a channel that opens again in time saves the call`() throws {
        var rig = try MidCallRig()
        _ = rig.call.deviceChanged(.caller, .channelsOpen(false), at: rig.clock.now)
        rig.clock.advance(by: .seconds(80))
        _ = rig.call.deviceChanged(.caller, .channelsOpen(true), at: rig.clock.now)
        #expect(rig.call.nextDeadline == nil)
        rig.clock.advance(by: .seconds(600))
        #expect(rig.call.timeout(at: rig.clock.now) == [])
    }
}
