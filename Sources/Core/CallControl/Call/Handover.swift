/// Legs that a call offers to another call, in the state they are in (see `Call+Handover.swift`).
package struct Handover: Equatable, Sendable {
    /// The call that gives the legs away.
    package let from: CallID
    /// The legs, with their numbers in that call.
    package let legs: [CallLeg]
    /// The user who has both calls, and stays in the call that gives the legs away.
    package let keeper: UserAddress

    /// Makes a handover of its parts; each parameter is the property of that name.
    package init(from: CallID, legs: [CallLeg], keeper: UserAddress) {
        self.from = from
        self.legs = legs
        self.keeper = keeper
    }

    /// Takes the legs, under these numbers.
    func taken(as legs: [HandedOverLeg], for purpose: HandoverPurpose) -> PeerCallAction {
        .takeHandover(from, legs, for: purpose)
    }

    /// Declines the legs.
    var declined: PeerCallAction { .declineHandover(from) }
}

/// A leg that has moved from one call to another.
package struct HandedOverLeg: Equatable, Sendable {
    /// Its number in the call that gave it away.
    package let before: LegID
    /// Its number in the call that took it.
    package let after: LegID
    /// Its `sessionData`, which stays the same.
    package let session: SessionID

    /// Makes a value of its parts; each parameter is the property of that name.
    package init(before: LegID, after: LegID, session: SessionID) {
        self.before = before
        self.after = after
        self.session = session
    }
}

/// What becomes of the leg that stays in the call whose other legs were taken.
package enum HandoverPurpose: String, Equatable, Sendable, Codable {
    /// The call was the consultation call of a transfer, and ends.
    case transfer
    /// The call is one of the two that became a conference; the client ends it (spidr-wire §8.7).
    case join
}
