package import SDP

/// `callStart` after parsing (spidr-wire §6.1).
package struct CallStartRequest: Equatable, Sendable {
    /// The display name out of `Name<sip:user@domain>`, if the caller gave one.
    package var callerName: String?
    package var callee: UserAddress
    /// Empty: whoever answers makes the offer (slow start).
    package var sdp: String
    /// `supported` contains `earlymedia`.
    package var acceptsEarlyMedia: Bool
    /// `supported` contains `replacecall`: the client takes `startCallReplace`.
    package var handlesReplacement: Bool
    package var content: CustomContent
    /// What the caller wants to receive, over what is configured.
    package var mediaPreferences: MediaPreferences
    /// The device that asks, if it says so.
    package var device: SubscriptionID?

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

/// `callAnswer` after parsing (spidr-wire §6.3), and `acceptCallReplace`, which is an answer as well (§8.8).
package struct CallAnswerRequest: Equatable, Sendable {
    /// An answer; an offer if the call came without one.
    package var sdp: String
    package var content: CustomContent
    /// What the callee wants to receive, over what is configured.
    package var mediaPreferences: MediaPreferences
    /// `supported` contains `replacecall`: the client takes `startCallReplace`.
    package var handlesReplacement: Bool
    /// Answers `startCallReplace`, not `call`.
    package var acceptsReplacement: Bool
    /// The device that answers, if it says so.
    package var device: SubscriptionID?

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

/// `startCallUpdate` or `respondCallUpdate` after parsing (spidr-wire §8.1).
package struct CallUpdateRequest: Equatable, Sendable {
    /// Empty: an offer is asked for (slow start).
    package var sdp: String
    package var content: CustomContent
    /// The device that asks, if it says so.
    package var device: SubscriptionID?

    package init(sdp: String, content: CustomContent = CustomContent()) {
        self.sdp = sdp
        self.content = content
    }
}

/// Somebody who is to be rung in a call that is under way.
package struct CallTarget: Equatable, Sendable {
    /// Taken from `Call.takeLeg()`.
    package var leg: Leg
    package var party: CallParty
    /// Of its media; `nil` if media goes from peer to peer.
    package var identity: LegIdentity?
    /// The call that this one is to take the place of; `nil`: the target is rung.
    package var replaced: ReplacedCall?

    package init(leg: Leg, party: CallParty, identity: LegIdentity?, replacing replaced: ReplacedCall? = nil) {
        self.leg = leg
        self.party = party
        self.identity = identity
        self.replaced = replaced
    }
}

/// What the state query answers (spidr-wire §6.8).
package enum CallProgress: String, Equatable, Sendable {
    case ringing = "RINGING"
    case answered = "ANSWERED"
}
