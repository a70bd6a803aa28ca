package import Primitives

extension Call {
    /// A consultative transfer that waits for the leg of the other call (spidr-wire §8.5).
    package struct Consultation: Equatable, Sendable {
        /// The leg that asked for the transfer.
        let transferor: LegID
        /// The consultation call.
        let other: CallID
        /// The transferor's address in the consultation call; `nil`: the same as in this one.
        let keeper: UserAddress?
        /// When the transfer fails because the other call has not offered its leg.
        let deadline: MonotonicTime

        /// Makes a consultation of its parts; each parameter is the property of that name.
        package init(transferor: LegID, other: CallID, keeper: UserAddress? = nil, deadline: MonotonicTime) {
            self.transferor = transferor
            self.other = other
            self.keeper = keeper
            self.deadline = deadline
        }
    }
}

extension Call.Consultation {
    /// Whether a request of this leg to bring the other leg together with the party of that call is the one in
    /// progress.
    package func isRepeated(by leg: LegID, with call: CallID) -> Bool { leg == transferor && call == other }

    /// Whether this call was asked for its leg.
    package func asks(_ call: CallID) -> Bool { call == other }

    /// Whether what a call offers is what it was asked for: the one leg that the transferor talks to there.
    ///
    /// - Parameter transferor: the transferor's user; `nil`: the transferor has left.
    package func accepts(_ handover: Handover, keeper transferor: UserAddress?) -> Bool {
        guard let transferor else { return false }
        return asks(handover.from) && handover.keeper == (keeper ?? transferor) && handover.legs.count == 1
    }

    /// Asks the other call for its leg.
    var request: PeerCallAction { .requestHandover(other, of: transferor) }

    /// Declines what the other call has offered, or will offer.
    package var withdrawal: PeerCallAction { .declineHandover(other) }
}
