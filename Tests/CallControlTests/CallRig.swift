import CallControl
import CallSupport
import Primitives
import SDP
import SPiDR
import TestSupport

/// Alice (subscription a1) calls Bob (b1, which reports ringing itself, and b2, which does not) on a virtual clock.
struct CallRig {
    static let alice = UserAddress(parsing: "alice@example.com")!
    static let bob = UserAddress(parsing: "bob@example.com")!
    static let silent = Device("b1", sendsRingingFeedback: true)
    static let plain = Device("b2")

    var clock = VirtualClock()
    var call: Call
    private var random: SeededRandomSource
    let mode: MediaMode

    init(
        callee devices: [Device] = [silent, plain], asleep: [SleepingDevice] = [], isAnchored: Bool = false,
        _ configuration: Call.Configuration = .init(), seed: UInt64 = 1
    ) {
        random = SeededRandomSource(seed: seed)
        var parties = PerLeg(
            caller: CallParty(user: Self.alice, name: "Alice", session: "A", devices: [Device("a1")]),
            callee: CallParty(user: Self.bob, name: "Bob", session: "B", devices: devices))
        parties.callee.sleeping = asleep
        call = Call(id: CallID(7), parties: parties, configuration: configuration)
        mode =
            isAnchored ? .anchored(PerLeg(caller: Self.identity("caller"), callee: Self.identity("callee"))) : .direct
    }

    static func identity(_ name: String) -> LegIdentity {
        LegIdentity(
            sessionID: 4_711, canonicalName: "name", streamID: "stream",
            credentials: ICECredentials(ufrag: name, password: "password+password+password"),
            fingerprint: Fingerprint(.sha256, digest: [UInt8](repeating: 7, count: 32)),
            candidates: ["1 1 udp 2130706431 192.0.2.1 7000 typ host"])
    }

    mutating func start(
        _ sdp: String = "offer", parameters: [CustomParameter] = [], wanting preferences: MediaPreferences = .init()
    ) throws(CallError) -> [CallAction] {
        let request = CallStartRequest(
            callee: Self.bob, sdp: sdp, content: CustomContent(parameters: parameters), mediaPreferences: preferences)
        return try call.start(request, media: mode, at: clock.now, random: &random)
    }

    mutating func answer(
        _ sdp: String = "answer", by leg: LegID = .callee, from device: SubscriptionID? = nil,
        parameters: [CustomParameter] = [], wanting preferences: MediaPreferences = .init()
    ) throws(CallError) -> [CallAction] {
        let request = CallAnswerRequest(
            sdp: sdp, content: CustomContent(parameters: parameters), mediaPreferences: preferences)
        return try call.answer(by: leg, request, from: device, at: clock.now, random: &random)
    }

    mutating func offerUpdate(_ sdp: String, by leg: LegID) throws(CallError) -> [CallAction] {
        try call.offer(by: leg, CallUpdateRequest(sdp: sdp), at: clock.now, random: &random)
    }
}

/// What can happen to a call.
enum CallStep: Sendable {
    case start
    case unreachable(CallEndCause.Unreachable)
    case ringing(LegID)
    case answer(LegID)
    case respond(LegID)
    case reject(LegID)
    case end(LegID, String?)
    case audit
    case joined(LegID, Device, replacing: SubscriptionID?)
    case left(LegID, SubscriptionID, othersRemain: Bool)
    case media(LegID, MediaProgress)
    case mediaFailed(LegID, MediaFailure = .consentExpired)
    case drain
    case endedByOperator(String?)
    case wait(Duration)
}

extension CallRig {
    /// Carries a step out; a refusal is shown as `refused …`.
    mutating func take(_ step: CallStep) -> [String] {
        do throws(CallError) {
            return try perform(step).traces
        } catch {
            return ["refused \(error.trace)"]
        }
    }

