import CallControl
import Primitives
import SDP
import TestSupport
import Testing

/// Hold, resume and double hold, in all pairings of the dialects (spidr-wire §8.2).
struct HoldTests {
    static let pairings = HoldDialect.allCases.flatMap { caller in HoldDialect.allCases.map { (caller, $0) } }

    private func states(_ rig: MidCallRig) -> [LegState] { [rig.call.legState(.caller), rig.call.legState(.callee)] }

    @Test(arguments: pairings)
    func `one end holds and resumes`(_ caller: HoldDialect, _ callee: HoldDialect) throws {
        for leg in [LegID.caller, .callee] {
            var rig = try MidCallRig(caller, callee)
            _ = try rig.setHold(true, by: leg)
            #expect(states(rig) == (leg == .caller ? [.onHold, .remotelyHeld] : [.remotelyHeld, .onHold]))
            _ = try rig.setHold(false, by: leg)
            #expect(states(rig) == [.inCall, .inCall])
        }
    }

    @Test(arguments: pairings)
    func `both hold, and resume one after the other`(_ caller: HoldDialect, _ callee: HoldDialect) throws {
        for (first, second) in [(LegID.caller, LegID.callee), (.callee, .caller)] {
            var rig = try MidCallRig(caller, callee)
            _ = try rig.setHold(true, by: .caller)
            _ = try rig.setHold(true, by: .callee)
            #expect(states(rig) == [.onDoubleHold, .onDoubleHold])
            _ = try rig.setHold(false, by: first)
            #expect(rig.call.legState(first) == .remotelyHeld)
            #expect(rig.call.legState(second) == .onHold)
            _ = try rig.setHold(false, by: second)
            #expect(states(rig) == [.inCall, .inCall])
        }
    }

    @Test func `directions pass unchanged`() throws {
        for direction in [MediaDirection.inactive, .sendOnly, .receiveOnly, .sendReceive] {
            var rig = try MidCallRig()
            _ = try rig.offer(by: .caller, direction)
            #expect(try ScriptedDescription.direction(rig.received[.callee] ?? "") == direction)
            _ = try rig.answer(by: .callee)
            #expect(try ScriptedDescription.direction(rig.received[.caller] ?? "") == direction.reversed)
        }
    }

    /// As clients of RFC 2543 do: the direction stays, and nothing can be sent to their address any more.
    @Test(arguments: [(LegID.caller, LegID.callee), (.callee, .caller)])
    func `an address that nothing can be sent to holds`(_ holder: LegID, _ other: LegID) throws {
        var rig = try MidCallRig(.sendOnly, .sendOnly)
        let held = rig.next("\(holder)", .sendReceive).replacing("m=audio 9 ", with: "m=audio 49170 ")
        rig.note(try rig.call.offer(by: holder, CallUpdateRequest(sdp: held), at: rig.clock.now, random: &rig.random))
        #expect(try ScriptedDescription.direction(rig.received[other] ?? "") == .sendOnly)
        let answered = try rig.answer(by: other).traces
        #expect(try ScriptedDescription.direction(rig.received[holder] ?? "") == .receiveOnly)
        #expect(answered.contains("play #1 to \(other)"))
        #expect([rig.call.legState(holder), rig.call.legState(other)] == [.onHold, .remotelyHeld])
        _ = try rig.setHold(false, by: holder)
        #expect(states(rig) == [.inCall, .inCall])
    }

    @Test func `who is held with sendonly hears music until it is over`() throws {
        var rig = try MidCallRig(.sendOnly, .sendOnly)
        let held = try rig.setHold(true, by: .caller).traces
        #expect(held.contains("play #1 to callee"))
        #expect(!held.contains { $0.hasPrefix("play") && $0.hasSuffix("caller") })
        let resumed = try rig.setHold(false, by: .caller).traces
        #expect(resumed.contains("stop callee"))
    }

    @Test func `who is held with inactive can hear nothing`() throws {
        var rig = try MidCallRig(.inactive, .inactive)
        #expect(try !rig.setHold(true, by: .caller).traces.contains { $0.hasPrefix("play") })
    }

