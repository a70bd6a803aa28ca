import CallControl

extension CallEvent.Fact {
    /// For the log: what happened, without names, addresses, descriptions and the words of users.
    var label: String {
        switch self {
        case .joined(let party): "joined \(party.arrival)"
        case .invited(_, let invitation): invitation.replaces == nil ? "invited" : "invited to replace"
        case .waking(let devices, _): "waking ×\(devices.count)"
        case .awoke: "awoke"
        case .notWoken: "notWoken"
        case .wakingOver(let devices, _, _): "wakingOver ×\(devices.count)"
        case .rings: "rings"
        case .alerted: "alerted"
        case .progressed: "progressed"
        case .talks: "talks"
        case .established: "established"
        case .stoppedRinging(let reason, _): "stoppedRinging \(reason)"
        case .rejected: "rejected"
        case .forwarded: "forwarded"
        case .changedDevice: "changedDevice"
        case .renewedSubscription: "renewedSubscription"
        case .released(let cause, _): "released \(cause.label)"
        case .left: "left"
        case .moved: "moved"
        case .ended(let record, _, _): "ended \(record.cause.label)"
        case .offered(let description, _): description == nil ? "asked for an offer" : "offered"
        case .answered: "answered"
        case .unanswered: "unanswered"
        case .candidates(let lines): "candidates ×\(lines.count)"
        case .held: "held"
        case .resumed: "resumed"
        case .transferStarted: "transferStarted"
        case .transferFailed(let failure): "transferFailed \(failure.label)"
        case .completed(let purpose): "completed \(purpose)"
        case .mediaReached(let step): "mediaReached \(step)"
        case .mediaRestarted: "mediaRestarted"
        case .pathLost(let leg): "pathLost of \(leg)"
        case .pathRecovered(let leg): "pathRecovered of \(leg)"
        case .playbackEnded: "playbackEnded"
        case .qualityMeasured: "qualityMeasured"
        case .content: "content"
        // Which key it was is between the parties.
        case .keyPressed(_, _, let leg): "keyPressed by \(leg)"
        case .played(let list): "played #\(list.number) \(list.outcome)"
        case .gathered(let result): "gathered ×\(result.keys.count) \(result.outcome)"
        }
    }
}
