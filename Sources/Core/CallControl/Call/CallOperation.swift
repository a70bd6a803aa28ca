import Primitives
import SDP

extension Call {
    /// What goes on in an answered call; while it does, other requests are pending, except to end.
    package enum Operation: Equatable, Sendable {
        /// An offer of one end waits for the other's answer (spidr-wire §8.1); the gateway gives it where it terminates the media and the
        /// other end takes long.
        case update(Update)
        /// A new end is rung in place of the one that asked for it (spidr-wire §8.5).
        case transfer(Transfer)
        /// The ends of another call are asked for, to take the place of the one that asked for it.
        case consultation(Consultation)
        /// The ends of this call are offered to another one.
        case handover(HandoverOffer)
    }

    package struct Update: Equatable, Sendable {
        package let offerer: Leg
        package let answerer: Leg
        /// The answerer was asked for an offer, and has not made it yet (slow start).
        var awaitsOffer = false
        /// The call was answered with an offer: its first exchange, without which there is no call (see `Call+SlowStart.swift`).
        var isFirst = false
        /// Of the principal media in the offer, where media goes from peer to peer.
        var direction: MediaDirection?
        let deadline: MonotonicTime
    }

    package struct Transfer: Equatable, Sendable {
        let transferor: Leg
        let transferred: Leg
        let target: Leg
        /// The target's call that this one is to take the place of.
        let replaced: ReplacedCall?
        let invitation: Notification
        let deadline: MonotonicTime
    }

    package struct Consultation: Equatable, Sendable {
        let transferor: Leg
        let other: CallID
        /// Whom the transferor talks to there.
        let party: UserAddress
        let deadline: MonotonicTime
    }

    package struct HandoverOffer: Equatable, Sendable {
        package let taker: CallID
        /// The end that asked for it, and stays.
        let keeper: Leg
        package internal(set) var deferred: [Deferred] = []
    }

    /// Two calls that are to become this one.
    package struct Joining: Equatable, Sendable {
        let startedAt: MonotonicTime
        let calls: [CallID]
        package internal(set) var received: [Handover] = []
        let content: CustomContent
        let deadline: MonotonicTime
    }

    /// Something that happened to an end while it was changing hands.
    package struct Deferred: Equatable, Sendable {
        package var leg: Leg
        package var event: LegEvent
    }
}

/// Something that happens to one end of a call.
package enum LegEvent: Equatable, Sendable {
    /// - Parameter device: of the user, that asked for it; `nil`: it is not known which.
    case ended(from: SubscriptionID?, reasonText: String?)
    case mediaFailed(MediaFault)
    case subscriptionEnded
    /// Its client gives no sign of life.
    case clientLost
    /// It has brought whom it talks to together with others, in another call that takes this one's place.
    case replaced
}

extension LegEvent {
    var reasonText: String? {
        if case .ended(_, let reason) = self { reason } else { nil }
    }

    func cause(of leg: Leg) -> CallEndCause {
        switch self {
        case .ended(_, let reason): .completed(by: leg, reasonText: reason)
        case .mediaFailed(let fault): .mediaFailed(leg, fault)
        case .subscriptionEnded: .subscriptionEnded(leg)
        case .clientLost: .clientLost(leg)
        case .replaced: .transferred(by: leg)
        }
    }
}

/// Ends of a call that another call may take over, as they are.
package struct Handover: Equatable, Sendable {
    package let from: CallID
    package let legs: [CallLeg]
    /// The user who has both calls.
    package let keeper: UserAddress
}

/// An end that has changed hands.
package struct HandedLeg: Equatable, Sendable {
    package let before: Leg
    package let after: Leg
    package let session: SessionID
}

/// What becomes of the end whose others were taken.
package enum HandoverPurpose: Equatable, Sendable {
    /// It was the consultation call of a transfer, and ends.
    case transfer
    /// It is one of the calls of a conference; its client ends it (spidr-wire §8.7).
    case join
}
