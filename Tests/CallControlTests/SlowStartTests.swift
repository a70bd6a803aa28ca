import CallControl
import CallSupport
import Primitives
import SDP
import SPiDR
import TestSupport
import Testing

/// Calls that begin without an offer (spidr-wire §8.1): whoever answers offers, and the caller answers that.
struct SlowStartTests {
    /// Alice calls Bob without a description, and Bob's device answers with an offer.
    struct Rig {
        var call: Call
        var clock = VirtualClock()
        var random = SeededRandomSource(seed: 5)

        init(isAnchored: Bool = true) {
            var configuration = Call.Configuration()
            configuration.mediaPolicy = .engine
            configuration.earlyMedia = Playback(.music)
            call = Call(
                id: CallID(7),
                parties: PerLeg(
                    caller: CallParty(user: CallRig.alice, name: "Alice", session: "A", devices: [Device("a1")]),
                    callee: CallParty(
                        user: CallRig.bob, name: "Bob", session: "B",
                        devices: [CallRig.silent, Device("b9", sendsRingingFeedback: true)])),
                configuration: configuration)
            mode =
                isAnchored
                ? .anchored(PerLeg(caller: CallRig.identity("gwcaller"), callee: CallRig.identity("gwcallee")))
                : .direct
        }

        private let mode: MediaMode

        mutating func start() throws -> [CallAction] {
            let request = CallStartRequest(callee: CallRig.bob, sdp: "", acceptsEarlyMedia: true)
            return try call.start(request, media: mode, at: clock.now, random: &random)
        }

        mutating func answer(_ sdp: String = ScriptedDescription.audio("bobs", .sendReceive), by leg: LegID = .callee)
            throws -> [CallAction]
        {
            let request = CallAnswerRequest(
                sdp: sdp, content: CustomContent(parameters: [CustomParameter(name: "X-Mood", value: "fine")]))
            return try call.answer(by: leg, request, at: clock.now, random: &random)
        }

        mutating func respond(_ sdp: String = ScriptedDescription.audio("alice", .sendReceive, setup: "active")) throws
            -> [CallAction]
        {
            try call.respond(by: .caller, CallUpdateRequest(sdp: sdp), at: clock.now, random: &random)
        }

        var states: [LegState] { [call.legState(.caller), call.legState(.callee)] }
    }

    private func description(in actions: [CallAction], to leg: LegID) -> String? {
        actions.told.filter { $0.leg == leg }.lazy.compactMap(\.notification.sdp).first
    }

    @Test func `a callee whose offer leaves no choice is offered nothing after it`() throws {
        var rig = Rig()
        _ = try rig.start()
        _ = try rig.answer(ScriptedDescription.audio("bobs", .sendReceive, video: .receiveOnly))
        _ = try rig.respond(ScriptedDescription.audio("alice", .sendReceive, video: .sendOnly, setup: "active"))
        for leg in [LegID.caller, .callee] { _ = rig.call.mediaAdvanced(leg, to: .secured) }
        #expect(rig.call.nextDeadline == nil)
    }

    @Test func `the callee offers, the caller answers, and then they talk`() throws {
        var rig = Rig()
        let started = try rig.start()
        #expect(started.traces == ["b1+b9 call"])
        #expect(description(in: started, to: .callee) == nil)
        #expect(rig.states == [.dialing, .ringing])
        #expect(
            try rig.call.ringing(by: .callee).traces == ["a1 ringing"], "there is nothing to hear ahead of an offer")

        let answered = try rig.answer()
        #expect(answered.traces == ["prepare caller", "a1 startCallUpdate", "b1+b9 callCancel", "answered"])
        let offer = try SessionDescription(parsing: #require(description(in: answered, to: .caller)))
        #expect(offer.attributes.contains { $0.name == "setup" && $0.value == "actpass" })
        #expect(offer.attributes.contains { $0.name == "ice-ufrag" && $0.value == "gwcaller" })
        #expect(rig.states == [.ringing, .answering])

        let completed = try rig.respond()
        #expect(
            completed.traces == [
                "prepare callee", "route caller hears callee", "route callee hears caller", "connect callee",
                "connect caller",
                "b1+b9 respondCallUpdate",
            ])
        let answer = try SessionDescription(parsing: #require(description(in: completed, to: .callee)))
        #expect(answer.attributes.contains { $0.name == "ice-ufrag" && $0.value == "gwcallee" })
        #expect(rig.states == [.inCall, .inCall])
    }

    @Test func `where media goes from peer to peer both descriptions pass untouched`() throws {
        var rig = Rig(isAnchored: false)
        #expect(try rig.start().traces == ["b1+b9 call"])
        let answered = try rig.answer("an offer")
        #expect(answered.traces == ["a1 startCallUpdate", "b1+b9 callCancel", "answered"])
        #expect(description(in: answered, to: .caller) == "an offer")
        #expect(rig.states == [.ringing, .answering])
        let completed = try rig.respond("an answer")
        #expect(completed.traces == ["b1+b9 respondCallUpdate"])
        #expect(description(in: completed, to: .callee) == "an answer")
        #expect(rig.states == [.inCall, .inCall])
    }

    /// What can come while the caller owes its answer.
    enum Meanwhile: String, CaseIterable, Sendable {
        case otherDevice, callerOffers, calleeOffers, transfer, music, badAnswer, callerRings
    }

