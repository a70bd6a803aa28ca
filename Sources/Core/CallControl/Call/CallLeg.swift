package import Primitives
package import SDP

/// One leg of a call: its party, its stage, and what was negotiated with it.
package struct CallLeg: Equatable, Sendable {
    /// How far a leg has come.
    ///
    ///     waiting ── an answer, or a conference starts ──▶ talking ── its part is done ──▶ completed
    ///     ringing ── it answers ─────────────────────────▶ talking
    ///        └────── no device can ring ──▶ unreached
    ///
    /// A leg of another call comes as one that talks.
    package enum Stage: Equatable, Sendable {
        /// The caller, before the answer.
        case waiting
        /// The devices of this leg ring, or are woken, and none has answered.
        case ringing
        /// No device can ring. The leg has no part in the call, which is about to end for that reason.
        case unreached
        /// The leg takes part in the call.
        case talking
        /// The leg has handed its call over to other legs, and its client has to end it (spidr-wire §8.5). At `until`
        /// the leg leaves the call anyway.
        case completed(until: MonotonicTime)
    }

    /// The number of the leg within its call.
    package let id: LegID
    /// The user of this leg, with the devices that have been told of the call.
    package internal(set) var party: CallParty
    /// Whether this leg was rung; otherwise it dialled. Decides which names its clients look at (spidr-wire §5.2).
    let isCalled: Bool
    /// How far the leg has come. Only `move(to:)` leads from one stage to another.
    package private(set) var stage: Stage
    /// The party that the user of this leg talks to, as it is shown.
    var remote: ShownParty
    /// What carries the media of this leg.
    var transport = LegTransport.absent
    /// This leg holds the others: it does not want to receive, and they have been told so.
    package internal(set) var holds = false
    /// This leg is an application, which is there until the other leg is connected with a target.
    var isConnector = false
    /// The client of this leg takes another call in place of one that it has (spidr-wire §8.8).
    var handlesReplacement = false
    /// What this leg hears in place of the others; `nil`: it hears them.
    var playing: Call.Playing?
    /// The DTMF digits that are being sent for this leg.
    var waitingDigits = WaitingDigits()
    /// The signs of life of its clients.
    var liveness = Liveness()
    /// Its devices that were woken, while it rings.
    package internal(set) var waking = Waking()
    /// The offers to this leg, and what it knows of the other leg.
    package internal(set) var exchange = Exchange()

    /// Whether the leg takes part in the answered call.
    var isTalking: Bool { stage == .talking }

    /// No packets have come from the peer of this leg for a while; it may come back.
    package internal(set) var isPathLost = false

    /// The earliest time to offer this leg what it does not know of the other leg; `nil`: no offer is due.
    package var newsDue: MonotonicTime? { exchange.newsDue }

    /// No offer is open, from either side. Always true where media goes from peer to peer.
    package var isStable: Bool { media?.isStable ?? true }

    /// What this leg wants; `nil` if it has described nothing yet, or media goes from peer to peer.
    package var wishes: MediaOutline? { wants.map { MediaOutline($0) } }
}

// MARK: - Stage

extension CallLeg {
    /// Moves the leg along an edge of the diagram above `Stage`.
    mutating func move(to next: Stage) {
        assert(stage.leads(to: next), "the diagram has no edge from \(stage) to \(next)")
        stage = next
    }
}

extension CallLeg.Stage {
    /// Whether the diagram above has an edge from this stage to another one.
    fileprivate func leads(to next: Self) -> Bool {
        switch (self, next) {
        case (.waiting, .talking), (.ringing, .talking): true
        case (.ringing, .unreached): true
        case (.talking, .completed): true
        case (.waiting, _), (.ringing, _), (.unreached, _), (.talking, _), (.completed, _): false
        }
    }
}
