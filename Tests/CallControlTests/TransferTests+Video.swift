import CallControl
import CallSupport
import Primitives
import SDP
import SPiDR
import TestSupport
import Testing

/// Who is brought together with somebody new is told of a picture if that one sends one, and of none if not (RFC 3264
/// §5.1).
extension TransferTests {
    private static func wish(_ films: Bool) -> MediaDirection { films ? .sendReceive : .receiveOnly }

    /// Alice films; Bob does or does not, and Alice may have put him on hold after that.
    private func filmed(bobFilms: Bool, isHeld: Bool) throws -> CallWorld {
        let rig = try MidCallRig(id: 1, session: "B")
        var (call, random) = (rig.call, rig.random)
        func exchange(_ offer: [MediaDirection?], _ answer: [MediaDirection?], version: Int) throws {
            let texts = [("caller", offer, "actpass"), ("callee", answer, "active")].map { name, lines, setup in
                CallUpdateRequest(sdp: ScriptedDescription.session(name, lines, setup: setup, version: version))
            }
            _ = try call.offer(by: .caller, texts[0], at: rig.clock.now, random: &random)
            _ = try call.respond(by: .callee, texts[1], at: rig.clock.now, random: &random)
        }
        try exchange([.sendReceive, .sendReceive], [.sendReceive, Self.wish(bobFilms)], version: 2)
        if isHeld { try exchange([.inactive, .inactive], [.inactive, .inactive], version: 3) }
        var world = CallWorld()
        world.add(call, keeper: .caller)
        return world
    }

    private func told(_ world: CallWorld, _ subscription: SubscriptionID) throws -> [MediaDirection?] {
        try ScriptedDescription.directions(world.told[subscription]?.last { $0.sdp != nil }?.sdp ?? "")
    }

    private func respond(_ world: inout CallWorld, _ leg: LegID, _ name: String, _ lines: [MediaDirection?]) throws {
        let text = ScriptedDescription.session(name, lines, setup: "active", version: 100)
        try world.act(Self.first) { call, random, now throws(CallError) in
            try call.respond(by: leg, CallUpdateRequest(sdp: text), at: now, random: &random)
        }
    }

    @Test(arguments: [false, true], [false, true])
    func `each of two who are brought together is told whether the other films`(_ bobFilms: Bool, _ carolFilms: Bool)
        throws
    {
        var world = try filmed(bobFilms: bobFilms, isHeld: false)
        let target = try ring(&world)
        #expect(try told(world, "carol1") == [.sendReceive, Self.wish(bobFilms)])
        let carols = Self.wish(carolFilms).narrowed(to: Self.wish(bobFilms).reversed)
        let answer = CallAnswerRequest(
            sdp: ScriptedDescription.session("carol", [.sendReceive, carols], setup: "active"))
        try world.act(Self.first) { call, random, now throws(CallError) in
            try call.answer(by: target, answer, at: now, random: &random)
        }
        #expect(try told(world, "bob1") == [.sendReceive, Self.wish(carolFilms)])
        let bobs = Self.wish(bobFilms).narrowed(to: Self.wish(carolFilms).reversed)
        try respond(&world, .callee, "callee", [.sendReceive, bobs])
        #expect(bobs == carols.reversed)
        #expect(world.log("carol1") == ["call", "callCancel"], "she knows already")
    }

    /// What somebody wants of a picture is not forgotten while a hold keeps it from saying so.
    @Test(arguments: [false, true])
    func `whether a camera is on is known of somebody who is held, too`(_ bobFilms: Bool) throws {
        var world = try filmed(bobFilms: bobFilms, isHeld: true)
        let target = try ring(&world)
        #expect(try told(world, "carol1") == [.sendReceive, Self.wish(bobFilms)])
        let answer = CallAnswerRequest(
            sdp: ScriptedDescription.session("carol", [.sendReceive, Self.wish(bobFilms).reversed], setup: "active"))
        try world.act(Self.first) { call, random, now throws(CallError) in
            try call.answer(by: target, answer, at: now, random: &random)
        }
        #expect(try told(world, "bob1") == [.sendReceive, .sendReceive])
        try respond(&world, .callee, "callee", [.sendReceive, Self.wish(bobFilms)])
        #expect(world.log("carol1") == ["call", "callCancel"])
    }
}
