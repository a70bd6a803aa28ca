package import SDP

/// Why a call request was refused; the call is unchanged. A dialect makes the sentence for the client of it.
package enum CallError: Error, Equatable {
    /// The session is unknown, finished, or another user's.
    case noSuchCall
    /// Another device was faster, or the request came twice. `state` is what the call is to its user by now.
    case alreadyAnswered(state: LegState)
    /// The request does not fit the state: a caller cannot answer its own call, a connected call cannot ring.
    case notAllowed(Operation, Reason)
    /// No device can be rung at the address that the call was to go to.
    case unreachable(CallEndCause.Unreachable)
    /// Another request of this call is in progress (RFC 3261 §14.1). `retryAfter`: seconds after which to try again.
    case pending(retryAfter: Int)
    /// The description cannot be read, or breaks a rule of offer and answer.
    case malformedDescription(SDPError)
    /// The description is longer than `limit` bytes.
    case descriptionTooLong(limit: Int)
    /// The description is well-formed, but asks for something that the gateway does not do.
    case unsupportedDescription(SDPError)
    /// The request needs a description and has none.
    case descriptionMissing(Operation)
    /// The file cannot be played.
    case unplayable(MediaFileError)
    /// The DTMF digits that wait to be sent leave no room for more: at most `limit` may wait. There is room after
    /// `retryAfter`.
    case digitsWaiting(limit: Int, retryAfter: Duration)
    /// A guest may not make this request.
    case notForGuests(GuestLimit)
    /// The request needs media that the gateway terminates, or calls that can be joined.
    case unsupported(Unsupported)
    /// No media worker can take another call.
    case limitOfCalls
    /// The user who asks already has as many legs as one user may have.
    case limitOfLegs
    /// The user who asks has started too many calls in too short a time; the next is allowed after `retryAfter`.
    case tooManyCalls(retryAfter: Duration)
    /// The store of users cannot be read now.
    case storageUnavailable
    /// The gateway is stopping.
    case draining

    /// The operation that was asked for.
    package enum Operation: Equatable, Sendable, CaseIterable {
        /// Start a call.
        case start
        /// Make a conference of two calls.
        case join
        /// Report that a device rings.
        case ring
        /// Answer a call that rings.
        case answer
        /// Accept a call in place of another one.
        case acceptReplacement
        /// Decline a call that rings.
        case reject
        /// Decline a call in place of another one.
        case rejectReplacement
        /// Offer, or ask for an offer.
        case offer
        /// Answer an offer, or make the offer that was asked for.
        case respond
        /// Transfer the other leg.
        case transfer
        /// Play something.
        case play
        /// Stop a playback.
        case stopPlaying
        /// Send DTMF digits.
        case sendDigits
        /// Let the caller hear something before the answer.
        case progress
        /// Hold the other legs of a headless leg.
        case hold
        /// Hold them no more.
        case resume
    }

    /// Why the operation does not fit.
    package enum Reason: Equatable, Sendable {
        /// The state of the call, as its user sees it.
        case state(LegState)
        /// The description is older than the last one, by its version in `o=` (RFC 3264 §8).
        case olderDescription(LegState)
        /// The device was never told of the call, and so knows none of its offers.
        case deviceWithoutCall(LegState)
        /// Both sessions belong to the same call.
        case sameCall(LegState)
        /// Media goes from peer to peer.
        case directMedia
        /// The user has no subscription.
        case noSubscription
        /// The guest has another call.
        case guestHasCall
        /// The two calls that are to be joined are one call already.
        case onlyOneCall
        /// The leg has a peer, and no application hears it.
        case noApplication
        /// The caller takes nothing to hear before the answer.
        case noEarlyMedia
    }

    /// Which right a guest lacks.
    package enum GuestLimit: Equatable, Sendable {
        /// A guest may call only the account that it was admitted for.
        case otherAccount
        /// A guest may neither transfer nor join calls.
        case bringingOthers
    }

    /// What the gateway does not do with such a call.
    package enum Unsupported: Equatable, Sendable {
        /// A conference cannot be transferred.
        case transferFromConference
        /// A call whose media goes from peer to peer cannot be transferred.
        case transferOfDirectMedia
        /// Calls whose media goes from peer to peer cannot be joined.
        case joinOfDirectMedia
        /// The call has been forwarded `limit` times, which is the most allowed.
        case forwards(limit: Int)
        /// A call that the gateway places for the user cannot be forwarded: it is the user's own.
        case forwardOfConnection
        /// Where media goes from peer to peer the gateway cannot place calls.
        case connectionOfDirectMedia
    }
}

extension CallError.Reason {
    /// The state of the call as its user sees it, if the state is the reason; `nil` otherwise.
    package var state: LegState? {
        switch self {
        case .state(let state), .olderDescription(let state), .deviceWithoutCall(let state), .sameCall(let state): state
        case .directMedia, .noSubscription, .guestHasCall, .onlyOneCall, .noApplication, .noEarlyMedia: nil
        }
    }
}