    mutating func perform(_ step: CallStep) throws(CallError) -> [CallAction] {
        switch step {
        case .start: return try start()
        case .unreachable(let reason): return call.calleeUnreachable(reason, at: clock.now)
        case .ringing(let leg): return try call.ringing(by: leg)
        case .answer(let leg): return try answer(by: leg)
        case .respond(let leg):
            return try call.respond(by: leg, CallUpdateRequest(sdp: "answer"), at: clock.now, random: &random)
        case .reject(let leg): return try call.reject(by: leg, at: clock.now)
        case .end(let leg, let reason): return try call.end(by: leg, reasonText: reason, at: clock.now)
        case .audit:
            try call.audit(by: .caller, at: clock.now)
            return []
        case .joined(let leg, let device, let former):
            return call.deviceChanged(leg, .joined(device, replacing: former), at: clock.now)
        case .left(let leg, let id, let others):
            return call.deviceChanged(leg, .left(id, othersRemain: others), at: clock.now)
        case .media(let leg, let step):
            return call.mediaAdvanced(leg, to: step)
        case .mediaFailed(let leg, let failure): return call.mediaFailed(leg, failure, at: clock.now)
        case .drain: return call.drain(at: clock.now)
        case .endedByOperator(let text): return call.endedByOperator(reasonText: text, at: clock.now)
        case .wait(let duration):
            clock.advance(by: duration)
            return call.timeout(at: clock.now)
        }
    }
}

extension Call {
    /// The first device of the end hangs up.
    mutating func end(by leg: LegID, reasonText: String?, at now: MonotonicTime) throws(CallError) -> [CallAction] {
        try end(by: leg, from: self[leg]?.party.devices.first?.subscription, reasonText: reasonText, at: now)
    }
}

extension Call {
    /// With randomness of its own.
    mutating func timeout(at now: MonotonicTime) -> [CallAction] {
        var random = SeededRandomSource(seed: 5)
        return timeout(at: now, random: &random)
    }
}

extension CallAction {
    /// One line for tables; `nil` for what nobody is told and nothing is done about.
    var trace: String? {
        switch self {
        case .event(let event): event.trace ?? told?.trace
        case .prepareMedia(let leg, _): "prepare \(leg)"
        case .prepareHeadless(let leg, _): "prepare headless \(leg)"
        case .connectMedia(let leg, _): "connect \(leg)"
        case .releaseMedia: "release"
        case .play(_, let number, let leg): "play #\(number) to \(leg)"
        case .stopPlaying(let leg): "stop \(leg)"
        case .sendDigits(let digits, let leg): "press \(digits.digits) to \(leg)"
        case .detach(let leg, _): "detach \(leg)"
        case .route(let leg, let route): "route \(leg) \(route.trace)"
        case .releaseLeg(let leg): "release \(leg)"
        case .say(let leg, let speech): "say \(leg) \(speech)"
        case .peerCall(let action): action.trace
        }
    }
}

extension PeerCallAction {
    fileprivate var trace: String {
        switch self {
        case .requestHandover(let call, _): "request handover of \(call)"
        case .offerHandover(let call, let handover): "offer \(handover.legs.map(\.id)) to \(call)"
        case .refuseHandover(let call): "refuse handover to \(call)"
        case .takeHandover(let call, let legs, let purpose): "take \(legs.map(\.after)) of \(call) for \(purpose)"
        case .declineHandover(let call): "decline handover of \(call)"
        case .passOn(let call, let leg, let event): "pass on to \(call): \(leg) \(event)"
        }
    }
}

extension CallEvent {
    fileprivate var trace: String? {
        switch fact {
        case .qualityMeasured: "quality \(leg.map { "\($0)" } ?? "")"
        case .established: "answered"
        case .ended: "ended"
        default: nil
        }
    }
}

extension Told {
    fileprivate var trace: String {
        ([receivers.map(\.rawValue).joined(separator: "+"), notification.type.rawValue]
            + [notification.statusCode.map { "\($0)" }, notification.reasonText].compactMap(\.self))
            .joined(separator: " ")
    }
}

extension MediaRoute {
    var trace: String {
        switch self {
        case .silence: "silence"
        case .leg(let leg): "hears \(leg)"
        case .mix: "mix"
        }
    }
}

extension CallError {
    var trace: String {
        switch self {
        case .noSuchCall: "noSuchCall"
        case .alreadyAnswered: "alreadyAnswered"
        case .notAllowed(let operation, let reason):
            "\(operation) while \(reason.state?.word ?? "\(reason)")"
        case .pending: "pending"
        case .unreachable: "unreachable"
        case .notForGuests: "notForGuests"
        case .unsupported: "unsupported"
        case .malformedDescription: "malformedDescription"
        case .unsupportedDescription: "unsupportedDescription"
        case .unplayable: "unplayable"
        case .digitsWaiting: "digitsWaiting"
        case .descriptionTooLong: "descriptionTooLong"
        case .descriptionMissing: "descriptionMissing"
        case .storageUnavailable: "storageUnavailable"
        case .limitOfCalls: "limitOfCalls"
        case .limitOfLegs: "limitOfLegs"
        case .tooManyCalls: "tooManyCalls"
        case .draining: "draining"
        }
    }
}
