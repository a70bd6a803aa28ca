import CallControl
import CallSupport
import Primitives
import SDP
import SPiDR
import TestSupport
import Testing

/// An end that holds by itself while it is brought together with somebody new: that one has to know.
extension TransferTests {
    /// Bob, and Carol if she is in a call, hold by themselves in these dialects.
    private func brought(_ bob: HoldDialect, _ carol: HoldDialect?, carolHolds: Bool = true) throws -> CallWorld {
        var rig = try MidCallRig(id: 1, .inactive, bob, session: "B")
        _ = try rig.setHold(true, by: .callee)
        var world = CallWorld()
        world.add(rig.call, keeper: .caller)
        guard let carol else { return world }
        var other = try MidCallRig(id: 2, .inactive, carol, bob: MidCallRig.carol, session: "C")
        if carolHolds { _ = try other.setHold(true, by: .callee) }
        world.add(other.call, keeper: .caller)
        return world
    }

    /// The end answers what it was offered last, holding or not.
    private func answer(
        _ world: inout CallWorld, _ leg: LegID, _ subscription: SubscriptionID, _ dialect: HoldDialect, holding: Bool
    ) throws -> MediaDirection {
        let offered = try #require(
            try ScriptedDescription.direction(world.told[subscription]?.last { $0.type == .startCallUpdate }?.sdp ?? "")
        )
        let version = 100 + (world.told[subscription]?.count ?? 0)
        let name = subscription == "carol1" && world.calls[Self.second] == nil ? "carol" : "callee"
        let text = ScriptedDescription.audio(
            name, dialect.answer(to: offered, holding: holding), setup: "active", version: version)
        try world.act(Self.first) { call, random, now throws(CallError) in
            try call.respond(by: leg, CallUpdateRequest(sdp: text), at: now, random: &random)
        }
        return offered
    }

    private func states(_ world: CallWorld, _ legs: [LegID]) -> [LegState] {
        legs.compactMap { world.calls[Self.first]?.legState($0) }
    }

    @Test(arguments: HoldTests.pairings)
    func `the target of a blind transfer is told that it talks to somebody who holds`(
        _ bob: HoldDialect, _ carol: HoldDialect
    ) throws {
        var world = try brought(bob, nil)
        let target = try ring(&world)
        try world.act(Self.first) { call, random, now throws(CallError) in
            try call.answer(by: target, Self.answer(), at: now, random: &random)
        }
        #expect(world.log("carol1") == ["call", "callCancel"], "what Bob has to say is yet to come")
        #expect(try answer(&world, .callee, "bob1", bob, holding: true) == .sendReceive)
        world.passTime()
        #expect(world.log("carol1").last == "startCallUpdate")
        #expect(world.told["carol1"]?.last?.parties?.remoteDisplayNumber == "bob@example.com")
        #expect(
            try answer(&world, target, "carol1", carol, holding: false) == (bob == .inactive ? .inactive : .sendOnly))
        #expect(states(world, [.callee, target]) == [.onHold, .remotelyHeld])
        // And back, as after any hold.
        try world.act(Self.first) { call, random, now throws(CallError) in
            try call.offer(
                by: .callee, CallUpdateRequest(sdp: ScriptedDescription.audio("callee", .sendReceive, version: 200)),
                at: now, random: &random)
        }
        #expect(try answer(&world, target, "carol1", carol, holding: false) == .sendReceive)
        #expect(states(world, [.callee, target]) == [.inCall, .inCall])
    }

    @Test(arguments: HoldTests.pairings)
    func `two who hold each other after a consultative transfer both know`(_ bob: HoldDialect, _ carol: HoldDialect)
        throws
    {
        for carolHolds in [true, false] {
            var world = try brought(bob, carol, carolHolds: carolHolds)
            try world.act(Self.first) { call, random, now throws(CallError) in
                try call.consult(by: .caller, with: MidCallRig.carol, in: Self.second, at: now, random: &random)
            }
            world.settle()
            let target = LegID(2)
            let ends: [(LegID, SubscriptionID, HoldDialect, Bool)] = [
                (.callee, "bob1", bob, true), (target, "carol1", carol, carolHolds),
            ]
            for (leg, subscription, dialect, holds) in ends {
                let other = leg == target ? bob : carol
                let isHeld = leg == target || carolHolds
                let told: MediaDirection = !isHeld ? .sendReceive : other == .inactive ? .inactive : .sendOnly
                #expect(try answer(&world, leg, subscription, dialect, holding: holds) == told)
            }
            #expect(world.log("carol1").count { $0 == "startCallUpdate" } == 1, "each is told once")
            #expect(world.log("bob1").count { $0 == "startCallUpdate" } == 1)
            #expect(
                states(world, [.callee, target])
                    == (carolHolds ? [.onDoubleHold, .onDoubleHold] : [.onHold, .remotelyHeld]))
        }
    }

    @Test func `whoever does not answer in time is not waited for`() throws {
        var world = try brought(.inactive, nil)
        let target = try ring(&world)
        try world.act(Self.first) { call, random, now throws(CallError) in
            try call.answer(by: target, Self.answer(), at: now, random: &random)
        }
        world.passTime()
        #expect(try ScriptedDescription.direction(world.told["carol1"]?.last?.sdp ?? "") == .inactive)
    }
}
