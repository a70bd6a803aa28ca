import CallControl
import SDP

extension CallExplorer.Client {
    /// It has answered, and goes by what it was offered, whatever becomes of the answer.
    mutating func applyOffer(late: Bool) {
        isHeld = offered.map { !$0.receives } ?? isHeld
        (offered, lateness, isLate, isAstray) = (nil, 0, late, false)
    }

    var isOverOnce: Bool { farewells + mail.count { $0 == .over } <= 1 }
}

extension CallLeg {
    var isCompleted: Bool { if case .completed = stage { true } else { false } }
    var isTalkingNow: Bool { stage == .talking }
    var awaitsAnswer: Bool { answerDeadline != nil }
    var isToldAnew: Bool { awaitsAnswer && ownOffer != .withdrawn }
}

extension Call.Operation {
    /// Ends with a message that is certain to come.
    var isHandover: Bool { if case .handover = self { true } else { false } }

    var word: String {
        switch self {
        case .update(let update): "update \(update.offerer.number)>\(update.answerer.number)"
        case .transfer: "transfer"
        case .consultation: "consultation"
        case .handover(let handover): "handover \(handover.taker) \(handover.deferred.map { "\($0.leg.number)" }.joined())"
        }
    }
}

extension CallWorld.Message.Content {
    var word: String {
        switch self {
        case .requested(let call, _): "requested by \(call)"
        case .offered(let handover): "offered by \(handover.from)"
        case .refused(let call): "refused by \(call)"
        case .taken(let call, _, _): "taken by \(call)"
        case .declined(let call): "declined by \(call)"
        case .happened(let event, let leg): "happened \(event) \(leg.number)"
        }
    }
}

extension CallExplorer.News {
    var word: String {
        switch self {
        case .called: "called"
        case .offered(let direction): "offered \(direction?.rawValue ?? "-")"
        case .answered(let direction): "answered \(direction?.rawValue ?? "-")"
        case .timedOut: "timed out"
        case .over: "over"
        case .failed: "failed"
        }
    }
}

extension CallLeg.OwnOffer {
    var word: String {
        switch self {
        case .introduction: "i"
        case .withdrawn: "w"
        case .restoration(let sends): sends ? "s" : "r"
        }
    }
}

extension CallExplorer.Step {
    /// Follows from what was asked for before, or asks for nothing to happen.
    var isReaction: Bool {
        switch self {
        case .answer, .hear, .neglect, .deliver, .audit: true
        case .hold, .end, .transfer, .consult, .join, .pickUp, .pickUpElsewhere, .decline, .wait: false
        }
    }
}
