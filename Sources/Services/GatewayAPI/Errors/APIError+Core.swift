package import CallControl

extension APIError {
    /// How long a client waits before it asks again a gateway that is full or stopping: 5 s.
    package static let backOff = Duration.seconds(5)

    /// The refusal of a request about a subscription.
    ///
    /// The code says why; `reason` says what the client can do. ``backOff`` is the time to wait where guests are too
    /// many, or the gateway drains.
    package init(_ error: RegistrationError) {
        self =
            switch error {
            case .noSuchSubscription:
                APIError(.subscriptionNotFound, "This subscription does not exist or has ended; subscribe again.")
            case .unsupportedServices(let services):
                APIError(
                    .subscriptionUnsupportedServices,
                    "None of the requested services is offered here: \(services.joined(separator: ", ")). Ask for \"call\", as a guest for \"callMe\"."
                )
            case .limitOfSubscriptions(let limit):
                APIError(
                    .subscriptionLimitReached,
                    "The user already has \(limit) subscriptions; delete one, or subscribe with \"forceLogOut\": \"true\"."
                )
            case .limitOfGuests:
                APIError(
                    .anonymousLimitReached,
                    "There are as many anonymous callers as the gateway takes; try again later.",
                    retryAfter: Self.backOff)
            case .limitOfNetworkGuests:
                APIError(
                    .anonymousRateLimited,
                    "There are as many anonymous callers from your address as one may have; try again later.",
                    retryAfter: Self.backOff)
            case .draining:
                .draining
            }
    }

    /// The refusal of a request about a call.
    ///
    /// `retryAfter` is set where the same request may succeed later. `state` is set for `call.already_answered`, and
    /// for `call.not_allowed` where the state of the call is the reason.
    package init(_ error: CallError) {
        self =
            switch error {
            case .noSuchCall:
                APIError(.callNotFound, "This call does not exist or has ended.")
            case .alreadyAnswered(let state):
                APIError(
                    .callAlreadyAnswered, "The call has been answered already, perhaps on another device.", state: state
                )
            case .notAllowed(let operation, let state):
                APIError(
                    .callNotAllowed, "\"\(operation)\" is not possible in this state: \(state).",
                    state: LegState(rawValue: state))
            case .pending(let seconds):
                APIError(
                    .callPending, "Another request of this call is open; try again in a moment.",
                    retryAfter: .seconds(seconds))
            case .unreachable(.noSuchUser):
                APIError(.callUnreachable, "There is no user of that address.")
            case .unreachable(.notRegistered):
                APIError(.callUnreachable, "The user of that address has no device to be rung.")
            case .unreachable(.busy):
                APIError(.callUnreachable, "The user of that address is busy with other calls.")
            case .notForGuests(let reason):
                APIError(.anonymousNotAllowed, reason)
            case .unsupported(let reason):
                APIError(.callOperationNotSupported, reason)
            case .malformedDescription(let reason):
                APIError(.callMalformedSDP, "The SDP cannot be read: \(reason).")
            case .unsupportedDescription(let reason):
                APIError(.callUnsupportedSDP, "The SDP cannot be used: \(reason).")
            case .unplayable(let reason):
                APIError(.mediaUnplayable, "This cannot be played: \(reason).")
            case .keysWaiting(let limit, let wait):
                APIError(
                    .mediaKeysWaiting,
                    "No more than \(limit) keys can wait to be pressed; send these when some have been.",
                    retryAfter: wait)
            case .limitOfCalls:
                APIError(
                    .callLimitReached, "The gateway carries as many calls as it can; try again later.",
                    retryAfter: Self.backOff)
            case .limitOfLegs:
                APIError(
                    .callUserLimitReached, "You have as many calls as one user may have at a time; end one first.",
                    retryAfter: Self.backOff)
            case .tooManyCalls(let wait):
                APIError(
                    .callRateLimited, "You have begun too many calls in a short time; wait before the next one.",
                    retryAfter: wait)
            case .draining:
                .draining
            }
    }

    private static let draining = APIError(
        .serviceDraining, "The gateway is stopping and takes nothing new; try again in a moment.",
        retryAfter: Self.backOff)
}
