import CallControl
import Primitives
import SDP

extension CallExplorer.Client {
    /// It has answered, and goes by what it was offered.
    ///
    /// - Parameter isRefused: nobody wants its answer any more.
    mutating func applyOffer(isRefused: Bool = false) {
        isHeld = offered.map { !$0.receives } ?? isHeld
        // An answer to an offer that sends nothing does not say whether it holds.
        isAstray = isRefused || isAstray && offered?.sends != true
        (offered, lateness) = (nil, 0)
    }

    mutating func catchUp() { isCatchingUp = !mail.isEmpty && (lateness > 0 || isCatchingUp) }

    var isOverOnce: Bool { farewells + mail.count { $0 == .over } <= 1 }
}

extension CallLeg {
    var isCompleted: Bool { if case .completed = stage { true } else { false } }
    var isTalkingNow: Bool { stage == .talking }

    /// What tells exchanges with it apart.
    func exchange(at now: MonotonicTime) -> String {
        let offer = offered.map { "\($0.count)\($0.settles > now ? "s" : "")\($0.told?.description ?? "")" } ?? ""
        let marks = [isStable, isAsked, newsDue != nil, newsDue.map { $0 > now } ?? false].map { $0 ? "1" : "0" }
            .joined()
        return "[\(marks)|\(offer)|\(told?.description ?? "")|\(wishes?.description ?? "")]"
    }
}

extension Call.Operation {
    /// Ends with a message that is certain to come.
    var isHandover: Bool { if case .handover = self { true } else { false } }

    var word: String {
        switch self {
        case .update(let update): "update \(update.offerer.number)>\(update.answerer.number)"
        case .transfer: "transfer"
        case .consultation: "consultation"
        case .handover(let handover):
            "handover \(handover.taker) \(handover.deferred.map { "\($0.leg.number)" }.joined())"
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
    var isOffer: Bool { if case .offered = self { true } else { false } }

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

extension CallExplorer.Step {
    /// Follows from what was asked for before, or asks for nothing to happen.
    var isReaction: Bool {
        switch self {
        case .answer, .hear, .neglect, .deliver, .audit: true
        case .hold, .end, .transfer, .consult, .join, .pickUp, .pickUpElsewhere, .decline, .wait: false
        }
    }
}
