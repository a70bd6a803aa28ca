package import Primitives
package import SDP

/// One leg of a call: its party, its stage, and what was negotiated with it.
package struct CallLeg: Equatable, Sendable {
    /// How far a leg has come.
    package enum Stage: Equatable, Sendable {
        /// The caller, before the answer.
        case waiting
        /// The devices of this leg ring, and none has answered.
        case ringing
        /// The leg takes part in the call.
        case talking
        /// The leg has handed its call over to other legs, and its client has to end it (spidr-wire §8.5). At `until`
        /// the leg leaves the call anyway.
        case completed(until: MonotonicTime)
    }

    /// What another end is called.
    package struct Name: Equatable, Sendable {
        package var name: String
        package var number: String
    }

    package let id: Leg
    package internal(set) var party: CallParty
    /// Whether it was rung; else it dialled. Decides which names its clients look at (spidr-wire §5.2).
    let isCalled: Bool
    package internal(set) var stage: Stage
    /// Who its user talks to.
    var remote: Name
    /// `nil` if media goes from peer to peer.
    var media: LegMedia?
    /// Keeps the others waiting, and they know it.
    package internal(set) var holds = false
    /// Its client takes another call in place of one that it has (spidr-wire §8.8).
    var handlesReplacement = false
    /// What it hears in place of the others.
    var playing: Call.Playing?
    /// Keys that are being pressed for it.
    var keys = PressedKeys()
    /// When one of its clients asked for something last.
    var lastRequest: MonotonicTime?
    /// `nil` if none of its clients has audited.
    var audits: AuditRhythm?
    /// Since when none of its clients has listened.
    var unreachableSince: MonotonicTime?
    /// What the other end wants, as this one was told it last; `nil`: it was told nothing of that end.
    package internal(set) var told: MediaOutline?
    /// An offer of the gateway that an answer may still come to.
    package internal(set) var offered: OutstandingOffer?
    /// When its end is to be told what it does not know of the other one, at the earliest.
    package internal(set) var newsDue: MonotonicTime?
    /// It was asked for an offer, and has not made it yet.
    package internal(set) var isAsked = false

    var isTalking: Bool { stage == .talking }

    /// No packets have come from the peer of this leg for a while; it may come back.
    package internal(set) var isPathLost = false

    /// How it answered the call, if it was rung.
    var answer: Utterance?
    /// How it answered an offer last.
    var response: Utterance?
    /// What it described last.
    var lastUtterance: Utterance?

    /// No offer is open, from either side. Always true where media goes from peer to peer.
    package var isStable: Bool { media?.isStable ?? true }

    /// What its peer wants; `nil` if it has said nothing yet, or media goes from peer to peer.
    package var wishes: MediaOutline? { media?.wishes.map { MediaOutline($0) } }
}

/// One end of a call: a user, the user's `sessionData`, and the devices that have been told of it.
package struct CallParty: Equatable, Sendable {
    package var user: UserAddress
    /// Shown to the other end.
    package var name: String
    /// Shared by the devices of a user (spidr-wire §6.2).
    package var session: SessionID
    /// Only subscriptions that know the session may be told anything about it (spidr-wire §6.6).
    package internal(set) var devices: [Device]

    package init(user: UserAddress, name: String, session: SessionID, devices: [Device]) {
        self.user = user
        self.name = name
        self.session = session
        self.devices = devices
    }

    var shown: CallLeg.Name { CallLeg.Name(name: name, number: user.text) }
}
