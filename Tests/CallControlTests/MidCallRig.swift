import CallControl
import CallSupport
import Primitives
import SDP
import SPiDR
import TestSupport

/// A way of holding that clients have (spidr-wire §8.2).
enum HoldDialect: String, CaseIterable, Sendable {
    /// Every m-line `inactive`, answers too.
    case inactive
    /// `sendonly`, answered with `recvonly`; `inactive` when held already.
    case sendOnly

    func hold(whileHeld: Bool) -> MediaDirection { self == .inactive || whileHeld ? .inactive : .sendOnly }

    /// What a client says to an offer when it holds itself, or does not.
    func answer(to offer: MediaDirection, holding: Bool) -> MediaDirection {
        guard holding else { return offer.reversed }
        return offer.reversed.narrowed(to: self == .inactive ? .inactive : .sendOnly)
    }
}

/// An answered call between two scripted peers with a dialect each.
struct MidCallRig {
    var call: Call
    var clock = VirtualClock()
    var random = SeededRandomSource(seed: 3)
    private(set) var dialects: [LegID: HoldDialect]
    /// What each peer believes of itself.
    private(set) var holding: [LegID: Bool] = [:]
    /// The last description that the gateway sent to each leg.
    private(set) var received: [LegID: String] = [:]
    /// What brought the call about.
    private(set) var course: [CallAction] = []
    /// Of the last description that a peer sent.
    private(set) var version = 1

    static let alice = CallRig.alice
    static let bob = CallRig.bob
    static let carol = UserAddress(parsing: "carol@example.com")!

    /// - Parameters:
    ///   - replacing: which of the two list `replacecall`; one value stands for both.
    ///   - application: what the callee says, if it is an application.
    ///   - source: what the caller says, if it is an application.
    init(
        id: UInt64 = 7, _ caller: HoldDialect = .inactive, _ callee: HoldDialect = .inactive,
        bob: UserAddress = CallRig.bob,
        session: SessionID = "B", replacing replacesCaller: Bool = false, _ replacesCallee: Bool? = nil,
        application: HeadlessSource? = nil, calling source: HeadlessSource? = nil
    ) throws {
        let name = bob == CallRig.bob ? "bob" : "carol"
        dialects = [.caller: caller, .callee: callee]
        var configuration = Call.Configuration()
        configuration.mediaPolicy = .engine
        call = Call(
            id: CallID(id),
            parties: PerLeg(
                caller: CallParty(
                    user: Self.alice, name: "Alice", session: SessionID("A\(id)"),
                    endpoint: source.map { .application($0) } ?? .devices([Device("a1")])),
                callee: CallParty(
                    user: bob, name: name, session: session,
                    endpoint: application.map { .application($0) }
                        ?? .devices([Device(SubscriptionID("\(name)1"), sendsRingingFeedback: true)]))),
            configuration: configuration)
        let mode = MediaMode.anchored(
            PerLeg(caller: CallRig.identity("gwcaller"), callee: CallRig.identity("gwcallee")))
        course = try call.start(
            CallStartRequest(
                callee: bob, sdp: source == nil ? ScriptedDescription.audio("caller", .sendReceive) : "",
                handlesReplacement: replacesCaller),
            media: mode, at: clock.now, random: &random)
        let answered = try call.answer(
            by: .callee,
            CallAnswerRequest(
                sdp: application == nil ? ScriptedDescription.audio("callee", .sendReceive, setup: "active") : "",
                handlesReplacement: replacesCallee ?? replacesCaller),
            at: clock.now, random: &random)
        course += answered
        note(answered)
        for leg in [LegID.caller, .callee] { course += call.mediaAdvanced(leg, to: .secured) }
    }

    /// The history of the call so far, if it is only that.
    func history(at origin: Int64 = 0) -> CallHistory {
        var history = CallHistory(origin: Moment(clock.now, epochMilliseconds: origin))
        _ = history.record(course, at: clock.now)
        return history
    }

    mutating func note(_ actions: [CallAction]) {
        for told in actions.told {
            if let sdp = told.notification.sdp { received[told.leg] = sdp }
        }
    }

    mutating func setHolding(_ holds: Bool, _ leg: LegID) { holding[leg] = holds }

    /// The next description of a peer.
    mutating func next(_ ufrag: String, _ direction: MediaDirection, setup: String = "actpass") -> String {
        version += 1
        return ScriptedDescription.audio(ufrag, direction, setup: setup, version: version)
    }

    mutating func offer(by leg: LegID, _ direction: MediaDirection) throws(CallError) -> [CallAction] {
        let request = CallUpdateRequest(sdp: next("\(leg)".replacing(" ", with: ""), direction))
        let actions = try call.offer(by: leg, request, at: clock.now, random: &random)
        note(actions)
        return actions
    }

    mutating func answer(by leg: LegID) throws -> [CallAction] {
        let offered = try ScriptedDescription.direction(received[leg] ?? "") ?? .sendReceive
        let direction = (dialects[leg] ?? .inactive).answer(to: offered, holding: holding[leg] ?? false)
        let request = CallUpdateRequest(sdp: next("\(leg)".replacing(" ", with: ""), direction, setup: "active"))
        let actions = try call.respond(by: leg, request, at: clock.now, random: &random)
        note(actions)
        return actions
    }

    /// Holds or resumes, and lets the other end answer.
    mutating func setHold(_ hold: Bool, by leg: LegID) throws -> [CallAction] {
        let other: LegID = leg == .caller ? .callee : .caller
        let isHeld = [.remotelyHeld, .onDoubleHold].contains(call.legState(leg))
        let direction = hold ? (dialects[leg] ?? .inactive).hold(whileHeld: isHeld) : .sendReceive
        holding[leg] = hold
        let offered = try offer(by: leg, direction)
        return offered + (try answer(by: other))
    }
}
