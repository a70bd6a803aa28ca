package import SDP

/// What a call wants done.
package enum CallAction: Equatable, Sendable {
    /// For these subscriptions of the leg's user.
    case notify(Leg, [SubscriptionID], Notification)
    /// Connectivity checks of this leg's peer are welcome from now on (RFC 8445 §7.3).
    case prepareMedia(Leg, ICECredentials)
    /// Both descriptions of the leg are known.
    case connectMedia(Leg, NegotiatedLeg)
    case releaseMedia
    /// The leg hears this instead of the other end; `number` comes back when it has ended.
    case play(Playback, number: UInt32, to: Leg)
    case stopPlaying(to: Leg)
    case sendDigits(DigitSequence, to: Leg)
    /// For those subscriptions of the leg's user that were granted `quality`.
    case notifyQuality(Leg, Notification)
    case answered(setup: Duration)
    /// The last action of every call.
    case ended(CallRecord)
}

/// What remains to be said about a call that is over.
package struct CallRecord: Equatable, Sendable {
    package var cause: CallEndCause
    /// From start to answer; `nil` if it never came.
    package var setup: Duration?
    /// From answer to end.
    package var talk: Duration?

    package init(cause: CallEndCause, setup: Duration? = nil, talk: Duration? = nil) {
        self.cause = cause
        self.setup = setup
        self.talk = talk
    }
}
