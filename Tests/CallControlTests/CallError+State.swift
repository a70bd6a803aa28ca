import CallControl

extension CallError {
    /// The request does not fit what the call is in; what explorers send is never wrong in itself.
    var isOfState: Bool {
        switch self {
        case .noSuchCall, .alreadyAnswered, .notAllowed, .pending: true
        case .unreachable, .malformedDescription, .descriptionTooLong, .unsupportedDescription, .descriptionMissing,
            .unplayable, .digitsWaiting, .notForGuests, .unsupported, .limitOfCalls, .limitOfLegs, .tooManyCalls,
            .storageUnavailable, .draining:
            false
        }
    }
}
