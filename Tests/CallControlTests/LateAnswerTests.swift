import CallControl
import Primitives
import SDP
import TestSupport
import Testing

/// Answers that come when their offer is withdrawn: nothing in them says which offer they belong to.
struct LateAnswerTests {
    /// The caller has offered to hold, and the callee has not answered for 30 s.
    private func withdrawn(_ caller: HoldDialect = .inactive, _ callee: HoldDialect = .inactive) throws -> MidCallRig {
        var rig = try MidCallRig(caller, callee)
        _ = try rig.offer(by: .caller, caller.hold(whileHeld: false))
        rig.clock.advance(by: .seconds(30))
        #expect(rig.call.timeout(at: rig.clock.now).traces == ["a1 respondCallUpdate The other side did not answer in time"])
        return rig
    }

    private func states(_ rig: MidCallRig) -> [LegState] { [rig.call.legState(.caller), rig.call.legState(.callee)] }

    @Test(arguments: HoldTests.pairings)
    func `a late answer is not taken for that to the next offer`(_ caller: HoldDialect, _ callee: HoldDialect) throws {
        var rig = try withdrawn(caller, callee)
        let before = rig.call
        #expect(throws: CallError.pending(retryAfter: 2)) { _ = try rig.offer(by: .caller, .sendReceive) }
        #expect(rig.call == before)
        // Its client goes by the hold that came to nothing, and is told anew what holds.
        let restored = try rig.answer(by: .callee)
        #expect(restored.traces == ["connect callee", "bob1 startCallUpdate"])
        rig.note(restored)
        #expect(try ScriptedDescription.direction(rig.received[.callee] ?? "") == .sendReceive)
        _ = try rig.answer(by: .callee)
        #expect(states(rig) == [.inCall, .inCall])
        _ = try rig.setHold(true, by: .caller)
        #expect(states(rig) == [.onHold, .remotelyHeld])
    }

    @Test func `who holds is not forgotten when another is told anew`() throws {
        var rig = try MidCallRig()
        _ = try rig.setHold(true, by: .callee)
        rig.clock.advance(by: .seconds(1))
        _ = try rig.offer(by: .caller, .inactive)
        rig.clock.advance(by: .seconds(30))
        _ = rig.call.timeout(at: rig.clock.now)
        for _ in 0..<2 { rig.note(try rig.answer(by: .callee)) }
        #expect(states(rig) == [.remotelyHeld, .onHold])
    }

    @Test func `an end that owes an answer may make an offer instead`() throws {
        var rig = try withdrawn()
        _ = try rig.setHold(true, by: .callee)
        #expect(states(rig) == [.remotelyHeld, .onHold])
    }

    @Test func `an answer that does not come at all is waited for once more and no longer`() throws {
        var rig = try withdrawn()
        #expect(rig.call.nextDeadline == Deadline(rig.clock.now + .seconds(30), .ownOffer(.callee)))
        rig.clock.advance(by: .seconds(30))
        #expect(rig.call.timeout(at: rig.clock.now) == [])
        #expect(rig.call.nextDeadline == nil)
        #expect(throws: CallError.notAllowed(operation: "respondCallUpdate", state: "IN_CALL")) { _ = try rig.answer(by: .callee) }
        _ = try rig.setHold(true, by: .caller)
        #expect(states(rig) == [.onHold, .remotelyHeld])
    }

    @Test func `an offer instead that cannot be used leaves everything as it was`() throws {
        var rig = try withdrawn()
        let before = rig.call
        #expect(throws: CallError.self) {
            try rig.call.offer(by: .callee, CallUpdateRequest(sdp: "v=0"), at: rig.clock.now, random: &rig.random)
        }
        #expect(throws: CallError.self) {
            try rig.call.respond(by: .callee, CallUpdateRequest(sdp: "v=0"), at: rig.clock.now, random: &rig.random)
        }
        #expect(rig.call == before)
    }
}
