import CallControl
import CallSupport
import Primitives
import SDP
import SPiDR
import TestSupport
import Testing

/// Blind and consultative transfers (spidr-wire §8.5) and conferences (§8.7).
struct TransferTests {
    static let first = CallID(1)
    static let second = CallID(2)
    static let third = CallID(3)

    /// Alice talks to Bob, and in another call to Carol; both are held or not.
    private func world(holding: Bool = true) throws -> CallWorld {
        var world = CallWorld()
        var toBob = try MidCallRig(id: 1, session: "B")
        var toCarol = try MidCallRig(id: 2, bob: MidCallRig.carol, session: "C")
        if holding {
            _ = try toBob.setHold(true, by: .caller)
            _ = try toCarol.setHold(true, by: .caller)
        }
        world.add(toBob.call, keeper: .caller)
        world.add(toCarol.call, keeper: .caller)
        return world
    }

    static func target(_ leg: LegID) -> CallTarget {
        CallTarget(
            leg: leg,
            party: CallParty(
                user: MidCallRig.carol, name: "Carol", session: "C",
                devices: [Device("carol1", sendsRingingFeedback: true)]),
            identity: CallRig.identity("gwtarget"))
    }

    func ring(_ world: inout CallWorld) throws -> LegID {
        var target = LegID.caller
        try world.act(Self.first) { call, random, now throws(CallError) in
            target = call.takeLeg()
            return try call.transfer(by: .caller, to: Self.target(target), at: now, random: &random)
        }
        return target
    }

    static func answer(_ direction: MediaDirection = .sendReceive) -> CallAnswerRequest {
        CallAnswerRequest(sdp: ScriptedDescription.audio("carol", direction, setup: "active"))
    }

    @Test(arguments: [false, true])
    func `a blind transfer brings the other end and the target together`(_ isHeld: Bool) throws {
        var world = try world(holding: isHeld)
        let target = try ring(&world)
        let invitation = try #require(world.told["carol1"]?.last)
        #expect(invitation.type == .call)
        #expect(invitation.parties?.callerDisplayNumber == "bob@example.com")
        #expect(try ScriptedDescription.direction(invitation.sdp ?? "") == .sendReceive)
        #expect(world.log("a1") == [], "nothing is decided yet")

        try world.act(Self.first) { call, random, now throws(CallError) in
            try call.answer(by: target, Self.answer(), at: now, random: &random)
        }
        #expect(world.log("carol1") == ["call", "callCancel"])
        #expect(world.log("a1") == ["sessionComplete Transfer Successful"])
        let update = try #require(world.told["bob1"]?.last)
        #expect(update.type == .startCallUpdate)
        #expect(update.parties?.remoteDisplayNumber == "carol@example.com")
        #expect(update.parties?.callerDisplayNumber == "carol@example.com")
        #expect(try ScriptedDescription.direction(update.sdp ?? "") == .sendReceive)
        #expect(world.routes[Self.first] == [.callee: .leg(target), target: .leg(.callee)])

        try world.act(Self.first) { call, random, now throws(CallError) in
            try call.respond(
                by: .callee,
                CallUpdateRequest(
                    sdp: ScriptedDescription.audio("callee", .sendReceive, setup: "active", version: 100)), at: now,
                random: &random)
        }
        let call = try #require(world.calls[Self.first])
        #expect([call.legState(.callee), call.legState(target), call.legState(.caller)] == [.inCall, .inCall, .ended])
        // The transferor ends its part, which is answered and ends nothing.
        try world.act(Self.first) { call, _, now throws(CallError) in
            try call.end(by: .caller, reasonText: nil, at: now)
        }
        #expect(world.ended.isEmpty)
        try world.act(Self.first) { call, _, now throws(CallError) in try call.end(by: target, reasonText: nil, at: now)
        }
        #expect(world.log("bob1").last == "callEnd")
        #expect(world.ended == [Self.first])
    }

