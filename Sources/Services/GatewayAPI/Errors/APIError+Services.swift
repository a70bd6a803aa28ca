import CallControl
package import Registration

extension APIError {
    /// The refusal of a request about messages, presence or events.
    package init(_ refusal: ServiceRefusal) {
        self =
            switch refusal {
            case .unknownReceiver:
                APIError(.messageUnknownReceiver, "There is no user of the address in \"imRequest.toUrl\".")
            case .inboxFull:
                APIError(.messageInboxFull, "The receiver is away, and no more messages are kept; try again later.")
            case .tooManyMessages(let wait):
                APIError(
                    .messageRateLimited,
                    "The user has sent too many messages, or changed the presence too often; wait.",
                    retryAfter: wait)
            case .notSubscribed:
                APIError(.presenceNotSubscribed, "A user without a subscription is absent; subscribe first.")
            case .otherDomain(let user):
                APIError(.watchNotAllowed, "Users of another domain cannot be watched: \(user).")
            case .voicemailOfAnother(let user):
                APIError(.watchNotAllowed, "The voice mail of another user cannot be watched: \(user).")
            case .limitOfWatched(let limit):
                APIError(.watchLimitReached, "One user can watch \(limit) users; stop watching others first.")
            case .limitOfEventSubscriptions(let limit):
                APIError(.watchLimitReached, "One user can have \(limit) subscriptions to events; delete one first.")
            case .noSuchEventSubscription:
                APIError(.eventNotFound, "This subscription to events does not exist or has ended; subscribe again.")
            case .storageUnavailable:
                APIError(
                    .serviceUnavailable, "The users cannot be read now; try again later.", retryAfter: Self.backOff)
            }
    }
}
