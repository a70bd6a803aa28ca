import CallControl
import CallSupport
import Primitives
import SDP
import TestSupport

/// A call that one end sees in a state of Appendix B, and the requests that the methods make of it.
struct AppendixBRig {
    var call: Call
    let leg: LegID
    let clock: VirtualClock
    private var random = SeededRandomSource(seed: 5)
    /// Of the next description in `o=`: newer than any that the peers have sent.
    var version = 100
    /// The call to transfer to.
    var consulted = CallID(8)
    /// What the end sees, in the machine's words.
    let seen: LegState

    /// `nil` for a word that is no call state.
    init?(_ state: String, _ side: AppendixB.Side, _ dialects: (HoldDialect, HoldDialect)) throws {
        leg = side == .outgoing ? .caller : .callee
        let other: LegID = side == .outgoing ? .callee : .caller
        var rig = try MidCallRig(dialects.0, dialects.1)
        switch state {
        case "INITIAL", "DIALING", "SESSION_PROGRESS", "RINGING":
            var unanswered = AppendixBRig.unanswered(withEarlyMedia: state == "SESSION_PROGRESS", rig.clock)
            if state != "INITIAL" { try unanswered.start() }
            if state == "RINGING" { _ = try unanswered.call.ringing(by: .callee) }
            call = unanswered.call
        case "ANSWERING":
            var slow = AppendixBRig.unanswered(withEarlyMedia: false, rig.clock)
            try slow.start(sdp: "")
            let offer = CallAnswerRequest(sdp: ScriptedDescription.audio("callee", .sendReceive))
            _ = try slow.call.answer(by: .callee, offer, at: rig.clock.now, random: &slow.random)
            call = slow.call
        case "IN_CALL": call = rig.call
        case "ON_HOLD":
            _ = try rig.setHold(true, by: leg)
            call = rig.call
        case "REMOTELY_HELD":
            _ = try rig.setHold(true, by: other)
            call = rig.call
        case "ON_DOUBLE_HOLD":
            for end in [other, leg] { _ = try rig.setHold(true, by: end) }
            call = rig.call
        case "ENDED":
            _ = try rig.call.end(by: other, reasonText: nil, at: rig.clock.now)
            call = rig.call
        default: return nil
        }
        clock = rig.clock
        seen = call.legState(leg)
    }

    /// An answered call as it is.
    init(_ rig: MidCallRig, seenFrom leg: LegID) {
        (call, self.leg, clock, seen) = (rig.call, leg, rig.clock, rig.call.legState(leg))
    }

    private init(_ call: Call, _ leg: LegID, _ clock: VirtualClock) {
        (self.call, self.leg, self.clock, seen) = (call, leg, clock, .initial)
    }

    private static func unanswered(withEarlyMedia isEarly: Bool, _ clock: VirtualClock) -> AppendixBRig {
        var configuration = Call.Configuration()
        configuration.mediaPolicy = .engine
        if isEarly { configuration.earlyMedia = Playback(.tone(.ringback)) }
        let parties = PerLeg(
            caller: CallParty(user: MidCallRig.alice, name: "Alice", session: "A", devices: [Device("a1")]),
            callee: CallParty(user: MidCallRig.bob, name: "Bob", session: "B", devices: [CallRig.silent]))
        return AppendixBRig(Call(id: CallID(7), parties: parties, configuration: configuration), .caller, clock)
    }

    private mutating func start(sdp: String = ScriptedDescription.audio("caller", .sendReceive)) throws(CallError) {
        let mode = MediaMode.anchored(
            PerLeg(caller: CallRig.identity("gwcaller"), callee: CallRig.identity("gwcallee")))
        let request = CallStartRequest(callee: MidCallRig.bob, sdp: sdp, acceptsEarlyMedia: true)
        _ = try call.start(request, media: mode, at: clock.now, random: &random)
    }

    /// Makes the request, and says what came of it.
    mutating func invoke(_ method: AppendixB.Method) throws -> AppendixB.Outcome {
        guard !AppendixB.Method.local.contains(method) else { return .sendsNothing }
        do throws(CallError) {
            return try request(method)
        } catch {
            switch error {
            case .notAllowed(_, .state(seen)): return .refused
            case .alreadyAnswered(let state) where state == seen: return .alreadyAnswered
            case .pending: return .pending
            case .noSuchCall: return .unknownSession
            default: throw error
            }
        }
    }

    /// - Returns: what came of it unless it was refused.
    mutating func request(_ method: AppendixB.Method) throws(CallError) -> AppendixB.Outcome {
        let now = clock.now
        switch method {
        case .ignore, .mute, .unmute, .switchCamera: return .sendsNothing
        case .establish:
            guard call.state == .initial, leg == .caller else { return .startsAnother }
            try start()
        case .accept:
            let request = CallAnswerRequest(
                sdp: ScriptedDescription.audio("callee", .sendReceive, setup: "active", version: version))
            _ = try call.answer(by: leg, request, at: now, random: &random)
        case .reject: _ = try call.reject(by: leg, at: now)
        case .videoStart:
            try offer(ScriptedDescription.audio(name, .sendReceive, video: .sendReceive, version: version))
        case .videoStop: try offer(ScriptedDescription.audio(name, .sendReceive, video: .receiveOnly, version: version))
        case .hold: try offer(ScriptedDescription.audio(name, .inactive, version: version))
        case .unhold: try offer(ScriptedDescription.audio(name, .sendReceive, version: version))
        case .transfer:
            try call.checkTransfer(by: leg)
            let party = CallParty(
                user: MidCallRig.carol, name: "Carol", session: "C",
                devices: [Device("carol1", sendsRingingFeedback: true)])
            let target = CallTarget(leg: call.takeLeg(), party: party, identity: CallRig.identity("gwtarget"))
            _ = try call.transfer(by: leg, to: target, at: now, random: &random)
        case .consultativeTransfer:
            _ = try call.consult(by: leg, with: MidCallRig.carol, in: consulted, at: now, random: &random)
        case .merge:
            // What a session of an ended call, or of none, would be joined by is refused before the machine is asked.
            var asked = call
            try asked.audit(by: leg, at: now)
            let actions = call.handoverRequested(by: CallID(9), of: leg, at: now, random: &random)
            return actions.traces == ["refuse handover to \(CallID(9))"] ? .failsLater : .accepted
        case .endCall: _ = try call.end(by: leg, reasonText: nil, at: now)
        }
        return .accepted
    }

    private var name: String { "\(leg)" }

    private mutating func offer(_ text: String) throws(CallError) {
        _ = try call.offer(by: leg, CallUpdateRequest(sdp: text), at: clock.now, random: &random)
    }
}
