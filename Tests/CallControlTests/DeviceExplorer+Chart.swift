import CallControl
import CallSupport
import Primitives
import SPiDR

extension DeviceExplorer {
    /// What the ends' states were and became, and what brought it about.
    struct Charts {
        var outgoing = StateChart("Outgoing call")
        var incoming = StateChart("Incoming call")
        var call = StateChart("The call")

        mutating func note(_ before: DeviceExplorer, _ step: Step, _ after: DeviceExplorer) {
            call.note(before.cause(of: step), from: before.call.stage, to: after.call.stage)
            for leg in [LegID.caller, .callee, LegID(2)] {
                // Dave is nobody until the call is forwarded to him.
                guard leg != LegID(2) || before.call[leg] != nil || after.call[leg] != nil else { continue }
                let from = leg == LegID(2) && before.call[leg] == nil ? LegState.initial : before.call.legState(leg)
                let to = after.call.legState(leg)
                let cause = before.cause(of: step, seenFrom: leg)
                if leg == .caller {
                    outgoing.note(cause, from: from.word, to: to.word)
                } else {
                    incoming.note(cause, from: from.word, to: to.word)
                }
            }
        }
    }

    /// Seen from who takes it.
    private func cause(of step: Step) -> String {
        switch step {
        case .request(let device, _, _), .again(let device), .leave(let device), .wake(let device),
            .decline(let device), .pushFails(let device):
            cause(of: step, seenFrom: self.leg(of: device))
        case .giveUp, .ringing, .hear, .mediaFails, .drain, .audit, .wait: cause(of: step, seenFrom: .caller)
        }
    }

    private func cause(of step: Step, seenFrom leg: LegID) -> String {
        switch step {
        case .request(let device, let request, _): return cause(of: request, of: device, seenFrom: leg)
        case .again(let device):
            return clients[device]?.unsure.map { cause(of: $0, of: device, seenFrom: leg) } ?? "nothing"
        case .ringing: return "a device rings"
        case .leave(let device):
            return self.leg(of: device) == leg ? "the last device leaves" : "the other's last device leaves"
        case .wake: return "a woken device is back"
        case .decline(let device): return cause(of: .reject, of: device, seenFrom: leg)
        case .pushFails: return "no device can be woken"
        case .mediaFails: return "media is lost"
        case .drain: return "the gateway stops"
        case .wait:
            switch call.nextDeadline?.reason {
            case .ringing where call[.callee]?.stage == .unreached: return "no device can be woken"
            case .ringing: return "no answer in time"
            case .mediaSetup: return "no media in time"
            case .operation: return "no answer to the offer in time"
            case .offer, .news, .silence, .completion, .duration, nil: return "time-out"
            }
        case .giveUp, .hear, .audit: return "nothing"
        }
    }

    private func cause(of request: Request, of device: SubscriptionID, seenFrom leg: LegID) -> String {
        if self.leg(of: device) == leg { return request.own }
        return leg == LegID(2) && request == .forward ? "call" : request.others
    }
}

extension DeviceExplorer.Request {
    fileprivate var own: String {
        switch self {
        case .start: "callStart"
        case .answer: "callAnswer"
        case .respond: "respondCallUpdate"
        case .reject, .refuse: "reject"
        case .progress: "progress"
        case .forward: "forward"
        case .end: "DELETE"
        }
    }

    fileprivate var others: String {
        switch self {
        case .start: "call"
        case .answer: "the other answers"
        case .respond: "respondCallUpdate of the other"
        case .reject, .refuse: "the other rejects"
        case .progress: "the other is heard early"
        case .forward: "the other forwards"
        case .end: "the other hangs up"
        }
    }
}
