import CallControl
import CallSupport
import Primitives
import SDP
import SPiDR
import TestSupport
import Testing

/// What a leg owes to the call that it leaves, or to the one that takes it.
struct HandoverTests {
    @Test func `an answer that meets a handover is not lost`() throws {
        var rig = try MidCallRig(.inactive, .inactive)
        _ = try rig.offer(by: .caller, .sendReceive)
        rig.setHolding(true, .callee)
        _ = rig.call.handoverRequested(by: CallID(9), of: .caller, at: rig.clock.now, random: &rig.random)
        let undecided = rig.call
        #expect(throws: CallError.pending(retryAfter: 2)) { try rig.answer(by: .callee) }
        let isUnchanged = rig.call == undecided
        #expect(isUnchanged)
        _ = rig.call.handoverDeclined(by: CallID(9), at: rig.clock.now, random: &rig.random)
        _ = try rig.answer(by: .callee)
        #expect(rig.call.legState(.callee) == .onHold)
    }

    /// Bob was asked for an offer before the conference, and makes it when he has been offered something else.
    @Test func `a leg of a conference makes the offer that it was asked for once`() throws {
        var world = try CallWorld.joined { world in
            try world.act(CallID(1)) { call, random, now throws(CallError) in
                try call.offer(by: .caller, CallUpdateRequest(sdp: ""), at: now, random: &random)
            }
        }
        #expect(world.log("bob1") == ["startCallUpdate", "startCallUpdate"])
        // The offer of the conference lapses.
        world.passTime()
        try respond(&world, setup: "actpass", version: 2)
        #expect(world.log("bob1").last == "respondCallUpdate")
        let heard = world.log("bob1").count
        #expect(throws: CallError.notAllowed(.respond, .state(.inCall))) {
            try respond(&world, setup: "active", version: 3)
        }
        #expect(world.log("bob1").count == heard)
    }

    /// Alice has transferred Bob to Carol, and hangs up while Bob takes his end into a conference.
    @Test func `a completed transferor that hangs up during a handover has left`() throws {
        var rig = try MidCallRig()
        let target = rig.call.takeLeg()
        let answer = CallAnswerRequest(sdp: ScriptedDescription.audio("carol", .sendReceive, setup: "active"))
        let conference = CallID(9)
        let now = rig.clock.now
        _ = try rig.call.transfer(by: .caller, to: TransferTests.target(target), at: now, random: &rig.random)
        rig.note(try rig.call.answer(by: target, answer, at: now, random: &rig.random))
        _ = try rig.answer(by: .callee)
        _ = rig.call.handoverRequested(by: conference, of: .callee, at: now, random: &rig.random)
        let waiting = try rig.call.end(by: .caller, reasonText: nil, at: now)
        #expect(waiting.isEmpty, "only the conference decides")
        let waits = rig.call
        for _ in 0..<3 { _ = try rig.call.end(by: .caller, reasonText: nil, at: now) }
        let isUnchanged = rig.call == waits
        #expect(isUnchanged, "a leg leaves once, however often its client asks for it")
        let carol = HandedOverLeg(before: target, after: LegID(2), session: "C")
        _ = rig.call.handoverTaken(by: conference, [carol], for: .join, at: now)
        #expect(rig.call.legs.map(\.id) == [.callee])
    }

    private func respond(_ world: inout CallWorld, setup: String, version: Int) throws(CallError) {
        let text = ScriptedDescription.audio("callee", .sendReceive, setup: setup, version: version)
        try world.act(CallID(3)) { call, random, now throws(CallError) in
            try call.respond(by: LegID(2), CallUpdateRequest(sdp: text), at: now, random: &random)
        }
    }
}
