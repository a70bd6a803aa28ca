package import Primitives
import SDP

/// Forwarding (spidr-wire §6.4): a call that rings goes to another address; the caller's leg does not change.
extension Call {
    /// How often a call may be forwarded. Without a limit, two users who forward to each other would never end.
    private static let maximumForwards = 5

    /// Whether a rung end could forward now; to be asked before anybody is looked up.
    package func checkForward(by leg: Leg) throws(CallError) {
        let member = try member(leg)
        guard case .unanswered(let unanswered) = state, member.stage == .ringing else { throw answeredAlready(leg) }
        guard unanswered.forwards < Self.maximumForwards else {
            throw .unsupported("A call can be forwarded \(Self.maximumForwards) times.")
        }
    }

    /// Rings the target, which has at least one device, in place of the leg that was rung.
    ///
    /// - Throws: as `checkForward(by:)`; or an error about the caller's description, if the target cannot be offered
    ///   it.
    package mutating func forward(
        by leg: Leg, to target: CallTarget, at now: MonotonicTime, random: inout some RandomSource
    ) throws(CallError) -> [CallAction] {
        try checkForward(by: leg)
        guard case .unanswered(var unanswered) = state, let caller = self[.caller] else { throw answeredAlready(leg) }
        var media: LegMedia?
        if caller.media != nil, let identity = target.identity {
            var made = LegMedia(identity: identity, policy: configuration.mediaPolicy)
            if let offer = caller.media?.described {
                do throws(SDPError) {
                    unanswered.invitation.sdp = try made.offer(mirroring: offer, random: &random)
                } catch {
                    throw CallError(error)
                }
            }
            media = made
        }
        var actions = cancel(leg, because: .forwarded)
        if media != nil { actions.append(.releaseLeg(leg)) }
        actions += forget(leg)
        add(
            CallLeg(
                id: target.leg, party: target.party, isCalled: true, stage: .ringing, remote: caller.party.shown,
                media: media))
        edit(.caller) { $0.remote = target.party.shown }
        if let media, unanswered.invitation.sdp != nil { actions.append(.prepareMedia(target.leg, media.credentials)) }
        let named = notification(.call, to: target.leg)
        unanswered.invitation.session = named.session
        unanswered.invitation.parties = named.parties
        unanswered.forwards += 1
        unanswered.deadline = now + configuration.ringTime
        state = .unanswered(unanswered)
        return actions + ring(target.leg, with: unanswered.invitation)
    }
}
