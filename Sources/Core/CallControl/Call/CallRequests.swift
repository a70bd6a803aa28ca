package import SDP

/// A request that starts a call, after parsing (spidr-wire §6.1).
package struct CallStartRequest: Equatable, Sendable {
    /// The display name in `Name<sip:user@domain>`; `nil` if the caller gave none.
    package var callerName: String?
    /// The address to call.
    package var callee: UserAddress
    /// The caller's offer. Empty: the callee makes the offer (slow start).
    package var sdp: String
    /// `supported` contains `earlymedia`.
    package var acceptsEarlyMedia: Bool
    /// `supported` contains `replacecall`: the client takes `startCallReplace`.
    package var handlesReplacement: Bool
    /// Parameters and bodies for the callee's applications.
    package var content: CustomContent
    /// What the caller wants to receive; takes precedence over what is configured.
    package var mediaPreferences: MediaPreferences
    /// The device that asks; `nil` if it does not say so.
    package var device: SubscriptionID?
    /// The caller is an application that calls the callee on the callee's own request, and then transfers the callee to
    /// a target (click-to-call, spidr-wire §10). The call is the callee's own, so the callee cannot forward it. If the
    /// target is not reached, the call is over.
    package var isConnector = false
    /// How long each callee rings; `nil`, or longer than the gateway lets a call ring: as long as it does.
    package var ringTime: Duration?

    /// Makes a request of its parts; each parameter is the property of that name. `device` and `ringTime` are `nil`
    /// until they are set.
    package init(
        callerName: String? = nil, callee: UserAddress, sdp: String, acceptsEarlyMedia: Bool = false,
        handlesReplacement: Bool = false,
        content: CustomContent = CustomContent(), mediaPreferences: MediaPreferences = MediaPreferences()
    ) {
        self.callerName = callerName
        self.callee = callee
        self.sdp = sdp
        self.acceptsEarlyMedia = acceptsEarlyMedia
        self.handlesReplacement = handlesReplacement
        self.content = content
        self.mediaPreferences = mediaPreferences
    }
}

/// A request that answers a call, after parsing (spidr-wire §6.3, and §8.8 where the call replaces another).
package struct CallAnswerRequest: Equatable, Sendable {
    /// The answer; an offer, if the call came without one (slow start).
    package var sdp: String
    /// Parameters and bodies for the caller's applications.
    package var content: CustomContent
    /// What the callee wants to receive; takes precedence over what is configured.
    package var mediaPreferences: MediaPreferences
    /// `supported` contains `replacecall`: the client takes `startCallReplace`.
    package var handlesReplacement: Bool
    /// The request answers `startCallReplace`, not `call`.
    package var acceptsReplacement: Bool

    /// Makes a request of its parts; each parameter is the property of that name.
    package init(
        sdp: String, content: CustomContent = CustomContent(), mediaPreferences: MediaPreferences = MediaPreferences(),
        handlesReplacement: Bool = false, acceptsReplacement: Bool = false
    ) {
        self.sdp = sdp
        self.handlesReplacement = handlesReplacement
        self.acceptsReplacement = acceptsReplacement
        self.content = content
        self.mediaPreferences = mediaPreferences
    }
}

/// An offer in a call, or the answer to one, after parsing (spidr-wire §8.1).
package struct CallUpdateRequest: Equatable, Sendable {
    /// The offer or answer. An empty offer: the request asks for an offer (slow start).
    package var sdp: String
    /// Parameters and bodies for the applications of the other legs.
    package var content: CustomContent

    /// Makes a request of its parts; each parameter is the property of that name.
    package init(sdp: String, content: CustomContent = CustomContent()) {
        self.sdp = sdp
        self.content = content
    }
}

/// The target of a forward or transfer: a user who is to be rung in a call that exists.
package struct CallTarget: Equatable, Sendable {
    /// The number of the new leg, from `Call.takeLeg()`.
    package var leg: LegID
    /// The user and the devices to ring.
    package var party: CallParty
    /// The identity of its media; `nil` if media goes from peer to peer, or the leg is headless.
    package var identity: LegIdentity?
    /// The call that this one is to replace; `nil`: the target is rung.
    package var replaced: ReplacedCall?

    /// Makes a target of its parts; each parameter is the property of that name.
    package init(leg: LegID, party: CallParty, identity: LegIdentity?, replacing replaced: ReplacedCall? = nil) {
        self.leg = leg
        self.party = party
        self.identity = identity
        self.replaced = replaced
    }
}

/// The answer to the state query (spidr-wire §6.8).
package enum CallProgress: Equatable, Sendable {
    /// The call has not been answered.
    case ringing
    /// The call has been answered.
    case answered
}
