/// Why a call request was refused; the call is unchanged. A dialect makes the sentence for the client of it.
package enum CallError: Error, Equatable {
    /// The session is unknown, finished, or another user's.
    case noSuchCall
    /// Another device was faster, or the request came twice. `state` is what the call is to its user by now.
    case alreadyAnswered(state: LegState)
    /// The request does not fit: the caller cannot answer its own call, a connected call cannot ring.
    /// `state`: a `LegState`, or in words what else is in the way.
    case notAllowed(operation: String, state: String)
    /// Nobody can be rung at the address that the call was to go to.
    case unreachable(CallEndCause.Unreachable)
    /// Another request of this call is in progress (RFC 3261 §14.1). `retryAfter`: seconds after which to try again.
    case pending(retryAfter: Int)
    /// The description cannot be used. The sentence says which line, and why.
    case malformedDescription(String)
    /// The description is well-formed but asks for something the gateway does not do.
    case unsupportedDescription(String)
    /// There is no such file to play, or it is of no known form; the sentence says which.
    case unplayable(String)
    /// The DTMF digits that wait to be sent leave no room for more: at most `limit` may wait. There is room after
    /// `retryAfter`.
    case keysWaiting(limit: Int, retryAfter: Duration)
    /// A caller without an account may not do this; the sentence says what it may.
    case notForGuests(String)
    /// What was asked for needs media that the gateway terminates, or two calls that can be brought together.
    case unsupported(String)
    /// No media worker can take another call.
    case limitOfCalls
    /// The user who asks already has as many legs as one user may have.
    case limitOfLegs
    /// The user who asks has started too many calls in too short a time; the next is allowed after `retryAfter`.
    case tooManyCalls(retryAfter: Duration)
    /// The gateway is stopping.
    case draining
}
