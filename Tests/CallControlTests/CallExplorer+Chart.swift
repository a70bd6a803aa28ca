import CallControl
import CallSupport
import Primitives
import SPiDR

extension CallExplorer {
    /// What the ends' states were and became, what went on in their calls, and what brought it about.
    struct Charts {
        var ends = StateChart("An end")
        var joiner = StateChart("Who joins two calls")
        var operations = StateChart("What goes on in a call")
        var conference = StateChart("The call that two become")

        static let operationOrder = ["idle", "update", "transfer", "consultation", "handover", "ended"]

        mutating func note(_ before: CallExplorer, _ step: Step, _ after: CallExplorer) {
            for session in ["A1", "A2", "A3", "B", "C", "D"] as [SessionID] {
                guard before.place(of: session) != nil || after.place(of: session) != nil else { continue }
                let from = before.seen(session)
                let to = after.place(of: session) == nil ? LegState.ended : after.seen(session)
                let cause = before.cause(of: step, for: session, after)
                if session == "A3" {
                    joiner.note(cause, from: from.word, to: to.word)
                } else {
                    ends.note(cause, from: from.word, to: to.word)
                }
            }
            for (id, call) in after.world.calls where id != CallExplorer.conference {
                guard let former = before.world.calls[id] else { continue }
                operations.note(before.cause(of: step, in: id), from: former.activity, to: call.activity)
            }
            let joined = [before, after].map { $0.world.calls[CallExplorer.conference]?.stage ?? "initial" }
            conference.note(before.cause(of: step, in: CallExplorer.conference), from: joined[0], to: joined[1])
        }
    }

    private func seen(_ session: SessionID) -> LegState {
        guard let place = place(of: session), let call = world.calls[place.call] else { return .initial }
        return call.legState(place.leg.id)
    }

    /// Why the state of an end is another one after a step.
    private func cause(of step: Step, for session: SessionID, _ after: CallExplorer) -> String {
        switch step {
        case .hold, .video, .ask, .move: "startCallUpdate"
        case .command: "an application holds or resumes"
        case .answer: changes(of: session, after).joined(separator: " and ")
        case .finish: "an application ends its part"
        case .end(let other): Self.session(of: other) == session ? "DELETE" : "the other hangs up"
        case .transfer, .hand: "call"
        case .consult: "transfer"
        case .join: "join"
        case .pickUp, .accept: session == Self.dave ? "callAnswer" : "the target of a transfer answers"
        case .decline: session == Self.dave ? "reject" : "the target of a transfer rejects"
        case .deliver(let place): reason(of: world.messages[place].content)
        case .hear, .neglect, .audit: "nothing"
        case .wait: "time-out"
        }
    }

    /// Who holds now, and who does not any more.
    private func changes(of session: SessionID, _ after: CallExplorer) -> [String] {
        guard let place = place(of: session), let before = world.calls[place.call],
            let call = after.world.calls[place.call]
        else { return [] }
        return call.legs.compactMap { leg in
            guard let former = before[leg.id], former.holds != leg.holds else { return nil }
            let who = leg.party.session == session ? "own" : "the other's"
            return "\(who) \(leg.holds ? "hold" : "resume") is answered"
        }
    }

    private func reason(of content: CallWorld.Message.Content) -> String {
        switch content {
        case .requested: "asked for its ends"
        case .offered: "the other call's ends are taken over"
        case .refused: "the other call refuses"
        case .taken(_, _, .transfer): "consultative transfer is done"
        case .taken(_, _, .join): "join is done"
        case .declined: "the other call declines"
        case .legEvent: "the other has left while it changed hands"
        }
    }

    /// Why something else goes on in a call after a step.
    private func cause(of step: Step, in id: CallID) -> String {
        switch step {
        case .hold, .video, .ask, .move: "startCallUpdate"
        case .command: "an application holds or resumes"
        case .answer: "respondCallUpdate"
        case .finish: "an application ends its part"
        case .end: "DELETE"
        case .transfer, .hand: "transfer to an address"
        case .consult: "transfer to another call"
        case .join: "join"
        case .pickUp, .accept: "the target answers"
        case .decline: "the target rejects"
        case .deliver(let place): reason(of: world.messages[place].content)
        case .hear, .neglect, .audit: "nothing"
        case .wait: "time-out"
        }
    }
}

extension Call {
    static let stageOrder = ["initial", "unanswered", "joining", "answered", "ended"]

    /// How far the call has come.
    var stage: String {
        switch state {
        case .initial: "initial"
        case .unanswered: "unanswered"
        case .joining: "joining"
        case .answered: "answered"
        case .ended: "ended"
        }
    }

    fileprivate var activity: String {
        switch state {
        case .initial: "initial"
        case .unanswered: "unanswered"
        case .joining: "joining"
        case .ended: "ended"
        case .answered(let answered):
            switch answered.operation {
            case nil: "idle"
            case .update: "update"
            case .transfer: "transfer"
            case .consultation: "consultation"
            case .handover: "handover"
            }
        }
    }
}
