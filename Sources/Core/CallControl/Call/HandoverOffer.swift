extension Call {
    /// An offer of this call's legs to another call (see `Call+Handover.swift`). What happens to a leg until the taker
    /// has decided is put aside, since only then is it known which call has to handle it.
    package struct HandoverOffer: Equatable, Sendable {
        /// The call that asked for the legs.
        package let taker: CallID
        /// The leg that asked for the handover, and stays.
        let keeper: LegID
        /// What happened to the legs meanwhile, in order; handled when the taker has decided. At most two of each leg.
        package private(set) var deferred: [Deferred] = []

        /// Makes an offer to a call that has asked for all legs that `keeper` talks to.
        package init(to taker: CallID, keeper: LegID) {
            self.taker = taker
            self.keeper = keeper
        }
    }

    /// An event that came for a leg during its handover.
    package struct Deferred: Equatable, Sendable {
        /// The leg, by its number in the call that gives it away.
        package let leg: LegID
        /// What happened to it.
        package let event: LegEvent

        /// Makes a value of its parts; each parameter is the property of that name.
        package init(leg: LegID, event: LegEvent) {
            self.leg = leg
            self.event = event
        }
    }
}

extension Call.HandoverOffer {
    /// Whether a decision of this call is the one that is awaited.
    package func awaits(_ call: CallID) -> Bool { call == taker }

    /// Something has happened to a leg. With the first event it leaves, whichever call handles that. What happens to it
    /// afterwards is dropped. A replacement alone may concern a leg no more by then (`Call.handle(_:for:at:)`): another
    /// event after it counts.
    package mutating func postpone(_ event: LegEvent, of leg: LegID) {
        let counts = deferred.allSatisfy { $0.leg != leg || ($0.event == .replaced && event != .replaced) }
        guard counts else { return }
        deferred.append(Call.Deferred(leg: leg, event: event))
    }

    /// What the taker is told after it has taken legs: what has happened to them, under their new numbers and in order.
    package func passedOn(with handed: [HandedOverLeg]) -> [PeerCallAction] {
        deferred.compactMap { deferred in
            handed.first { $0.before == deferred.leg }.map { .passOn(taker, $0.after, deferred.event) }
        }
    }

    /// What this call handles itself after its legs were taken: what has happened to the legs that stay, in order.
    package func remaining(after handed: [HandedOverLeg]) -> [Call.Deferred] {
        deferred.filter { deferred in !handed.contains { $0.before == deferred.leg } }
    }

    /// Makes the offer.
    func offer(_ handover: Handover) -> PeerCallAction { .offerHandover(to: taker, handover) }

    /// Takes the offer back.
    package var withdrawal: PeerCallAction { .refuseHandover(to: taker) }
}
