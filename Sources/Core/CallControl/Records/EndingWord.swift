/// Why a call ended, in one word: the vocabulary of docs/call-states.md, which records, notifications, the `/v1` form
/// and metrics share. The raw value is the word.
package enum EndingWord: String, Hashable, Sendable, CaseIterable {
    /// The call was answered; one of the parties hung up, or handed it to others.
    case normalClearing = "normal_clearing"
    /// The caller gave up before an answer.
    case originatorCancel = "originator_cancel"
    /// The callee declined.
    case callRejected = "call_rejected"
    /// The callee is in another call and may not be rung, or has as many calls as one user may have.
    case userBusy = "user_busy"
    /// The callee did not answer within the ring time.
    case noAnswer = "no_answer"
    /// No device of the callee is registered.
    case subscriberAbsent = "subscriber_absent"
    /// There is no user with the address that was called.
    case unallocatedNumber = "unallocated_number"
    /// There was no media path in time, or it was lost.
    case mediaTimeout = "media_timeout"
    /// A peer did not do what its description promised.
    case incompatibleDestination = "incompatible_destination"
    /// The last subscription of one party ended.
    case subscriptionEnded = "subscription_ended"
    /// The client of one party gave no sign of life.
    case clientLost = "client_lost"
    /// Two calls could not become a conference.
    case joinFailed = "join_failed"
    /// The gateway was stopping or was killed, an operator ended the call, it had lasted as long as a call may, or a
    /// media worker had no room for what the call needed.
    case normalTemporaryFailure = "normal_temporary_failure"
}

/// Why a call ended for one leg or some devices while it goes on, in one word; the raw value is the word. No call is
/// counted under these.
package enum PartialEndingWord: String, Hashable, Sendable, CaseIterable {
    /// This device has answered.
    case answeredHere = "answered_here"
    /// Another device of the user answered first.
    case answeredElsewhere = "answered_elsewhere"
    /// The user continued the call on another device.
    case continuedElsewhere = "continued_elsewhere"
    /// The call was forwarded to another address.
    case forwarded
    /// A transfer failed: the target was not reached, or the other call was not handed over.
    case transferFailed = "transfer_failed"
}

extension CallEndCause {
    /// The cause in one word.
    package var word: EndingWord {
        switch self {
        case .completed, .transferred: .normalClearing
        case .cancelled: .originatorCancel
        case .rejected: .callRejected
        case .unanswered: .noAnswer
        case .unreachable(.noSuchUser): .unallocatedNumber
        case .unreachable(.notRegistered): .subscriberAbsent
        case .unreachable(.busy): .userBusy
        case .mediaFailed(_, .setupTimeout), .mediaFailed(_, .neverConnected), .mediaFailed(_, .consentExpired):
            .mediaTimeout
        case .mediaFailed(_, .handshakeFailed), .mediaFailed(_, .fingerprintMismatch): .incompatibleDestination
        case .mediaFailed(_, .overloaded), .tooLong, .drained, .endedByOperator, .interrupted: .normalTemporaryFailure
        case .callerLeft, .subscriptionEnded: .subscriptionEnded
        case .clientLost: .clientLost
        case .joinFailed: .joinFailed
        case .targetNotReached(let cause, _): cause.word
        }
    }
}

extension PartialEndingWord {
    /// The word for devices that stop ringing.
    package init(_ reason: CallEvent.StopReason) {
        self =
            switch reason {
            case .answeredHere: .answeredHere
            case .answeredElsewhere: .answeredElsewhere
            case .forwarded: .forwarded
            }
    }
}
