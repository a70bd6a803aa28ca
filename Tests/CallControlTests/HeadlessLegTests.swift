import CallControl
import CallSupport
import Primitives
import SDP
import SPiDR
import TestSupport
import Testing

/// Legs whose source and sink are inside the gateway (docs/adr/0009): nothing is described to them.
struct HeadlessLegTests {
    private static let echo = HeadlessSource.echo(delay: .seconds(1))
    private static let bell = HeadlessSource.playback(Playback(.tone(.dial)))

    /// Alice calls Bob; each of the two may be an application.
    private struct Rig {
        var call: Call
        var clock = VirtualClock()
        var random = SeededRandomSource(seed: 5)

        init(
            caller: LegEndpoint = .devices([Device("a1")]), callee: LegEndpoint = .application(HeadlessLegTests.echo)
        ) {
            var configuration = Call.Configuration()
            configuration.mediaPolicy = .engine
            call = Call(
                id: CallID(7),
                parties: PerLeg(
                    caller: CallParty(user: CallRig.alice, name: "Alice", session: "A", endpoint: caller),
                    callee: CallParty(user: CallRig.bob, name: "Bob", session: "B", endpoint: callee)),
                configuration: configuration)
        }

        mutating func start(_ sdp: String) throws(CallError) -> [CallAction] {
            let mode = MediaMode.anchored(
                PerLeg(caller: CallRig.identity("gwcaller"), callee: CallRig.identity("gwcallee")))
            return try call.start(
                CallStartRequest(callee: CallRig.bob, sdp: sdp), media: mode, at: clock.now, random: &random)
        }

        mutating func answer(_ sdp: String = "") throws(CallError) -> [CallAction] {
            try call.answer(by: .callee, CallAnswerRequest(sdp: sdp), at: clock.now, random: &random)
        }

        mutating func offer(_ sdp: String, by leg: LegID = .caller) throws(CallError) -> [CallAction] {
            try call.offer(by: leg, CallUpdateRequest(sdp: sdp), at: clock.now, random: &random)
        }

        var states: [LegState] { [call.legState(.caller), call.legState(.callee)] }
    }

    /// What the media plane is told.
    private func media(_ actions: [CallAction]) -> [String] {
        actions.compactMap { action in
            switch action {
            case .event: nil
            case .connectMedia(let leg, _): "connect \(leg)"
            case .prepareMedia(let leg, _): "prepare \(leg)"
            case .prepareHeadless(let leg, Self.echo): "prepare headless \(leg): echo"
            case .prepareHeadless(let leg, Self.bell): "prepare headless \(leg): bell"
            case .route(let leg, let route): "route \(leg) to \(route)"
            case .play(_, _, let leg): "play to \(leg)"
            case .releaseMedia: "release"
            default: "something else"
            }
        }
    }

    @Test func `a call of two applications ends by itself, and each is told why`() throws {
        var rig = Rig(caller: .application(Self.bell), callee: .application(Self.echo))
        _ = try rig.start("")
        _ = try rig.answer()
        let deadline = try #require(rig.call.nextDeadline)
        #expect(deadline == Deadline(rig.clock.now + .seconds(600), .duration))
        rig.clock.advance(by: .seconds(599))
        var actions = rig.call.timeout(at: rig.clock.now, random: &rig.random)
        #expect(actions.isEmpty)
        rig.clock.advance(by: .seconds(1))
        actions = rig.call.timeout(at: rig.clock.now, random: &rig.random)
        guard case .ended(let record) = rig.call.state else {
            Issue.record("the call goes on")
            return
        }
        #expect(record.cause == .tooLong && record.talk == .seconds(600))
        #expect(media(actions).contains("release"))
        let released = actions.compactMap { action in
            if case .event(let event) = action, case .released(.tooLong, by: nil) = event.fact {
                event.leg
            } else {
                nil
            }
        }
        #expect(released == [.caller, .callee])
    }

    @Test func `a call with one application lasts as long as any other`() throws {
        var rig = Rig()
        _ = try rig.start(ScriptedDescription.audio("alice", .sendReceive))
        _ = try rig.answer()
        #expect(rig.call.nextDeadline?.reason != .duration)
    }

