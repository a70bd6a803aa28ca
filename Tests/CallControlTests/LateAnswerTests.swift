import CallControl
import CallSupport
import Primitives
import SDP
import SPiDR
import TestSupport
import Testing

/// Answers that come late or never: the gateway answers in their place, and tells later what could not be told at once.
struct LateAnswerTests {
    /// The caller has offered to hold, and the gateway has answered, because the callee has not.
    private func unanswered(_ caller: HoldDialect = .inactive, _ callee: HoldDialect = .inactive) throws -> MidCallRig {
        var rig = try MidCallRig(caller, callee)
        _ = try rig.offer(by: .caller, caller.hold(whileHeld: false))
        #expect(rig.call.nextDeadline == Deadline(rig.clock.now + Call.patience, .operation))
        let actions = rig.pass()
        #expect(actions.traces.filter { $0.contains("respond") } == ["a1 respondCallUpdate"])
        return rig
    }

    @Test(arguments: HoldTests.pairings)
    func `an offer that the other end does not answer is answered in its place`(
        _ caller: HoldDialect, _ callee: HoldDialect
    ) throws {
        var rig = try unanswered(caller, callee)
        #expect(rig.states == [.onHold, .remotelyHeld])
        // The late answer is taken, and nobody else has to know.
        #expect(try rig.answer(by: .callee).traces.filter { $0.contains("Update") } == [])
        #expect(rig.states == [.onHold, .remotelyHeld])
        _ = try rig.setHold(false, by: .caller)
        #expect(rig.states == [.inCall, .inCall])
    }

    @Test func `what a late answer says is told to the offerer`() throws {
        var rig = try MidCallRig(.sendOnly, .sendOnly)
        _ = try rig.offer(by: .caller, .sendOnly)
        rig.note(rig.pass())
        #expect(try ScriptedDescription.direction(rig.received[.caller] ?? "") == .receiveOnly)
        rig.setHolding(true, .callee)
        #expect(try rig.answer(by: .callee).traces.filter { $0.contains("Update") } == [])
        #expect(rig.states == [.onDoubleHold, .onDoubleHold])
        let news = rig.pass()
        #expect(news.traces == ["a1 startCallUpdate"])
        rig.note(news)
        #expect(try ScriptedDescription.direction(rig.received[.caller] ?? "") == .sendOnly)
    }

