/// Appendix B of the mobile SDK's guide: the methods that an application may call in each call state, and where this
/// gateway differs.
enum AppendixB {
    enum Side: String, CaseIterable, Sendable {
        case outgoing = "Outgoing call"
        case incoming = "Incoming call"
    }

    enum Method: String, CaseIterable, Sendable {
        case establish, accept, ignore, reject
        case videoStart, videoStop, mute, unmute, switchCamera, hold, unhold, transfer, consultativeTransfer, merge
        case endCall

        /// Says to the gateway what a description says: all of them are `startCallUpdate` (spidr-wire §8.2).
        static let descriptions: [Method] = [.videoStart, .videoStop, .hold, .unhold]
        /// Are a matter of the device (spidr-wire §6.4, §8.2).
        static let local: [Method] = [.ignore, .mute, .unmute, .switchCamera]
    }

    /// What the gateway says to a method's request.
    enum Outcome: String, Sendable {
        case accepted
        /// 409 with the current state.
        case refused = "409 with the state"
        case alreadyAnswered = "409 `call.already_answered`"
        case pending = "491 `call.request_pending`"
        case unknownSession = "404"
        /// Accepted as a call of its own, which then cannot have this one's ends.
        case failsLater = "`sessionFail`"
        case sendsNothing = "sends nothing"
        case startsAnother = "starts another call"
    }

    /// The guide's table, cell by cell.
    static func available(in state: String, _ side: Side) -> String? {
        (side == .outgoing ? outgoing : incoming).first { $0.state == state }?.methods
    }

    static let incoming = [
        (state: "INITIAL", methods: "Automatically changes state"),
        (state: "RINGING", methods: "accept / ignore / reject"),
        (state: "ANSWERING", methods: "endCall"),
        (
            state: "IN_CALL",
            methods: "videoStart / videoStop / mute / unmute / hold / switchCamera / transfer / merge / endCall"
        ),
        (state: "ON_HOLD", methods: "unhold / transfer / consultativeTransfer / merge / endCall"),
        (state: "ON_DOUBLE_HOLD", methods: "unhold / transfer / merge / endCall"),
        (
            state: "REMOTELY_HELD",
            methods: "videoStart / videoStop / mute / unmute / hold / merge / switchCamera / endCall"
        ),
        (state: "ENDED", methods: "No operation is allowed"),
    ]

    static let outgoing = [
        (state: "INITIAL", methods: "establish"),
        (state: "DIALING", methods: "endCall"),
        (state: "SESSION_PROGRESS", methods: "endCall"),
        (state: "RINGING", methods: "endCall"),
        (
            state: "IN_CALL",
            methods: "videoStart / videoStop / mute / unmute / hold / switchCamera / transfer / merge / endCall"
        ),
        (state: "ON_HOLD", methods: "unhold / transfer / consultativeTransfer / merge / endCall"),
        (state: "ON_DOUBLE_HOLD", methods: "unhold / transfer / merge / endCall"),
        (
            state: "REMOTELY_HELD",
            methods: "videoStart / videoStop / mute / unmute / hold / switchCamera / merge / endCall"
        ),
        (state: "ENDED", methods: "No operation is allowed"),
    ]

    // MARK: Where the gateway differs

    struct Difference: Sendable {
        let sides: [Side]
        let states: [String]
        let methods: [Method]
        let outcome: Outcome
        let reason: String

        func concerns(_ side: Side, _ state: String, _ method: Method) -> Bool {
            sides.contains(side) && states.contains(state) && methods.contains(method)
        }
    }

    private static let answered = ["IN_CALL", "ON_HOLD", "ON_DOUBLE_HOLD", "REMOTELY_HELD"]
    private static let unanswered = ["DIALING", "SESSION_PROGRESS", "RINGING"]
    private static let remote = Method.allCases.filter { $0 != .establish && !Method.local.contains($0) }

    /// The first that concerns a cell holds.
    static let differences = [
        Difference(
            sides: [.incoming], states: ["INITIAL"], methods: [.establish], outcome: .startsAnother,
            reason: "`callStart` names no call; it makes one."),
        Difference(
            sides: Side.allCases, states: unanswered + ["ANSWERING"] + answered + ["ENDED"], methods: [.establish],
            outcome: .startsAnother,
            reason: "`callStart` names no call; it makes one."),
        Difference(
            sides: Side.allCases, states: ["INITIAL"], methods: remote, outcome: .unknownSession,
            reason: "Nobody has a name for a call that has not been started."),
        Difference(
            sides: Side.allCases, states: ["ENDED"], methods: remote, outcome: .unknownSession,
            reason: "The session of a call that has ended is unknown; clients take 404 for the end [6.7, 6.9]."),
        Difference(
            sides: [.incoming], states: ["RINGING"], methods: [.endCall], outcome: .accepted,
            reason: "Ending is always allowed; while it rings it declines."),
        Difference(
            sides: [.incoming], states: ["ANSWERING"] + answered, methods: [.accept, .reject],
            outcome: .alreadyAnswered,
            reason:
                "A second device has to tell this from every other refusal [6.6]; the code does. The state is told too."
        ),
        Difference(
            sides: [.incoming], states: ["ANSWERING"], methods: [.transfer, .consultativeTransfer], outcome: .pending,
            reason:
                "Who answers a call that came without an offer makes it [8.1], and the caller has 30 s to answer that; until then a transfer waits."
        ),
        Difference(
            sides: Side.allCases, states: ["IN_CALL", "REMOTELY_HELD"], methods: [.unhold], outcome: .accepted,
            reason: "There is no verb for it [8.2]: an offer may say again what was said before (RFC 3264 §8)."),
        Difference(
            sides: Side.allCases, states: ["ON_HOLD", "ON_DOUBLE_HOLD"], methods: [.hold, .videoStart, .videoStop],
            outcome: .accepted,
            reason:
                "There is no verb for it [8.2]: an offer may change any stream at any time (RFC 3264 §8), and its direction says who holds."
        ),
        Difference(
            sides: Side.allCases, states: ["REMOTELY_HELD"], methods: [.transfer], outcome: .accepted,
            reason: "The guide's chapter on blind transfer allows it, although its table does not."),
        Difference(
            sides: Side.allCases, states: ["IN_CALL", "ON_DOUBLE_HOLD", "REMOTELY_HELD"],
            methods: [.consultativeTransfer], outcome: .accepted,
            reason: "Which states a client requires differs between clients [8.5]; some transfer out of an active call."
        ),
        Difference(
            sides: Side.allCases, states: unanswered + ["ANSWERING"], methods: [.merge], outcome: .failsLater,
            reason:
                "A join is a call of its own, which is accepted (201) before it asks the two others [8.7]; this one stays as it is."
        ),
    ]

    static func isAvailable(_ method: Method, in state: String, _ side: Side) -> Bool {
        available(in: state, side)?.split(separator: " / ").contains { $0 == method.rawValue } ?? false
    }

    static func outcome(of method: Method, in state: String, _ side: Side) -> Outcome {
        if Method.local.contains(method) { return .sendsNothing }
        if let difference = differences.first(where: { $0.concerns(side, state, method) }) { return difference.outcome }
        return isAvailable(method, in: state, side) ? .accepted : .refused
    }
}
