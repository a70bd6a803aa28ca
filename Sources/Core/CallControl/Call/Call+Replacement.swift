/// Call replace (spidr-wire §8.8, RFC 3891): a consultative transfer that gives the target a new call in place of the one it has.
///
///     transferor          this call                     target                       the target's other call
///       │ transfer ───────────▶ │ startCallReplace ───────▶ │                                   │
///       │                       │ ◀────── acceptCallReplace │                                   │
///       │ ◀──── sessionComplete │ ────────────────────── replaced ────────────────────────────▶ │ callEnd to both
///
/// To this call it is a transfer to somebody who answers without being rung: the new leg has media of its own, and until the target accepts
/// nothing has changed for anybody, here or there. It is done so if both ends that are to talk list `replacecall`; else the target changes
/// calls, as it is (`Call+Handover.swift`).
package struct ReplacedCall: Equatable, Sendable {
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
    /// Has answered.
    mutating func talk(_ request: CallAnswerRequest) {
        stage = .talking
        handlesReplacement = request.handlesReplacement || request.acceptsReplacement
    }

    /// Was not rung, but asked to take this call in place of another.
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