    @Test func `an end that has not answered is told the next change once it has`() throws {
        var rig = try unanswered()
        let resumed = try rig.offer(by: .caller, .sendReceive)
        #expect(
            resumed.traces.filter { $0.contains("Update") } == ["a1 respondCallUpdate"], "the gateway answers at once")
        _ = try rig.answer(by: .callee)
        let news = rig.pass()
        #expect(news.traces == ["bob1 startCallUpdate"])
        rig.note(news)
        #expect(try ScriptedDescription.direction(rig.received[.callee] ?? "") == .sendReceive)
        _ = try rig.answer(by: .callee)
        #expect(rig.states == [.inCall, .inCall])
        #expect(rig.call.nextDeadline == nil)
    }

    @Test func `an end that owes an answer may make an offer instead`() throws {
        var rig = try unanswered()
        _ = try rig.setHold(true, by: .callee)
        #expect(rig.states == [.onDoubleHold, .onDoubleHold])
    }

    /// Two requests of one client overtake each other; the second time, the peer does not count versions.
    @Test(arguments: [1, 0])
    func `an answer that arrives after a newer offer of the same peer changes nothing`(_ step: Int) throws {
        var rig = try unanswered()
        let version = rig.version + 1
        let answer = ScriptedDescription.audio("callee", .inactive, setup: "active", version: version)
        let offer = ScriptedDescription.audio("callee", .sendReceive, version: version + step)
        rig.note(try rig.call.offer(by: .callee, CallUpdateRequest(sdp: offer), at: rig.clock.now, random: &rig.random))
        let late = try rig.call.respond(
            by: .callee, CallUpdateRequest(sdp: answer), at: rig.clock.now, random: &rig.random)
        #expect(late == [])
        let answered = try rig.answer(by: .caller)
        #expect(answered.traces.filter { $0.contains("Update") } == ["bob1 respondCallUpdate"])
    }

    @Test func `an offer that lapses is made once more`() throws {
        var rig = try unanswered()
        #expect(rig.pass() == [], "it lapses")
        #expect(rig.pass().traces == ["bob1 startCallUpdate"])
        #expect(rig.states == [.onHold, .remotelyHeld])
    }

    @Test func `an answer that nothing was offered for is refused`() throws {
        var rig = try MidCallRig()
        #expect(throws: CallError.notAllowed(.respond, .state(.inCall))) {
            let answer = rig.next("callee", .sendReceive, setup: "active")
            _ = try rig.call.respond(
                by: .callee, CallUpdateRequest(sdp: answer), at: rig.clock.now, random: &rig.random)
        }
    }

    @Test func `an offer instead that cannot be used leaves everything as it was`() throws {
        var rig = try unanswered()
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

/// Offers that cross: each is the answer to the other one, and nobody waits.
struct CrossingOfferTests {
    private func crossed(_ caller: HoldDialect, _ callee: HoldDialect) throws -> MidCallRig {
        var rig = try MidCallRig(caller, callee)
        _ = try rig.offer(by: .caller, caller.hold(whileHeld: false))
        rig.setHolding(true, .caller)
        let actions = try rig.offer(by: .callee, callee.hold(whileHeld: false))
        rig.setHolding(true, .callee)
        #expect(actions.traces.filter { $0.contains("Update") } == ["bob1 respondCallUpdate", "a1 respondCallUpdate"])
        return rig
    }

    @Test(arguments: HoldTests.pairings)
    func `two holds that cross are a double hold at once`(_ caller: HoldDialect, _ callee: HoldDialect) throws {
        var rig = try crossed(caller, callee)
        #expect(rig.states == [.onDoubleHold, .onDoubleHold])
        try rig.settle()
        _ = try rig.setHold(false, by: .caller)
        #expect(rig.states == [.remotelyHeld, .onHold])
        _ = try rig.setHold(false, by: .callee)
        #expect(rig.states == [.inCall, .inCall])
    }

    /// Two requests of the callee overtake each other: it has answered the hold of the caller, and holds as well.
    @Test func `an end whose answer comes after its own hold is told that the other resumes`() throws {
        var rig = try MidCallRig()
        _ = try rig.offer(by: .caller, .inactive)
        let answer = rig.next("callee", .inactive, setup: "active")
        _ = try rig.offer(by: .callee, .inactive)
        rig.setHolding(true, .callee)
        let late = try rig.call.respond(
            by: .callee, CallUpdateRequest(sdp: answer), at: rig.clock.now, random: &rig.random)
        #expect(late == [])
        #expect(try rig.offer(by: .caller, .sendReceive).traces.contains("bob1 startCallUpdate"))
        _ = try rig.answer(by: .callee)
        #expect(rig.states == [.remotelyHeld, .onHold])
    }

    @Test(arguments: HoldTests.pairings)
    func `a client that puts its own offer aside is believed`(_ caller: HoldDialect, _ callee: HoldDialect) throws {
        var rig = try crossed(caller, callee)
        // What the callee was offered before its own offer, it answers now.
        rig.setHolding(false, .callee)
        let held = rig.next("callee", caller.hold(whileHeld: false).reversed, setup: "active")
        rig.note(
            try rig.call.respond(by: .callee, CallUpdateRequest(sdp: held), at: rig.clock.now, random: &rig.random))
        #expect(rig.states == [.onHold, .remotelyHeld])
        try rig.settle()
        _ = try rig.setHold(false, by: .caller)
        #expect(rig.states == [.inCall, .inCall])
    }

    @Test func `an m-line that an offer adds while another one crosses it is there afterwards`() throws {
        var rig = try MidCallRig(.sendOnly, .sendOnly)
        _ = try rig.offer(by: .caller, .sendOnly)
        rig.setHolding(true, .caller)
        let film = ScriptedDescription.audio("callee", .sendReceive, video: .sendReceive, version: 90)
        rig.note(try rig.call.offer(by: .callee, CallUpdateRequest(sdp: film), at: rig.clock.now, random: &rig.random))
        #expect(
            try ScriptedDescription.directions(rig.received[.callee] ?? "") == [.sendOnly, .inactive],
            "the line is kept open")
        // The caller is told of the picture, and its answer comes back.
        let told = rig.passUntilTold()
        #expect(told.traces == ["a1 startCallUpdate"])
        rig.note(told)
        #expect(try ScriptedDescription.directions(rig.received[.caller] ?? "") == [.sendReceive, .sendReceive])
        let answer = ScriptedDescription.audio("caller", .sendOnly, video: .receiveOnly, setup: "active", version: 91)
        rig.note(
            try rig.call.respond(by: .caller, CallUpdateRequest(sdp: answer), at: rig.clock.now, random: &rig.random))
        let back = rig.passUntilTold()
        #expect(back.traces == ["bob1 startCallUpdate"])
        rig.note(back)
        #expect(try ScriptedDescription.directions(rig.received[.callee] ?? "") == [.sendOnly, .receiveOnly])
    }

    @Test func `what is said beside an offer is not lost when the gateway answers it`() throws {
        var rig = try MidCallRig()
        _ = try rig.offer(by: .caller, .inactive)
        let content = CustomContent(parameters: [CustomParameter(name: "X-Reason", value: "lunch")])
        let hold = rig.next("callee", .inactive)
        let actions = try rig.call.offer(
            by: .callee, CallUpdateRequest(sdp: hold, content: content), at: rig.clock.now, random: &rig.random)
        let carried = actions.told.contains {
            $0.receivers == ["a1"] && $0.notification.customParameters == content.parameters
        }
        #expect(carried)
    }
}

extension MidCallRig {
    var states: [LegState] { [call.legState(.caller), call.legState(.callee)] }

    /// Time passes until the next thing is due.
    mutating func pass() -> [CallAction] {
        guard let next = call.nextDeadline else { return [] }
        clock.advance(by: next.time - clock.now)
        return call.timeout(at: clock.now, random: &random)
    }

    /// Time passes until somebody is told something.
    mutating func passUntilTold() -> [CallAction] {
        for _ in 0..<8 {
            let actions = pass()
            if actions.traces.contains(where: { $0.hasSuffix("Update") }) { return actions }
        }
        return []
    }

    /// The gateway tells what is to be told, and everybody answers.
    mutating func settle() throws {
        while let next = call.nextDeadline, next.time - clock.now < .seconds(10) {
            let actions = pass()
            note(actions)
            for told in actions.told where told.notification.type == .startCallUpdate {
                _ = try answer(by: told.leg)
            }
        }
    }
}
