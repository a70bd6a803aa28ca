package import CallControl

extension CallError {
    /// The `reason` of the answer (spidr-wire §1.4): a sentence for developers of clients.
    package var sentence: String {
        switch self {
        case .noSuchCall: "This call does not exist or has ended."
        case .alreadyAnswered: "The call has been answered already, perhaps on another device."
        case .notAllowed(let operation, let reason):
            "\"\(operation.word)\(reason.manner)\" is not possible in this state: \(reason.obstacle)."
        case .pending: "Another request of this call is open; try again in a moment."
        case .unreachable(.noSuchUser): "There is no user of that address."
        case .unreachable(.notRegistered): "The user of that address has no device to be rung."
        case .unreachable(.busy): "The user of that address is busy with other calls."
        case .notForGuests(.otherAccount): "A guest calls the account it came for, and no other."
        case .notForGuests(.bringingOthers): "A guest can neither transfer nor join calls."
        case .unsupported(let reason): reason.sentence
        case .malformedDescription(let error): "The SDP cannot be read: \(error.clause)."
        case .descriptionTooLong(let limit): "The SDP cannot be read: more than \(limit) bytes."
        case .unsupportedDescription(let error): "The SDP cannot be used: \(error.clause)."
        case .descriptionMissing(.join): "The SDP cannot be used: a conference needs an offer; send one in \"sdp\"."
        case .descriptionMissing: "The SDP cannot be used: an answer needs a description; send one in \"sdp\"."
        case .unplayable(let error): "This cannot be played: \(error.clause)."
        case .digitsWaiting(let limit, _):
            "No more than \(limit) DTMF digits can wait to be sent; send these when some have been."
        case .limitOfCalls: "The gateway carries as many calls as it can; try again later."
        case .limitOfLegs: "You have as many calls as one user may have at a time; end one first."
        case .tooManyCalls: "You have started too many calls in a short time; wait before the next one."
        case .storageUnavailable: "What the gateway knows of its users cannot be read now; try again later."
        case .draining: "The gateway is stopping and takes nothing new; try again in a moment."
        }
    }
}

extension CallError.Operation {
    /// The word that clients write in `type` or `action`.
    fileprivate var word: String {
        switch self {
        case .start: "callStart"
        case .join: "join"
        case .ring: "ringing"
        case .answer: "callAnswer"
        case .acceptReplacement: "acceptCallReplace"
        case .reject: "reject"
        case .rejectReplacement: "rejectCallReplace"
        case .offer: "startCallUpdate"
        case .respond: "respondCallUpdate"
        case .transfer: "transfer"
        case .play: "play"
        case .stopPlaying: "stop"
        case .sendDigits: "dtmf"
        case .progress: "progress"
        case .hold: "hold"
        case .resume: "resume"
        }
    }
}

extension CallError.Reason {
    /// The part of the sentence that says how the operation does not fit; empty if the obstacle says all.
    fileprivate var manner: String {
        switch self {
        case .olderDescription: " with an older version in o="
        case .deviceWithoutCall: " by a device without the call"
        case .sameCall: " to the same call"
        case .state, .directMedia, .noSubscription, .guestHasCall, .onlyOneCall, .noApplication, .noEarlyMedia: ""
        }
    }

    /// The part of the sentence that says what is in the way.
    fileprivate var obstacle: String {
        switch self {
        case .state(let state), .olderDescription(let state), .deviceWithoutCall(let state), .sameCall(let state):
            state.word
        case .directMedia: "media that goes from peer to peer"
        case .noSubscription: "without a subscription of the user"
        case .guestHasCall: "a guest with another call"
        case .onlyOneCall: "one call only"
        case .noApplication: "a leg that no application hears"
        case .noEarlyMedia: "a caller that takes no early media"
        }
    }
}

extension CallError.Unsupported {
    /// The sentence about what the gateway does not do.
    fileprivate var sentence: String {
        switch self {
        case .transferFromConference: "An end of a conference cannot be transferred."
        case .transferOfDirectMedia:
            "This gateway transfers calls whose media it terminates, and passes this one's from peer to peer."
        case .joinOfDirectMedia: "Calls whose media goes from peer to peer cannot be joined."
        case .forwards(let limit): "A call can be forwarded \(limit) times."
        case .forwardOfConnection: "A call that you have asked the gateway for cannot be forwarded; answer it."
        case .connectionOfDirectMedia:
            "This gateway passes media from peer to peer, and so cannot place calls for its users."
        }
    }
}
