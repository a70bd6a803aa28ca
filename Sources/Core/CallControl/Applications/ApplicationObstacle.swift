/// Why a call of an application does not allow what the application asks for. A dialect makes the sentence.
package enum ApplicationObstacle: Hashable, Sendable {
    // MARK: How far the call has come

    /// A call that has come so far does not allow the command.
    case state(ApplicationCallPhase, ApplicationCommand.Name)
    /// A call that has come so far does not allow a stream.
    case stateForStream(ApplicationCallPhase)
    /// The call is a conference, which does not allow the command.
    case conference(ApplicationCommand.Name)
    /// Fewer than two others are in the call, so that the application cannot leave it.
    case fewerThanTwoOthers
    /// The command is no decision about a call that rings.
    case noDecision(ApplicationCommand.Name)
    /// The call is decided, or the time to decide is over.
    case decided
    /// The call has ended.
    case ended
    /// The call has been answered, maybe by another application.
    case answered
    /// The call does not allow it now, for another reason.
    case notNow
    /// Another request of the call is open.
    case pending

    // MARK: What the call has

    /// As many lists wait as may.
    case waitingLists(limit: Int)
    /// The call has as many recordings as it may.
    case recordings(limit: Int)
    /// A recording of the call goes on.
    case recordingGoesOn
    /// The recording is paused.
    case recordingPaused
    /// The recording is not paused.
    case recordingNotPaused
    /// No recording of the call goes on.
    case noRecording
    /// The call has a stream, listeners left out.
    case hasStream
    /// The call has as many listeners as it may.
    case listeners(limit: Int)
    /// The gateway has opened no stream of the call.
    case noStreamOfGateway

    // MARK: Other calls

    /// The call is not answered, and no other call can take its place.
    case unanswered
    /// The other call has come so far, and neither talks nor is held.
    case otherCall(ApplicationCallPhase)
    /// One of the calls is a conference, which cannot be connected with another call.
    case conferenceAmongCalls

    // MARK: Other parties

    /// The caller's client takes nothing to hear before the answer.
    case noEarlyMedia
    /// No device can be rung at the address.
    case unreachable
    /// The other side describes no audio that the gateway can decode.
    case noUsableAudio
    /// The call was forwarded as often as it may be.
    case forwards(limit: Int)
    /// The gateway does not do this with such a call.
    case unsupported
}