    @Test(arguments: Meanwhile.allCases) func `until the caller has answered nothing else is possible`(
        _ attempt: Meanwhile
    ) throws {
        var rig = Rig()
        _ = try rig.start()
        _ = try rig.answer()
        let before = rig.call
        let error = #expect(throws: CallError.self) {
            switch attempt {
            case .otherDevice: _ = try rig.answer(ScriptedDescription.audio("bobs tablet", .sendReceive))
            case .callerOffers:
                _ = try rig.call.offer(
                    by: .caller, CallUpdateRequest(sdp: ScriptedDescription.audio("alice", .sendReceive)),
                    at: rig.clock.now, random: &rig.random)
            case .calleeOffers:
                _ = try rig.call.offer(
                    by: .callee, CallUpdateRequest(sdp: ScriptedDescription.audio("bobs", .inactive)),
                    at: rig.clock.now, random: &rig.random)
            case .transfer: try rig.call.checkTransfer(by: .callee)
            case .music: _ = try rig.call.play(Playback(.music), to: .peer, by: .callee)
            case .badAnswer: _ = try rig.respond("nonsense")
            case .callerRings: _ = try rig.call.ringing(by: .callee)
            }
        }
        let expected: [Meanwhile: CallError] = [
            .otherDevice: .alreadyAnswered(state: .answering),
            .callerOffers: .notAllowed(.offer, .state(.ringing)),
            .calleeOffers: .notAllowed(.offer, .state(.answering)),
            .transfer: .pending(retryAfter: 2), .music: .pending(retryAfter: 2),
        ]
        if let known = expected[attempt] { #expect(error == known) }
        #expect(rig.call == before)
    }

    @Test func `a caller that owes its answer for too long ends the call`() throws {
        var rig = Rig()
        _ = try rig.start()
        _ = try rig.answer()
        rig.clock.advance(by: .seconds(29))
        #expect(rig.call.timeout(at: rig.clock.now).isEmpty)
        rig.clock.advance(by: .seconds(1))
        #expect(
            rig.call.timeout(at: rig.clock.now).traces == [
                "release", "a1 callEnd 408 media path could not be established",
                "b1+b9 callEnd 408 media path could not be established", "ended",
            ])
        #expect(rig.states == [.ended, .ended])
    }

    @Test(arguments: [LegID.caller, .callee]) func `either end may hang up before the exchange is complete`(
        _ leg: LegID
    )
        throws
    {
        var rig = Rig()
        _ = try rig.start()
        _ = try rig.answer()
        // b1 hangs up, and b9 may have the call.
        let told = leg == .caller ? ["b1+b9 callEnd"] : ["a1 callEnd", "b9 callEnd"]
        #expect(try rig.call.end(by: leg, reasonText: nil, at: rig.clock.now).traces == ["release"] + told + ["ended"])
    }

    @Test func `an answer without a usable offer is refused, and the devices ring on`() throws {
        var rig = Rig()
        _ = try rig.start()
        let before = rig.call
        for text in ["nonsense", ""] { #expect(throws: CallError.self) { try rig.answer(text) } }
        #expect(rig.call == before)
        #expect(rig.states == [.dialing, .ringing])
    }

    @Test func `a call without an offer can be forwarded, and the next one offers`() throws {
        var rig = Rig()
        _ = try rig.start()
        let party = CallParty(user: MidCallRig.carol, name: "Carol", session: "C", devices: [Device("c1")])
        let target = CallTarget(leg: rig.call.takeLeg(), party: party, identity: CallRig.identity("gwcarol"))
        let forwarded = try rig.call.forward(by: .callee, to: target, at: rig.clock.now, random: &rig.random)
        #expect(forwarded.traces == ["b1+b9 callCancel", "release callee", "detach callee", "c1 call", "a1 ringing"])
        #expect(
            try rig.answer(ScriptedDescription.audio("carol", .sendReceive), by: target.leg).traces.contains(
                "a1 startCallUpdate"))
        #expect(try rig.respond().traces.contains("connect leg 2"))
        #expect(rig.states == [.inCall, .ended])
    }

    @Test func `a callee that offers to send only keeps the caller waiting`() throws {
        var rig = Rig()
        _ = try rig.start()
        _ = try rig.answer(ScriptedDescription.audio("bobs", .sendOnly))
        _ = try rig.respond(ScriptedDescription.audio("alice", .receiveOnly, setup: "active"))
        #expect(rig.states == [.remotelyHeld, .onHold])
    }

    @Test func `the same start once more is the same call until somebody answers`() throws {
        var rig = Rig()
        let request = CallStartRequest(callee: CallRig.bob, sdp: "")
        _ = try rig.start()
        #expect(rig.call.isRepeated(by: request))
        _ = try rig.call.ringing(by: .callee)
        #expect(rig.call.isRepeated(by: request))
        _ = try rig.answer()
        #expect(!rig.call.isRepeated(by: request), "the caller has an offer by now, and knows the call by it")
        // An offer is known by its credentials, and nobody else's start looks like it.
        #expect(
            rig.call.isRepeated(
                by: CallStartRequest(callee: CallRig.bob, sdp: ScriptedDescription.audio("alice", .sendReceive))))
    }
}
