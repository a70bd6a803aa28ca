import CallControl
import CallSupport
import Primitives
import SDP
import SPiDR
import TestSupport
import Testing

/// Call replace (spidr-wire §8.8): the target of a consultative transfer gets a new call in place of the one it has.
struct ReplacementTests {
    private static let first = TransferTests.first
    private static let second = TransferTests.second

    /// Alice talks to Bob, and in another call to Carol; all of them list `replacecall`.
    ///
    /// - Parameter source: what Alice says, if she is an application.
    private func world(calling source: HeadlessSource? = nil) throws -> CallWorld {
        var world = CallWorld()
        world.add(try MidCallRig(id: 1, session: "B", replacing: true, calling: source).call, keeper: .caller)
        world.add(
            try MidCallRig(id: 2, bob: MidCallRig.carol, session: "C", replacing: true, calling: source).call,
            keeper: .caller)
        return world
    }

    /// Alice asks for Bob and Carol to be brought together; Carol is offered the new call, whose leg is returned.
    private func offer(_ world: inout CallWorld) throws -> LegID {
        let party = try #require(world.calls[Self.second]?.replaceableParty(talkingTo: .caller))
        var target = LegID.caller
        try world.act(Self.first) { call, random, now throws(CallError) in
            target = call.takeLeg()
            let offered = CallParty(user: party.user, name: party.name, session: "C2", devices: party.devices)
            return try call.transfer(
                by: .caller,
                to: CallTarget(
                    leg: target, party: offered, identity: CallRig.identity("gwreplaced"),
                    replacing: ReplacedCall(call: Self.second, keeper: .caller, session: party.session)),
                at: now, random: &random)
        }
        return target
    }

    private func accept(_ world: inout CallWorld, _ leg: LegID) throws(CallError) {
        try world.act(Self.first) { call, random, now throws(CallError) in
            try call.answer(
                by: leg,
                CallAnswerRequest(
                    sdp: ScriptedDescription.audio("carol2", .sendReceive, setup: "active"), acceptsReplacement: true),
                at: now, random: &random)
        }
    }

    @Test func `whoever accepts has the new call, and the one it replaces is over`() throws {
        var world = try world()
        let target = try offer(&world)
        #expect(world.log("carol1") == ["startCallReplace"])
        let invitation = try #require(world.told["carol1"]?.last)
        #expect(invitation.session == "C2")
        #expect(invitation.replaces == "C")
        #expect(invitation.parties?.remoteDisplayNumber == "bob@example.com")
        #expect(try ScriptedDescription.direction(invitation.sdp ?? "") == .sendReceive)
        #expect(world.log("a1").isEmpty)
        #expect(world.log("bob1").isEmpty)

        try accept(&world, target)
        world.settle()
        #expect(world.log("a1") == ["sessionComplete Transfer Successful", "callEnd Transfer Successful"])
        #expect(world.log("carol1") == ["startCallReplace", "callEnd Transfer Successful"])
        #expect(world.told["carol1"]?.last?.session == "C")
        #expect(world.log("bob1") == ["startCallUpdate"])
        #expect(world.told["bob1"]?.last?.parties?.remoteDisplayNumber == "carol@example.com")
        #expect(world.ended == [Self.second])
        let call = try #require(world.calls[Self.first])
        #expect([LegID.callee, target].map(call.legState) == [.inCall, .inCall])
        #expect(world.routes[Self.first] == [.callee: .leg(target), target: .leg(.callee)])
    }

    @Test func `an application that has two calls brings their parties together in place of the second one`() throws {
        var world = try world(calling: .silence)
        let target = try offer(&world)
        try accept(&world, target)
        world.settle()
        #expect(world.ended == [Self.second])
        #expect(world.log("bob1") == ["startCallUpdate"])
        for call in [Self.first, Self.second] {
            #expect(world.finished[call] == [.caller], "its part in each of the calls is done")
            #expect(world.headless[call]?.isEmpty != false)
        }
        let isToldMore = world.toldTooMuch != nil
        #expect(!isToldMore)
    }

