package import SDP

/// An action that a call asks its owner to carry out.
package enum CallAction: Equatable, Sendable {
    /// For these subscriptions of the leg's user.
    case notify(Leg, [SubscriptionID], Notification)
    /// For those subscriptions of the leg's user that were granted `quality`.
    case notifyQuality(Leg, Notification)
    /// The end is no part of the call any more, and its session is nobody's.
    case detach(Leg, SessionID)

    // MARK: Media

    /// Connectivity checks of this leg's peer are welcome from now on (RFC 8445 §7.3); what was connected before is forgotten.
    case prepareMedia(Leg, ICECredentials)
    /// Both descriptions of the leg are known.
    case connectMedia(Leg, NegotiatedLeg)
    /// What the leg hears and sees when nothing is played to it.
    case route(Leg, MediaRoute)
    /// The leg hears this instead; `number` comes back when it has ended.
    case play(Playback, number: UInt32, to: Leg)
    case stopPlaying(to: Leg)
    case sendDigits(DigitSequence, to: Leg)
    /// The leg's media ends, the others' goes on.
    case releaseLeg(Leg)
    case releaseMedia

    // MARK: Other calls

    /// Ask another call for the ends that talk to `leg` there.
    case requestHandover(CallID, of: Leg)
    case offerHandover(to: CallID, Handover)
    case refuseHandover(to: CallID)
    /// Take over the ends that were offered, under these names.
    case takeHandover(CallID, [HandedLeg], for: HandoverPurpose)
    case declineHandover(CallID)
    /// Something that happened to a leg while it changed hands.
    case passOn(CallID, Leg, LegEvent)

    // MARK: For the books

    case answered(setup: Duration)
    /// The last action of every call.
    case ended(CallRecord)
}

/// Where what a leg hears and sees comes from.
package enum MediaRoute: Equatable, Sendable {
    /// Neither audio nor video.
    case silence
    case leg(Leg)
    /// Everybody else.
    case mix
}

/// The end of a call: why it ended, and how long it took.
package struct CallRecord: Equatable, Sendable {
    /// Why the call ended.
    package var cause: CallEndCause
    /// The time from start to answer; `nil` if the call was not answered.
    package var setup: Duration?
    /// The time from answer to end; `nil` if the call was not answered, or its last leg left after a handover.
    package var talk: Duration?

    /// Makes a record of its parts; each parameter is the property of that name.
    package init(cause: CallEndCause, setup: Duration? = nil, talk: Duration? = nil) {
        self.cause = cause
        self.setup = setup
        self.talk = talk
    }
}
