package import CallControl
package import Registration
package import SPiDR

extension APIError {
    /// How long a client waits before it asks again a gateway that is full or stopping: 5 s.
    package static let backOff = Duration.seconds(5)

    /// The refusal of a request about a subscription.
    ///
    /// The code says why; `reason` says what the client can do. ``backOff`` is the time to wait where guests are too
    /// many, a network has too many subscriptions, or the gateway drains.
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
            case .limitOfAllSubscriptions:
                APIError(
                    .serviceUnavailable, "There are as many subscriptions as the gateway takes; try again later.",
                    retryAfter: Self.backOff)
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
            case .limitOfNetwork:
                APIError(
                    .subscriptionRateLimited,
                    "There are as many subscriptions from your address as one may have; try again later.",
                    retryAfter: Self.backOff)
            case .tooOftenFromNetwork(let wait):
                APIError(
                    .subscriptionRateLimited,
                    "Too many subscriptions from your address in a short time; wait before the next one.",
                    retryAfter: wait)
            case .tooOften(let wait):
                APIError(
                    .subscriptionRateLimited,
                    "You have asked for too many subscriptions in a short time; wait before the next one.",
                    retryAfter: wait)
            case .draining:
                .draining
            }
    }

    /// The refusal of a request about a call.
    ///
    /// `retryAfter` is set where the same request may succeed later. `state` is set for `call.already_answered`, and
    /// for `call.not_allowed` where the state of the call is the reason.
    package init(_ error: CallError) {
        let (code, wait) = error.answer
        let state: LegState? =
            switch error {
            case .alreadyAnswered(let state): state
            case .notAllowed(_, let reason): reason.state
            case .noSuchCall, .unreachable, .pending, .malformedDescription, .descriptionTooLong,
                .unsupportedDescription, .descriptionMissing, .unplayable, .digitsWaiting, .notForGuests, .unsupported,
                .limitOfCalls, .limitOfLegs, .tooManyCalls, .storageUnavailable, .draining:
                nil
            }
        self.init(code, error.sentence, retryAfter: wait, state: state)
    }

    /// The refusal of a body that was read, but cannot be carried out.
    package init(_ fault: RequestFault) {
        let code: ErrorCode
        switch fault {
        case .missing: code = .requestMissingField
        case .unusable, .tooManyCandidates, .candidatesTooLong: code = .requestInvalidValue
        case .operationNotOffered: code = .callOperationNotSupported
        case .operationOfAnotherResource, .unknownOperation: code = .callOperationUnknown
        case .unsupportedNotificationType: code = .subscriptionUnsupportedNotificationType
        case .invalidExpiry: code = .subscriptionInvalidExpiry
        case .messageTooLong: code = .messageTooLong
        case .unknownPackage: code = .eventUnknownPackage
        case .refused(let error):
            self.init(error)
            return
        }
        self.init(code, fault.sentence)
    }

    /// The refusal of every new subscription and call while the gateway drains.
    private static let draining = APIError(CallError.draining)
}

extension CallError {
    /// The code of the refusal, and how long a client waits before it asks again. `nil`: asking again does not help.
    fileprivate var answer: (ErrorCode, retryAfter: Duration?) {
        switch self {
        case .noSuchCall: (.callNotFound, nil)
        case .alreadyAnswered: (.callAlreadyAnswered, nil)
        case .notAllowed: (.callNotAllowed, nil)
        case .pending(let seconds): (.callPending, .seconds(seconds))
        case .unreachable: (.callUnreachable, nil)
        case .notForGuests: (.anonymousNotAllowed, nil)
        case .unsupported: (.callOperationNotSupported, nil)
        case .malformedDescription, .descriptionTooLong: (.callMalformedSDP, nil)
        case .unsupportedDescription, .descriptionMissing: (.callUnsupportedSDP, nil)
        case .unplayable: (.mediaUnplayable, nil)
        case .digitsWaiting(_, let wait): (.mediaDigitsWaiting, wait)
        case .limitOfCalls: (.callLimitReached, APIError.backOff)
        case .limitOfLegs: (.callUserLimitReached, APIError.backOff)
        case .tooManyCalls(let wait): (.callRateLimited, wait)
        case .storageUnavailable: (.serviceUnavailable, APIError.backOff)
        case .draining: (.serviceDraining, APIError.backOff)
        }
    }
}