    @Test func `what was asked to be played goes before music, and music comes back`() throws {
        var rig = try MidCallRig(.sendOnly, .sendOnly)
        _ = try rig.setHold(true, by: .caller)
        #expect(try rig.call.play(Playback(.file("x.wav")), to: .peer, by: .caller).traces == ["play #2 to callee"])
        let ended = rig.call.playbackEnded(2, for: .callee).traces
        #expect(ended == ["stop callee", "play #3 to callee", "a1 mediaEnded"])
    }

    @Test func `an answer that cannot be used leaves the offer open`() throws {
        var rig = try MidCallRig()
        _ = try rig.offer(by: .caller, .inactive)
        let before = rig.call
        #expect(throws: CallError.self) {
            try rig.call.respond(by: .callee, CallUpdateRequest(sdp: "v=0"), at: rig.clock.now, random: &rig.random)
        }
        #expect(rig.call == before)
        #expect(throws: CallError.self) {
            try rig.call.respond(
                by: .caller, CallUpdateRequest(sdp: rig.next("caller", .inactive)), at: rig.clock.now,
                random: &rig.random)
        }
        #expect(rig.call == before)
    }

    @Test func `either end may hang up while an offer is open`() throws {
        for leg in [LegID.caller, .callee] {
            var rig = try MidCallRig()
            _ = try rig.offer(by: .caller, .inactive)
            #expect(try rig.call.end(by: leg, reasonText: nil, at: rig.clock.now).traces.last == "ended")
        }
    }

    @Test func `an end that is asked for an offer makes one, and gets an answer`() throws {
        var rig = try MidCallRig()
        let asked = try rig.call.offer(by: .caller, CallUpdateRequest(sdp: ""), at: rig.clock.now, random: &rig.random)
        #expect(asked.traces == ["bob1 startCallUpdate"])
        let offered = try rig.call.respond(
            by: .callee, CallUpdateRequest(sdp: rig.next("callee", .sendReceive)), at: rig.clock.now,
            random: &rig.random)
        #expect(offered.traces == ["a1 startCallUpdate"])
        rig.note(offered)
        let answered = try rig.answer(by: .caller).traces
        #expect(answered.last == "bob1 respondCallUpdate")
        #expect(states(rig) == [.inCall, .inCall])
    }

    @Test func `a new way to an end concerns nobody else`() throws {
        var rig = try MidCallRig()
        let text = rig.next("caller2", .sendReceive).replacing("AB:AB", with: "CD:CD")
        let actions = try rig.call.offer(
            by: .caller, CallUpdateRequest(sdp: text), at: rig.clock.now, random: &rig.random)
        #expect(actions.traces == ["prepare caller", "connect caller", "a1 respondCallUpdate"])
        #expect(states(rig) == [.inCall, .inCall])
    }

    @Test func `operations before the answer are refused with the state`() throws {
        var rig = CallRig(isAnchored: false)
        _ = try rig.start()
        #expect(throws: CallError.notAllowed(.offer, .state(.ringing))) {
            var random = SeededRandomSource(seed: 1)
            _ = try rig.call.offer(by: .caller, CallUpdateRequest(sdp: "x"), at: rig.clock.now, random: &random)
        }
    }
    @Test(arguments: [LegID.caller, .callee])
    func `where media goes from peer to peer, an offer waits until the one before it is answered`(_ second: LegID)
        throws
    {
        var rig = CallRig(isAnchored: false)
        _ = try rig.start()
        _ = try rig.answer()
        #expect(try rig.offerUpdate("offer 1", by: .caller).traces == ["b1+b2 startCallUpdate"])
        let open = rig.call
        #expect(throws: CallError.pending(retryAfter: 2)) { try rig.offerUpdate("offer 2", by: second) }
        #expect(rig.call == open)
        #expect(rig.take(.respond(.callee)) == ["a1 respondCallUpdate"])
        #expect(try rig.offerUpdate("offer 2", by: second).count == 1)
    }
}