    @Test(arguments: ["reject", "end", "gone", "timeout"])
    func `a blind transfer that fails leaves everybody where they were`(_ failure: String) throws {
        var world = try world()
        let before = try #require(world.calls[Self.first])
        let target = try ring(&world)
        if failure == "timeout" { world.clock.advance(by: .seconds(60)) }
        try world.act(Self.first) { call, _, now throws(CallError) in
            switch failure {
            case "reject": try call.reject(by: target, at: now)
            case "end": try call.end(by: target, reasonText: "busy", at: now)
            case "gone": call.deviceChanged(target, .left("carol1", othersRemain: false), at: now)
            default: call.timeout(at: now)
            }
        }
        let outcome =
            ["reject": "603 Declined", "end": "603 busy", "gone": "480 Not registered", "timeout": "487 No answer"][
                failure] ?? ""
        #expect(world.log("a1") == ["sessionFail \(outcome)"])
        #expect(world.log("bob1") == [])
        let after = try #require(world.calls[Self.first])
        #expect(after.legs == before.legs)
        #expect(after.state == before.state)
    }

    @Test func `while a target rings both others hold and resume, and everybody may go`() throws {
        var world = try world()
        _ = try ring(&world)
        for (leg, subscription) in [(LegID.caller, SubscriptionID("a1")), (.callee, "bob1")] {
            try world.act(Self.first) { call, random, now throws(CallError) in
                try call.offer(
                    by: leg, CallUpdateRequest(sdp: ScriptedDescription.audio("\(leg)", .inactive, version: 100)),
                    at: now, random: &random)
            }
            #expect(world.log(subscription).last == "respondCallUpdate", "the gateway answers at once")
        }
        try world.act(Self.first) { call, _, now throws(CallError) in
            try call.end(by: .callee, reasonText: nil, at: now)
        }
        #expect(world.log("a1").last == "callEnd")
        #expect(world.log("carol1").last == "callEnd 487 Caller hung up")
    }

    @Test(arguments: [false, true])
    func `a consultative transfer brings the two others together`(_ holding: Bool) throws {
        var world = try world(holding: holding)
        try world.act(Self.first) { call, random, now throws(CallError) in
            try call.consult(by: .caller, with: MidCallRig.carol, in: Self.second, at: now, random: &random)
        }
        world.settle()
        #expect(world.log("a1") == ["sessionComplete Transfer Successful", "callEnd Transfer Successful"])
        #expect(world.ended == [Self.second])
        for (subscription, other) in [("bob1", "carol@example.com"), ("carol1", "bob@example.com")] {
            let update = try #require(world.told[SubscriptionID(subscription)]?.last)
            #expect(update.type == .startCallUpdate)
            #expect(update.parties?.remoteDisplayNumber == other)
            #expect(try ScriptedDescription.direction(update.sdp ?? "") == .sendReceive)
        }
        let call = try #require(world.calls[Self.first])
        #expect(call.legs.count { $0.stage == .talking } == 2)
        #expect(world.routes[Self.first]?.count == 2)
    }

    @Test func `a consultative transfer that is refused leaves both calls as they were`() throws {
        var world = try world()
        let before = world.calls
        // Something else goes on in the other call.
        try world.act(Self.second) { call, random, now throws(CallError) in
            try call.transfer(by: .caller, to: Self.target(call.takeLeg()), at: now, random: &random)
        }
        try world.act(Self.first) { call, random, now throws(CallError) in
            try call.consult(by: .caller, with: MidCallRig.carol, in: Self.second, at: now, random: &random)
        }
        world.settle()
        #expect(world.log("a1").last == "sessionFail 480 The other call cannot be taken over")
        #expect(world.calls[Self.first] == before[Self.first])
    }

