package import SDP

/// An action that a call asks its owner to carry out.
package enum CallAction: Equatable, Sendable {
    /// A fact: for the devices of the leg, for the history of the call, and for metrics.
    case event(CallEvent)
    /// The leg is not part of the call any more, and its session names no leg.
    case detach(LegID, SessionID)

    // MARK: Media

    /// Accept the connectivity checks of this leg's peer from now on (RFC 8445 §7.3). What was connected before is
    /// forgotten.
    case prepareMedia(LegID, ICECredentials)
    /// Make the media of a headless leg. The legs that hear it hear this source.
    case prepareHeadless(LegID, HeadlessSource)
    /// Connect the media: both descriptions of the leg are known.
    case connectMedia(LegID, NegotiatedLeg)
    /// Set what the leg hears and sees while nothing is played to it.
    case route(LegID, MediaRoute)
    /// Play this to the leg. `number` comes back when the playback has ended; 0 for early media.
    case play(Playback, number: UInt32, to: LegID)
    /// Stop what plays, so that the leg hears its route again.
    case stopPlaying(to: LegID)
    /// Send DTMF digits, which the leg hears.
    case sendDigits(DigitSequence, to: LegID)
    /// Do this with the audio that others hear of a headless leg.
    case say(LegID, Speech)
    /// Release the media of this leg; that of the others goes on.
    case releaseLeg(LegID)
    /// Release the media of all legs.
    case releaseMedia

    /// Tell another call.
    case peerCall(PeerCallAction)
}

/// What a call asks its owner to tell another call (see `Call+Handover.swift`).
package enum PeerCallAction: Equatable, Sendable {
    /// Ask another call for the legs that talk, there, to the user of `leg`.
    case requestHandover(CallID, of: LegID)
    /// Offer legs of this call to the call that asked for them.
    case offerHandover(to: CallID, Handover)
    /// Refuse a request for legs.
    case refuseHandover(to: CallID)
    /// Take over the legs that were offered, under these numbers.
    case takeHandover(CallID, [HandedOverLeg], for: HandoverPurpose)
    /// Decline the legs that another call has offered, or will offer.
    case declineHandover(CallID)
    /// Pass on an event that came for a leg during its handover.
    case passOn(CallID, LegID, LegEvent)
}

/// The source of what a leg hears and sees.
package enum MediaRoute: Equatable, Sendable {
    /// Neither audio nor video.
    case silence
    /// One other leg.
    case leg(LegID)
    /// The mix of all other legs.
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
