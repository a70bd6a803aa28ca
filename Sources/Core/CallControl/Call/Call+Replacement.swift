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
    /// The transferor's leg in that call.
    let keeper: LegID
    /// The target's session in that call.
    let session: SessionID

    /// Makes a value of its parts; each parameter is the property of that name.
    package init(call: CallID, keeper: LegID, session: SessionID) {
        self.call = call
        self.keeper = keeper
        self.session = session
    }
}

extension Call {
    /// The party that this leg talks to, if the client of that party can replace this call by another one, and nothing
    /// in progress prevents it now; otherwise `nil`.
    package func replaceableParty(talkingTo leg: LegID) -> CallParty? {
        guard let answered, answered.operation == nil, !answered.isConference,
            self[leg]?.isTalking == true,
            let other = others(of: leg).first, other.handlesReplacement
        else { return nil }
        return other.party
    }
}

extension Call {
    /// Whether this leg has asked for this same replacement, and it is in progress.
    func isReplacing(_ other: CallID, by leg: LegID) -> Bool {
        guard case .transfer(let transfer) = answered?.operation else {
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
        guard case .transfer(let transfer) = call.answered?.operation else {
            return false
        }
        return transfer.target == id && transfer.replaced != nil
    }
}

extension CallAnswerRequest {
    /// The operation that the request stands for.
    var operation: CallError.Operation { acceptsReplacement ? .acceptReplacement : .answer }
}