    @Test func `an offer that waits for its answer is answered when its call is handed over`() throws {
        var world = try world()
        try world.act(Self.second) { call, random, now throws(CallError) in
            try call.offer(
                by: .callee, CallUpdateRequest(sdp: ScriptedDescription.audio("callee", .sendReceive, version: 100)),
                at: now, random: &random)
        }
        try world.act(Self.first) { call, random, now throws(CallError) in
            try call.consult(by: .caller, with: MidCallRig.carol, in: Self.second, at: now, random: &random)
        }
        world.settle()
        #expect(world.log("carol1") == ["respondCallUpdate", "startCallUpdate"])
        #expect(world.log("a1").suffix(2) == ["sessionComplete Transfer Successful", "callEnd Transfer Successful"])
    }

    @Test func `who hangs up while changing hands has hung up`() throws {
        var world = try world()
        try world.act(Self.first) { call, random, now throws(CallError) in
            try call.consult(by: .caller, with: MidCallRig.carol, in: Self.second, at: now, random: &random)
        }
        world.deliver()
        // The ends are on offer; Carol goes.
        try world.act(Self.second) { call, _, now throws(CallError) in
            try call.end(by: .callee, reasonText: "bye", at: now)
        }
        world.settle()
        #expect(world.log("bob1").last == "callEnd bye")
        #expect(world.ended == [Self.first, Self.second])
    }

    private func join(_ world: inout CallWorld) throws {
        let joiner = CallParty(user: MidCallRig.alice, name: "Alice", session: "A3", devices: [Device("a1")])
        var configuration = Call.Configuration()
        configuration.mediaPolicy = .engine
        world.add(Call(id: Self.third, joiner: joiner, configuration: configuration), keeper: .caller)
        try world.act(Self.third) { call, random, now throws(CallError) in
            try call.join(
                [Self.first, Self.second],
                CallUpdateRequest(sdp: ScriptedDescription.audio("alice", .sendReceive, version: 100)),
                identity: CallRig.identity("gwjoin"), at: now, random: &random)
        }
    }

    @Test func `two calls become a conference in which everybody is mixed`() throws {
        var world = try world()
        try join(&world)
        world.settle()
        #expect(
            world.log("a1") == [
                "respondCallUpdate", "sessionComplete Join Successful", "sessionComplete Join Successful",
            ])
        let answer = try #require(world.told["a1"]?.first)
        #expect(answer.parties?.callerDisplayNumber == "conference@example.com")
        #expect(answer.parties?.remoteDisplayNumber == "conference@example.com")
        #expect(world.log("bob1") == ["startCallUpdate"])
        #expect(world.log("carol1") == ["startCallUpdate"])
        #expect(world.routes[Self.third] == [.caller: .mix, LegID(2): .mix, LegID(3): .mix])

        // The old calls are ended by their client, and are gone.
        for call in [Self.first, Self.second] {
            try world.act(call) { call, _, now throws(CallError) in try call.end(by: .caller, reasonText: nil, at: now)
            }
        }
        #expect(world.ended == [Self.first, Self.second])

