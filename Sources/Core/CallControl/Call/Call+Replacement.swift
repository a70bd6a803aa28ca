/// Call replace (spidr-wire §8.8, RFC 3891): a consultative transfer that gives the target a new call in place of the
/// one it has.
///
///     transferor          this call                     target                       the target's other call
///       │ transfer ───────────▶ │ startCallReplace ───────▶ │                                   │
///       │                       │ ◀────── acceptCallReplace │                                   │
///       │ ◀──── sessionComplete │ ────────────────────── replaced ────────────────────────────▶ │ callEnd to both
///
/// To this call it is a transfer to a target that answers without being rung. The new leg has media of its own, and
/// until the target accepts, nothing changes in either call. A consultative transfer is done this way if both parties
/// that are to talk list `replacecall`; otherwise the target's leg is handed over as it is (`Call+Handover.swift`).
///
/// A value of this type names the target's other call.
package struct ReplacedCall: Equatable, Sendable {
    /// The target's other call.
    let call: CallID
    /// The transferor's leg there.
    let keeper: Leg
    /// The target's there.
    let session: SessionID

    package init(call: CallID, keeper: Leg, session: SessionID) {
        self.call = call
        self.keeper = keeper
        self.session = session
    }
}

extension Call {
    /// Whom this end talks to, if that end's client takes another call in place of this one, and if nothing speaks against it now.
    package func replaceableParty(talkingTo leg: Leg) -> CallParty? {
        guard case .answered(let answered) = state, answered.operation == nil, !answered.isConference,
            self[leg]?.isTalking == true,
            let other = others(of: leg).first, other.handlesReplacement
        else { return nil }
        return other.party
    }
}

extension Call {
    /// Whether this end has asked for this very replacement, and it is under way.
    package func isReplacing(_ other: CallID, by leg: Leg) -> Bool {
        guard case .answered(let answered) = state, case .transfer(let transfer) = answered.operation else {
            return false
        }
        return transfer.transferor == leg && transfer.replaced?.call == other
    }
}

extension CallLeg {
    /// Records that the leg has answered.
    mutating func talk(_ request: CallAnswerRequest) {
        stage = .talking
        handlesReplacement = request.handlesReplacement || request.acceptsReplacement
    }

    /// Whether the leg was not rung, but asked to take this call in place of another.
    func isReplacing(in call: Call) -> Bool {
        guard case .answered(let answered) = call.state, case .transfer(let transfer) = answered.operation else {
            return false
        }
        return transfer.target == id && transfer.replaced != nil
    }
}

extension CallAnswerRequest {
    var operation: String { acceptsReplacement ? "acceptCallReplace" : "callAnswer" }
}
