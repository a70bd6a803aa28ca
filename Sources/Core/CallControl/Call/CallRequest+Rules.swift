/// The name of each request in logs and metrics, the names of its outcomes there, the limits that are counted, and
/// whether guests may make it.
extension CallRequest {
    /// What a request asks for. The raw value is its name in logs and metrics.
    package enum Kind: String, CaseIterable, Sendable {
        /// To start a call.
        case start
        /// To be called, and then connected with a target.
        case connect
        /// To make a conference of two calls.
        case join
        /// To forward a call that rings.
        case forward
        /// To connect the other leg with a target.
        case transfer
        /// To report that a device shows the call.
        case ring
        /// To answer a call, or to accept it in place of another one.
        case answer
        /// To decline a call.
        case reject
        /// To hang up.
        case end
        /// To learn whether the call still exists.
        case audit
        /// To offer, or to be offered.
        case offer
        /// To answer an offer, or to make the offer that was asked for.
        case respond
        /// To give candidates.
        case candidates
        /// To send parameters and bodies.
        case send
        /// To play something.
        case play
        /// To stop what is played.
        case stopPlaying = "stop_playing"
        /// To send DTMF digits.
        case sendDigits = "send_digits"
        /// To let the caller hear an application before the answer.
        case progress
        /// To hold the other legs of an application.
        case hold
        /// To hold them no more.
        case resume
        /// To let the other legs hear nothing of an application, or to take that back.
        case mute
        /// To make known what an application has gathered.
        case gather
        /// To record the leg of an application, or to pause or end that.
        case record
    }

    /// What the request asks for; what the command asks for, if it is one.
    package var kind: Kind {
        switch self {
        case .start: .start
        case .connect: .connect
        case .join: .join
        case .forward: .forward
        case .transfer: .transfer
        case .command(_, let command): command.kind
        }
    }

    /// Whether the request makes another call. A gateway that is going to stop refuses it.
    package var opensCall: Bool {
        switch self {
        case .start, .connect, .join: true
        case .forward, .transfer, .command: false
        }
    }

    /// What became of a request. The raw value is its name in logs and metrics.
    package enum Outcome: String, CaseIterable, Sendable {
        /// It was carried out; or it had been, and changed nothing.
        case done
        /// Its session is unknown, finished, or another user's.
        case noSuchCall = "no_such_call"
        /// It does not fit the state of the call.
        case notAllowed = "not_allowed"
        /// Another request of the call is in progress.
        case pending
        /// Its description is missing or cannot be used, or its file cannot be played.
        case unusable
        /// No device can be rung at the address.
        case unreachable
        /// A guest may not make it.
        case forbidden
        /// The gateway does not do this with such a call.
        case unsupported
        /// A limit on legs, calls, their rate, or waiting digits.
        case limit
        /// The gateway is stopping, or cannot read its store.
        case unavailable
    }

    /// What guests may do with a request.
    package enum GuestRule: Equatable, Sendable {
        /// A guest may make it, in the calls that it has.
        case open
        /// A guest may make it if it was admitted for this account.
        case account(UserAddress)
        /// No guest may make it.
        case closed(CallError.GuestLimit)
    }

    /// Whether a guest may make this request. A guest calls only the account that it was admitted for, and a user who
    /// brings others into calls must have an account.
    package var guestRule: GuestRule {
        switch self {
        case .start(let request): .account(request.callee)
        case .connect, .join, .transfer: .closed(.bringingOthers)
        case .forward, .command: .open
        }
    }
}

extension CallCommand {
    /// What the command asks for.
    package var kind: CallRequest.Kind {
        switch self {
        case .ring: .ring
        case .answer: .answer
        case .reject: .reject
        case .end: .end
        case .audit: .audit
        case .offer: .offer
        case .respond: .respond
        case .candidates: .candidates
        case .send: .send
        case .play: .play
        case .stopPlaying: .stopPlaying
        case .sendDigits: .sendDigits
        case .headless(let command): command.kind
        }
    }
}

extension CallError {
    /// The limit that the request has met, for metrics; `nil`: none. Limits of the user who is called are no errors:
    /// placements count them.
    package var refusal: CallRefusal? {
        switch self {
        case .limitOfLegs, .notAllowed(_, .guestHasCall): .userCalls
        case .tooManyCalls: .userRate
        case .limitOfCalls: .gatewayCalls
        case .noSuchCall, .alreadyAnswered, .notAllowed, .unreachable, .pending, .malformedDescription,
            .descriptionTooLong, .unsupportedDescription, .descriptionMissing, .unplayable, .digitsWaiting,
            .notForGuests, .unsupported, .storageUnavailable, .draining:
            nil
        }
    }
}

extension CallRequest.Outcome {
    /// The outcome of a request that was refused with this error.
    package init(_ error: CallError) {
        self =
            switch error {
            case .noSuchCall: .noSuchCall
            case .alreadyAnswered, .notAllowed: .notAllowed
            case .pending: .pending
            case .malformedDescription, .descriptionTooLong, .unsupportedDescription, .descriptionMissing, .unplayable:
                .unusable
            case .unreachable: .unreachable
            case .notForGuests: .forbidden
            case .unsupported: .unsupported
            case .digitsWaiting, .limitOfCalls, .limitOfLegs, .tooManyCalls: .limit
            case .storageUnavailable, .draining: .unavailable
            }
    }
}