        // One leaves, the rest go on; then the last two part.
        try world.act(Self.third) { call, _, now throws(CallError) in
            try call.end(by: LegID(2), reasonText: nil, at: now)
        }
        #expect(!world.ended.contains(Self.third))
        try world.act(Self.third) { call, _, now throws(CallError) in
            try call.end(by: .caller, reasonText: nil, at: now)
        }
        #expect(world.log("carol1").last == "callEnd")
        #expect(world.ended.contains(Self.third))
    }

    @Test func `a join that one call refuses fails, and both calls stay`() throws {
        var world = try world()
        try world.act(Self.second) { call, random, now throws(CallError) in
            try call.transfer(by: .caller, to: Self.target(call.takeLeg()), at: now, random: &random)
        }
        let before = world.calls
        try join(&world)
        world.settle()
        #expect(world.log("a1").last == "sessionFail 480 The calls cannot be joined")
        #expect(world.calls[Self.first] == before[Self.first])
        #expect(world.calls[Self.second] == before[Self.second])
        #expect(world.ended == [Self.third])
    }

    @Test func `in a conference whoever asks for an offer gets the gateway's`() throws {
        var world = try world()
        try join(&world)
        world.settle()
        try world.act(Self.third) { call, random, now throws(CallError) in
            try call.offer(by: .caller, CallUpdateRequest(sdp: ""), at: now, random: &random)
        }
        let update = try #require(world.told["a1"]?.last)
        #expect(update.type == .startCallUpdate)
        #expect(try ScriptedDescription.direction(update.sdp ?? "") == .sendReceive)
        let count = world.told["bob1"]?.count
        try world.act(Self.third) { call, random, now throws(CallError) in
            try call.respond(
                by: .caller,
                CallUpdateRequest(sdp: ScriptedDescription.audio("alice", .sendReceive, setup: "active", version: 101)),
                at: now,
                random: &random)
        }
        #expect(world.told["bob1"]?.count == count)
        #expect(world.calls[Self.third]?[.caller]?.isStable == true)
    }

    @Test func `in a conference the gateway answers offers, and nobody else hears of them`() throws {
        var world = try world()
        try join(&world)
        world.settle()
        let count = world.told["bob1"]?.count
        try world.act(Self.third) { call, random, now throws(CallError) in
            try call.offer(
                by: .caller, CallUpdateRequest(sdp: ScriptedDescription.audio("alice", .inactive, version: 100)),
                at: now, random: &random)
        }
        #expect(world.log("a1").last == "respondCallUpdate")
        #expect(world.calls[Self.third]?.legState(.caller) == .onHold)
        #expect(world.calls[Self.third]?.legState(LegID(3)) == .inCall)
        #expect(world.told["bob1"]?.count == count)
    }

    @Test(arguments: [MediaDirection.sendOnly, .inactive])
    func `who holds in a conference is out of the mix, whatever its client writes`(_ direction: MediaDirection) throws {
        var world = try world()
        try join(&world)
        world.settle()
        func say(_ direction: MediaDirection, _ version: Int) throws {
            try world.act(Self.third) { call, random, now throws(CallError) in
                let text = ScriptedDescription.audio("alice", direction, version: version)
                return try call.offer(by: .caller, CallUpdateRequest(sdp: text), at: now, random: &random)
            }
        }
        try say(direction, 101)
        #expect(world.routes[Self.third] == [.caller: .silence, LegID(2): .mix, LegID(3): .mix])
        #expect(try ScriptedDescription.direction(world.told["a1"]?.last?.sdp ?? "") == direction.reversed)
        try say(.sendReceive, 102)
        #expect(world.routes[Self.third] == [.caller: .mix, LegID(2): .mix, LegID(3): .mix])
    }

    /// Bob holds with `sendonly` when Alice joins her calls, and says so again when the conference is offered to him.
    @Test func `who holds when a conference begins is out of the mix until it resumes`() throws {
        var world = try world()
        try world.act(Self.first) { call, random, now throws(CallError) in
            let held = CallUpdateRequest(sdp: ScriptedDescription.audio("callee", .sendOnly, version: 100))
            let told = try call.offer(by: .callee, held, at: now, random: &random)
            let accepted = CallUpdateRequest(
                sdp: ScriptedDescription.audio("caller", .receiveOnly, setup: "active", version: 100))
            return told + (try call.respond(by: .caller, accepted, at: now, random: &random))
        }
        try join(&world)
        world.settle()
        #expect(world.routes[Self.third] == [.caller: .mix, LegID(2): .silence, LegID(3): .mix])
        for (direction, route) in [(MediaDirection.sendOnly, MediaRoute.silence), (.sendReceive, .mix)] {
            try world.act(Self.third) { call, random, now throws(CallError) in
                let isOffer = direction == .sendReceive
                let text = ScriptedDescription.audio(
                    "callee", direction, setup: isOffer ? "actpass" : "active", version: isOffer ? 102 : 101)
                let request = CallUpdateRequest(sdp: text)
                return try isOffer
                    ? call.offer(by: LegID(2), request, at: now, random: &random)
                    : call.respond(by: LegID(2), request, at: now, random: &random)
            }
            #expect(world.routes[Self.third]?[LegID(2)] == route)
        }
    }
}
