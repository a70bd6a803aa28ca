import CallControl
import Primitives
import SDP
import TestSupport
import Testing

/// Requests that come twice, or too late (RFC 9110 §9.2.2, RFC 3264 §8).
struct RepetitionTests {
    private static let answer = CallAnswerRequest(
        sdp: ScriptedDescription.audio("callee", .sendReceive, setup: "active"))

    private static func update(_ ufrag: String, _ direction: MediaDirection, version: Int, setup: String = "actpass")
        -> CallUpdateRequest
    {
        CallUpdateRequest(sdp: ScriptedDescription.audio(ufrag, direction, setup: setup, version: version))
    }

    @Test func `an answer that comes again is accepted, one of another device is not`() throws {
        var rig = try MidCallRig()
        let before = rig.call
        #expect(try rig.call.answer(by: .callee, Self.answer, at: rig.clock.now, random: &rig.random).isEmpty)
        #expect(rig.call == before)
        let other = CallAnswerRequest(sdp: ScriptedDescription.audio("pocket", .sendReceive, setup: "active"))
        #expect(throws: CallError.alreadyAnswered(state: .inCall)) {
            try rig.call.answer(by: .callee, other, at: rig.clock.now, random: &rig.random)
        }
        _ = try rig.call.end(by: .caller, reasonText: nil, at: rig.clock.now)
        #expect(throws: CallError.noSuchCall) {
            try rig.call.answer(by: .callee, Self.answer, at: rig.clock.now, random: &rig.random)
        }
    }

    @Test func `the same start once more is the same call until the call is over`() throws {
        var rig = try MidCallRig()
        let start = CallStartRequest(
            callee: CallRig.bob, sdp: ScriptedDescription.audio("caller", .sendReceive))
        #expect(rig.call.isRepeated(by: start))
        _ = try rig.call.end(by: .caller, reasonText: nil, at: rig.clock.now)
        #expect(!rig.call.isRepeated(by: start), "a caller who was told of the end may call again at once")
    }

    @Test func `an offer that comes again waits for the answer that is on its way`() throws {
        var rig = try MidCallRig()
        let hold = Self.update("caller", .inactive, version: 2)
        _ = try rig.call.offer(by: .caller, hold, at: rig.clock.now, random: &rig.random)
        let before = rig.call
        #expect(try rig.call.offer(by: .caller, hold, at: rig.clock.now, random: &rig.random).isEmpty)
        #expect(rig.call == before)
        // Another one takes its place, and is answered by the gateway, because the callee still has the first to
        // answer.
        let another = Self.update("caller", .sendReceive, version: 3)
        #expect(
            try rig.call.offer(by: .caller, another, at: rig.clock.now, random: &rig.random).traces == [
                "connect caller", "a1 respondCallUpdate",
            ])
    }

    @Test func `an offer that comes again after its answer is answered by the gateway alone`() throws {
        var rig = try MidCallRig()
        let hold = Self.update("caller", .inactive, version: 2)
        rig.note(try rig.call.offer(by: .caller, hold, at: rig.clock.now, random: &rig.random))
        _ = try rig.answer(by: .callee)
        let actions = try rig.call.offer(by: .caller, hold, at: rig.clock.now, random: &rig.random)
        #expect(actions.traces == ["connect caller", "a1 respondCallUpdate"])
        #expect([LegID.caller, .callee].map { rig.call.legState($0) } == [.onHold, .remotelyHeld])
    }

    @Test func `an offer that the gateway has answered alone is answered again when it comes again`() throws {
        var rig = try MidCallRig()
        let hold = Self.update("caller", .inactive, version: 2)
        _ = try rig.call.offer(by: .caller, hold, at: rig.clock.now, random: &rig.random)
        rig.clock.advance(by: Call.patience)
        #expect(rig.call.timeout(at: rig.clock.now).traces.prefix(2) == ["connect caller", "a1 respondCallUpdate"])
        #expect(
            try rig.call.offer(by: .caller, hold, at: rig.clock.now, random: &rig.random).traces == [
                "connect caller", "a1 respondCallUpdate",
            ])
    }

    @Test
    func `an answer within the call that comes again is accepted, even where a newer offer waits for another one`()
        throws
    {
        var rig = try MidCallRig()
        let held = Self.update("callee", .inactive, version: 2, setup: "active")
        _ = try rig.call.offer(
            by: .caller, Self.update("caller", .inactive, version: 2), at: rig.clock.now, random: &rig.random)
        _ = try rig.call.respond(by: .callee, held, at: rig.clock.now, random: &rig.random)
        #expect(try rig.call.respond(by: .callee, held, at: rig.clock.now, random: &rig.random).isEmpty)

        _ = try rig.call.offer(
            by: .caller, Self.update("caller", .sendReceive, version: 3), at: rig.clock.now, random: &rig.random)
        #expect(try rig.call.respond(by: .callee, held, at: rig.clock.now, random: &rig.random).isEmpty)
        let resumed = Self.update("callee", .sendReceive, version: 3, setup: "active")
        #expect(
            try rig.call.respond(by: .callee, resumed, at: rig.clock.now, random: &rig.random).traces.last
                == "a1 respondCallUpdate")
        #expect([LegID.caller, .callee].map { rig.call.legState($0) } == [.inCall, .inCall])
    }

    @Test func `what has been overtaken by something newer of the same peer is refused`() throws {
        var rig = try MidCallRig()
        let hold = Self.update("caller", .inactive, version: 2)
        for offer in [hold, Self.update("caller", .sendReceive, version: 3)] {
            rig.note(try rig.call.offer(by: .caller, offer, at: rig.clock.now, random: &rig.random))
            _ = try rig.answer(by: .callee)
        }
        let before = rig.call
        #expect(
            throws: CallError.notAllowed(.offer, .olderDescription(.inCall))
        ) {
            try rig.call.offer(by: .caller, hold, at: rig.clock.now, random: &rig.random)
        }
        #expect(rig.call == before)
        // A page that was loaded again counts anew, under another session id.
        let anew = hold.sdp.replacing("o=- 1 2", with: "o=- 9 1")
        #expect(
            try rig.call.offer(by: .caller, CallUpdateRequest(sdp: anew), at: rig.clock.now, random: &rig.random).traces
                .contains("bob1 startCallUpdate"))
    }

    /// GStreamer repeats the line of the gateway's offer in its answer, and begins its own offers with version 0 of the
    /// same session.
    @Test func `a session id that is the gateway's own says nothing about order`() throws {
        var rig = try MidCallRig()
        let gateways = "o=- \(CallRig.identity("gwcallee").sessionID)"
        let echo = Self.update("callee", .inactive, version: 2, setup: "active").sdp.replacing(
            "o=- 1 2", with: "\(gateways) 2")
        rig.note(
            try rig.call.offer(
                by: .caller, Self.update("caller", .inactive, version: 2), at: rig.clock.now, random: &rig.random))
        _ = try rig.call.respond(by: .callee, CallUpdateRequest(sdp: echo), at: rig.clock.now, random: &rig.random)
        let own = Self.update("callee", .sendReceive, version: 0).sdp.replacing("o=- 1 0", with: "\(gateways) 0")
        let actions = try rig.call.offer(
            by: .callee, CallUpdateRequest(sdp: own), at: rig.clock.now, random: &rig.random)
        #expect(actions.traces == ["a1 startCallUpdate"])
    }

    @Test func `what is older stays so while its peer asks for an offer, and when it has asked in vain`() throws {
        var rig = try MidCallRig()
        let hold = Self.update("caller", .inactive, version: 2)
        for offer in [hold, Self.update("caller", .sendReceive, version: 3)] {
            rig.note(try rig.call.offer(by: .caller, offer, at: rig.clock.now, random: &rig.random))
            _ = try rig.answer(by: .callee)
        }
        _ = try rig.call.offer(by: .caller, CallUpdateRequest(sdp: ""), at: rig.clock.now, random: &rig.random)
        let refusal = CallError.notAllowed(.offer, .olderDescription(.inCall))
        #expect(throws: refusal) { try rig.call.offer(by: .caller, hold, at: rig.clock.now, random: &rig.random) }
        rig.clock.advance(by: .seconds(30))
        _ = rig.call.timeout(at: rig.clock.now)
        #expect(throws: refusal) { try rig.call.offer(by: .caller, hold, at: rig.clock.now, random: &rig.random) }
    }

    @Test func `a description without a version is never taken for another`() throws {
        var rig = CallRig()
        _ = rig.take(.start)
        _ = rig.take(.answer(.callee))
        #expect(rig.take(.answer(.callee)) == ["refused alreadyAnswered"])
    }
}