    @Test(arguments: ["reject", "end", "gone", "timeout"])
    func `without acceptance both calls are what they were`(_ failure: String) throws {
        var world = try world()
        let before = world.calls
        let target = try offer(&world)
        if failure == "timeout" { world.clock.advance(by: .seconds(30)) }
        try world.act(Self.first) { call, _, now throws(CallError) in
            switch failure {
            case "reject": try call.reject(by: target, replacement: true, at: now)
            case "end": try call.end(by: target, reasonText: "no", at: now)
            case "gone": call.deviceChanged(target, .left("carol1", othersRemain: false), at: now)
            default: call.timeout(at: now)
            }
        }
        world.settle()
        let outcome =
            ["reject": "603 Declined", "end": "603 no", "gone": "480 Not registered", "timeout": "487 No answer"][
                failure] ?? ""
        #expect(world.log("a1") == ["sessionFail \(outcome)"])
        #expect(world.log("bob1").isEmpty)
        #expect(world.calls[Self.first]?.legs == before[Self.first]?.legs)
        #expect(world.calls[Self.first]?.state == before[Self.first]?.state)
        #expect(world.calls[Self.second] == before[Self.second])
    }

    @Test func `an answer to the wrong kind of invitation is refused`() throws {
        var world = try world()
        let target = try offer(&world)
        let before = world.calls
        #expect(throws: CallError.notAllowed(.answer, .state(.ringing))) {
            try world.act(Self.first) { call, random, now throws(CallError) in
                try call.answer(by: target, CallAnswerRequest(sdp: "v=0"), at: now, random: &random)
            }
        }
        #expect(world.calls == before)

        var rig = CallRig(callee: [CallRig.silent])
        _ = try rig.start()
        let ringing = rig.call
        var random = SeededRandomSource(seed: 1)
        #expect(throws: CallError.notAllowed(.acceptReplacement, .state(.ringing))) {
            try rig.call.answer(
                by: .callee, CallAnswerRequest(sdp: "v=0", acceptsReplacement: true), at: rig.clock.now, random: &random
            )
        }
        #expect(throws: CallError.notAllowed(.rejectReplacement, .state(.ringing))) {
            try rig.call.reject(by: .callee, replacement: true, at: rig.clock.now)
        }
        #expect(rig.call == ringing)
    }

    @Test func `only devices that have the call are offered another in its place`() throws {
        var world = try world()
        let target = try offer(&world)
        try world.act(Self.first) { call, _, now throws(CallError) in
            call.deviceChanged(target, .joined(Device("carol9"), replacing: nil), at: now)
        }
        #expect(world.log("carol9").isEmpty)
        try world.act(Self.first) { call, _, now throws(CallError) in
            call.deviceChanged(target, .joined(Device("carol2"), replacing: "carol1"), at: now)
        }
        #expect(world.log("carol2") == ["startCallReplace"])
    }

    @Test(arguments: [(false, true), (true, false)])
    func `a client that does not list it is not asked`(_ caller: Bool, _ callee: Bool) throws {
        let rig = try MidCallRig(replacing: caller, callee)
        #expect((rig.call.replaceableParty(talkingTo: .caller) != nil) == callee)
        #expect((rig.call.replaceableParty(talkingTo: .callee) != nil) == caller)
    }

    @Test func `a call in which something goes on cannot be replaced`() throws {
        var rig = try MidCallRig(replacing: true)
        _ = try rig.offer(by: .callee, .inactive)
        #expect(rig.call.replaceableParty(talkingTo: .caller) == nil)
    }

    /// Alice asks for both at once: Bob in place of Carol's call, and Carol in place of Bob's.
    @Test func `who has been handed over already is not ended by another replacement`() throws {
        var world = try world()
        let target = try offer(&world)
        try accept(&world, target)
        // The other call wanted the same of this one.
        world.messages.append(CallWorld.Message(to: Self.first, content: .legEvent(.replaced, .caller)))
        world.settle()
        #expect(world.ended == [Self.second])
        #expect(world.calls[Self.first]?.legState(target) == .inCall)
        #expect(world.calls[Self.first]?[.caller] != nil, "its client has yet to end it")
    }

    @Test func `whoever hangs up the old call first is not told again`() throws {
        var world = try world()
        let target = try offer(&world)
        try world.act(Self.second) { call, _, now throws(CallError) in
            try call.end(by: .callee, reasonText: nil, at: now)
        }
        try accept(&world, target)
        world.settle()
        #expect(world.log("a1") == ["callEnd", "sessionComplete Transfer Successful"])
        #expect(world.log("carol1") == ["startCallReplace"])
    }
}
