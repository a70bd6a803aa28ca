package import Primitives
import SDP

extension Call {
    /// An offer that one leg made and the other has to answer.
    package struct Update: Equatable, Sendable {
        /// The leg that offered, or asked for an offer.
        package let offerer: LegID
        /// The leg that has to answer, or to make the offer that it was asked for.
        package let answerer: LegID
        /// What the answerer has to send.
        var kind = UpdateKind.answer
        /// The direction of the principal media in the offer, which is asked for where media goes from peer to peer;
        /// `nil`: none is known.
        var direction: MediaDirection?
        /// When the gateway answers in the answerer's place, or the offer is given up.
        package let deadline: MonotonicTime
    }

    /// What the answerer of an update has to send.
    package enum UpdateKind: Equatable, Sendable {
        /// The answer to an offer.
        case answer
        /// The offer that it was asked for (slow start). The answer is then the turn of the leg that asked.
        case offer
        /// The answer to the offer with which the call was answered: its first exchange, without which there is no call
        /// (see `Call+SlowStart.swift`).
        case firstAnswer
    }
}

extension Call.Update {
    /// Whether this is the first exchange of the call.
    var isFirst: Bool { kind == .firstAnswer }

    /// Whether the answerer has to send an answer, not an offer.
    var awaitsAnswer: Bool { kind != .offer }
}