    @Test func `a headless callee answers without a description, and the caller is answered with audio`() throws {
        var rig = Rig()
        let started = try rig.start(ScriptedDescription.audio("alice", .sendReceive, video: .sendReceive))
        #expect(media(started) == [])
        let answered = try rig.answer()
        #expect(
            media(answered) == [
                "prepare caller", "prepare headless callee: echo", "route caller to leg(callee)",
                "route callee to leg(caller)", "connect caller",
            ])
        let description = try #require(answered.descriptions(.respondCallUpdate).first)
        #expect(try ScriptedDescription.directions(description) == [.sendReceive, .inactive])
        #expect(rig.call[.caller]?.isStable == true)
        // Bob has no media path that could be missing; Alice has.
        #expect(rig.call.nextDeadline?.reason == .mediaSetup)
        _ = rig.call.mediaAdvanced(.caller, to: .secured)
        #expect(rig.call.nextDeadline == nil)
        let ended = try rig.call.end(by: .caller, from: nil, reasonText: nil, at: rig.clock.now)
        #expect(media(ended) == ["release"])
    }

    @Test func `nothing is described to either of two headless legs`() throws {
        var rig = Rig(caller: .application(Self.bell))
        let started = try rig.start("")
        #expect(media(started) == [])
        let answered = try rig.answer()
        #expect(
            media(answered) == [
                "prepare headless caller: bell", "prepare headless callee: echo", "route caller to leg(callee)",
                "route callee to leg(caller)",
            ])
        #expect(rig.states == [.inCall, .inCall])
        #expect(rig.call.nextDeadline?.reason == .duration)
        for case .event(let event) in answered {
            if case .answered(let description, _) = event.fact { #expect(description == nil) }
            if case .offered = event.fact { Issue.record("nothing is offered") }
        }
        let ended = try rig.call.end(by: .callee, from: nil, reasonText: nil, at: rig.clock.now)
        #expect(media(ended) == ["release"])
    }

    @Test func `the device that a headless caller rings is offered audio`() throws {
        var rig = Rig(caller: .application(Self.bell), callee: .devices([Device("b1")]))
        let started = try rig.start("")
        #expect(media(started) == ["prepare callee"])
        let offer = try #require(started.descriptions(.call).first)
        #expect(try ScriptedDescription.directions(offer) == [.sendReceive])
        let answered = try rig.answer(ScriptedDescription.audio("bobs", .sendReceive, setup: "active"))
        #expect(
            media(answered) == [
                "prepare headless caller: bell", "route caller to leg(callee)", "route callee to leg(caller)",
                "connect callee",
            ])
    }

    @Test func `offers to a headless leg are answered in its place, and it hears no music`() throws {
        var rig = Rig()
        _ = try rig.start(ScriptedDescription.audio("alice", .sendReceive))
        _ = try rig.answer()
        for (direction, answer) in [(MediaDirection.inactive, MediaDirection.inactive), (.sendReceive, .sendReceive)] {
            let actions = try rig.offer(
                ScriptedDescription.audio("alice", direction, version: direction == .inactive ? 2 : 3))
            let description = try #require(actions.descriptions(.respondCallUpdate).first)
            #expect(try ScriptedDescription.direction(description) == answer)
            #expect(media(actions) == ["connect caller"])
            #expect(rig.call[.caller]?.holds == (direction == .inactive))
            #expect(rig.call[.callee]?.holds == false)
        }
    }

    @Test func `a caller without an offer is offered audio, and the legs talk when it has answered`() throws {
        var rig = Rig()
        _ = try rig.start("")
        let answered = try rig.answer()
        #expect(media(answered) == ["prepare caller"])
        let offer = try #require(answered.descriptions(.startCallUpdate).first)
        #expect(try ScriptedDescription.directions(offer) == [.sendReceive])
        let responded = try rig.call.respond(
            by: .caller, CallUpdateRequest(sdp: ScriptedDescription.audio("alice", .sendReceive, setup: "active")),
            at: rig.clock.now, random: &rig.random)
        #expect(
            media(responded) == [
                "prepare headless callee: echo", "route caller to leg(callee)", "route callee to leg(caller)",
                "connect caller",
            ])
        #expect(rig.states == [.inCall, .inCall])
    }

    @Test func `a headless leg has nothing to say about descriptions`() throws {
        var rig = Rig()
        _ = try rig.start(ScriptedDescription.audio("alice", .sendReceive))
        _ = try rig.answer()
        let before = rig.call
        #expect(throws: CallError.self) { try rig.offer(ScriptedDescription.audio("bobs", .sendReceive), by: .callee) }
        #expect(throws: CallError.self) {
            try rig.call.respond(by: .callee, CallUpdateRequest(sdp: "x"), at: rig.clock.now, random: &rig.random)
        }
        #expect(try rig.call.candidates([], by: .callee).isEmpty)
        #expect(rig.call == before)
    }

    @Test func `a caller that offers nothing the gateway can decode is not answered, and nothing changes`() throws {
        var rig = Rig()
        _ = try rig.start(
            ScriptedDescription.audio("alice", .sendReceive).replacing("opus/48000/2", with: "speex/16000"))
        let before = rig.call
        #expect(throws: CallError.self) { try rig.answer() }
        #expect(rig.call == before)
        let rejected = try rig.call.reject(by: .callee, at: rig.clock.now)
        #expect(media(rejected) == ["release"])
    }

    @Test func `an application joins two calls without a description, and everybody is mixed`() throws {
        let world = try CallWorld.joined(by: .application(Self.bell))
        #expect(world.routes[CallID(3)] == [.caller: .mix, LegID(2): .mix, LegID(3): .mix])
        #expect(world.log("bob1") == ["startCallUpdate"])
        #expect(world.log("carol1") == ["startCallUpdate"])
    }
}

extension String {
    fileprivate func replacing(_ old: String, with new: String) -> String {
        split(separator: old, omittingEmptySubsequences: false).joined(separator: new)
    }
}
