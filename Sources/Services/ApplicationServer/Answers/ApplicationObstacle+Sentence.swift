import CallControl

extension ApplicationObstacle {
    /// The `detail` of the answer: a sentence for developers of applications.
    var sentence: String {
        switch self {
        case .state(let phase, let command): "The call is \(phase.rawValue), and does not allow \(command.rawValue)."
        case .stateForStream(let phase): "The call is \(phase.rawValue), and does not allow a stream."
        case .conference(let command): "The call is a conference, and does not allow \(command.rawValue)."
        case .fewerThanTwoOthers:
            "Fewer than two others are in the call: end ends it, and transfer lets the other one go on."
        case .noDecision(let command): "\(command.rawValue) is no decision about a call that rings."
        case .decided: "The call is decided, or the time to decide is over."
        case .ended: "The call has ended."
        case .answered: "The call has been answered already."
        case .notNow: "The call does not allow this now."
        case .pending: "Another request of this call is open; try again in a moment."
        case .waitingLists(let limit): "As many lists wait already as may: \(limit)."
        case .recordings(let limit): "The call has as many recordings as it may: \(limit)."
        case .recordingGoesOn: "A recording of the call goes on already."
        case .recordingPaused: "The recording is paused already."
        case .recordingNotPaused: "The recording is not paused."
        case .noRecording: "No recording of the call goes on."
        case .hasStream: "The call has a stream already."
        case .listeners(let limit): "The call has as many listeners as it may: \(limit)."
        case .noStreamOfGateway: "The gateway has opened no stream of the call."
        case .unanswered: "A call that is not answered can be forwarded to an address alone."
        case .otherCall(let phase): "The other call is \(phase.rawValue): it has to talk, or to be held."
        case .conferenceAmongCalls: "One of the calls is a conference, which can only be joined with others."
        case .noEarlyMedia: "The caller's client takes nothing to hear before the answer."
        case .unreachable: "No device can be rung at that address."
        case .noUsableAudio: "The other side describes no audio that the gateway can decode."
        case .forwards(let limit): "A call can be forwarded \(limit) times."
        case .unsupported: "The gateway does not do this with such a call."
        }
    }
}
