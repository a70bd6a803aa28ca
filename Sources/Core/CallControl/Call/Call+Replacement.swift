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
extension Call {
    /// The party that this leg talks to, if the client of that party can replace this call by another one, and nothing
    /// in progress prevents it now; otherwise `nil`.
    package func replaceableParty(talkingTo leg: LegID) -> CallParty? {
        guard let answered, operation == nil, !answered.isConference, self[leg]?.isTalking == true,
            let other = others(of: leg).first, other.handlesReplacement
        else { return nil }
        return other.party
    }
}

extension Call {
    /// Whether this leg was not rung, but asked to take this call in place of another.
    func isAskedToReplace(_ leg: LegID) -> Bool { transfer?.asksToReplace(leg) ?? false }
}
