import Primitives
import SDP

extension Call {
    /// What is in progress in an answered call. While it is, requests other than to end the call are pending.
    package enum Operation: Equatable, Sendable {
        /// An offer of one leg waits for the other leg's answer (spidr-wire §8.1). Where the gateway terminates the
        /// media, it answers itself if the other leg takes too long.
        case update(Update)
        /// A new leg is rung in place of the transferor (spidr-wire §8.5).
        case transfer(Transfer)
        /// Another call was asked for its legs, which are to take the place of the transferor.
        case consultation(Consultation)
        /// The legs of this call are offered to another call.
        case handover(HandoverOffer)
    }

    /// An offer that one leg made and the other has to answer.
    package struct Update: Equatable, Sendable {
        /// The leg that offered, or asked for an offer.
        package let offerer: LegID
        /// The leg that has to answer, or to make the offer that it was asked for.
        package let answerer: LegID
        /// What the answerer owes.
        var kind = UpdateKind.answer
        /// The direction of the principal media in the offer, where media goes from peer to peer; `nil` otherwise, or
        /// if the offer cannot be read.
        var direction: MediaDirection?
        /// When the gateway answers in the answerer's place, or the offer is given up.
        let deadline: MonotonicTime
    }

    /// What the answerer of an update owes.
    package enum UpdateKind: Equatable, Sendable {
        /// The answer to an offer.
        case answer
        /// The offer that it was asked for (slow start); then it owes nothing, and the other leg the answer.
        case offer
        /// The answer to the offer with which the call was answered: its first exchange, without which there is no call
        /// (see `Call+SlowStart.swift`).
        case firstAnswer
    }

    /// A transfer whose target rings, or was asked to replace a call.
    package struct Transfer: Equatable, Sendable {
        /// The leg that asked for the transfer.
        let transferor: LegID
        /// The leg that is to be connected with the target.
        let transferred: LegID
        /// The leg of the target, which rings or was asked to replace a call.
        let target: LegID
        /// The target's call that this one is to replace; `nil`: the target is rung.
        let replaced: ReplacedCall?
        /// What every device of the target is told, including devices that subscribe later.
        let invitation: CallEvent.Invitation
        /// When the transfer fails because the target has not answered.
        let deadline: MonotonicTime
    }

    /// A consultative transfer that waits for the legs of the other call.
    package struct Consultation: Equatable, Sendable {
        /// The leg that asked for the transfer.
        let transferor: LegID
        /// The consultation call.
        let other: CallID
        /// The user whom the transferor talks to in the other call.
        let party: UserAddress
        /// When the transfer fails because the other call has not offered its leg.
        let deadline: MonotonicTime
    }

    /// An offer of this call's legs to another call.
    package struct HandoverOffer: Equatable, Sendable {
        /// The call that asked for the legs.
        package let taker: CallID
        /// The leg that asked for the handover, and stays.
        let keeper: LegID
        /// What happened to the legs meanwhile, in order; handled when the taker has decided.
        package internal(set) var deferred: [Deferred] = []
    }

    /// A conference that waits for the legs of two calls.
    package struct Joining: Equatable, Sendable {
        /// When the joiner asked for the conference.
        let startedAt: MonotonicTime
        /// The two calls that are to be joined.
        let calls: [CallID]
        /// The legs that have been offered so far, one handover for each call.
        package internal(set) var received: [Handover] = []
        /// Parameters and bodies of the joiner's request, which come back in its answer.
        let content: CustomContent
        /// When the conference fails because a call has not offered its legs.
        let deadline: MonotonicTime
    }

    /// An event that came for a leg during its handover.
    package struct Deferred: Equatable, Sendable {
        /// The leg, by its number in the call that gives it away.
        package var leg: LegID
        /// What happened to it.
        package var event: LegEvent
    }
}

/// Something that happens to one leg of a call.
package enum LegEvent: Equatable, Sendable {
    /// The leg hung up.
    ///
    /// - Parameters:
    ///   - from: the user's device that asked for it; `nil`: unknown.
    ///   - reasonText: the user's words for the other leg; `nil`: none.
    case ended(from: SubscriptionID?, reasonText: String?)
    /// The media path of the leg failed.
    case mediaFailed(MediaFault)
    /// The last subscription of the leg's user is over.
    case subscriptionEnded
    /// The client of the leg gives no sign of life.
    case clientLost
    /// The leg has transferred the party that it talks to into another call, which replaces this one.
    case replaced
}

extension LegEvent {
    /// The user's words; `nil`: none.
    var reasonText: String? {
        if case .ended(_, let reason) = self { reason } else { nil }
    }

    /// The user's device that asked for it; `nil`: unknown, or none.
    var device: SubscriptionID? {
        if case .ended(let device, _) = self { device } else { nil }
    }

    /// Why the call ends, if it ends with this event of `leg`.
    func cause(of leg: LegID) -> CallEndCause {
        switch self {
        case .ended(_, let reason): .completed(by: leg, reasonText: reason)
        case .mediaFailed(let fault): .mediaFailed(leg, fault)
        case .subscriptionEnded: .subscriptionEnded(leg)
        case .clientLost: .clientLost(leg)
        case .replaced: .transferred(by: leg)
        }
    }
}

/// Legs that a call offers to another call, in the state they are in.
package struct Handover: Equatable, Sendable {
    /// The call that gives the legs away.
    package let from: CallID
    /// The legs, with their numbers in that call.
    package let legs: [CallLeg]
    /// The user who has both calls, and stays in the call that gives the legs away.
    package let keeper: UserAddress
}

/// A leg that has moved from one call to another.
package struct HandedLeg: Equatable, Sendable {
    /// Its number in the call that gave it away.
    package let before: LegID
    /// Its number in the call that took it.
    package let after: LegID
    /// Its `sessionData`, which stays the same.
    package let session: SessionID
}

/// What becomes of the leg that stays in the call whose other legs were taken.
package enum HandoverPurpose: String, Equatable, Sendable, Codable {
    /// The call was the consultation call of a transfer, and ends.
    case transfer
    /// The call is one of the two that became a conference; the client ends it (spidr-wire §8.7).
    case join
}
