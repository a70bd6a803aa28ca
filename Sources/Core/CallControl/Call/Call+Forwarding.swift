package import Primitives
import SDP

/// Forwarding (spidr-wire §6.4): a call that rings goes to another address; the caller's leg does not change.
extension Call {
    /// How often a call may be forwarded. Without a limit, two users who forward to each other would never end.
    private static let maximumForwards = 5

    /// Throws if the leg cannot forward now; to be called before a target is looked up.
    ///
    /// - Throws: `noSuchCall`; `alreadyAnswered` if the leg does not ring; `unsupported` if the call has been forwarded
    ///   too often, or is one that the gateway places for the user.
    package func checkForward(by leg: LegID) throws(CallError) {
        let member = try member(leg)
        guard let unanswered, member.stage == .ringing else { throw answeredAlready(leg) }
        guard unanswered.invitation.mayForward else { throw .unsupported(.forwardOfConnection) }
        guard unanswered.forwards < Self.maximumForwards else {
            throw .unsupported(.forwards(limit: Self.maximumForwards))
        }
    }

    /// Rings the target, which has at least one device, awake or asleep, in place of the leg that was rung.
    ///
    /// - Throws: as `checkForward(by:)`; or an error about the caller's description, if the target cannot be offered
    ///   it.
    package mutating func forward(
        by leg: LegID, to target: CallTarget, at now: MonotonicTime, random: inout some RandomSource
    ) throws(CallError) -> [CallAction] {
        try checkForward(by: leg)
        guard var unanswered, let caller = self[.caller] else { throw answeredAlready(leg) }
        var made = LegTransport.direct
        if caller.isAnchored {
            made = transport(for: target.party, target.identity)
            if let offer = caller.media?.described ?? caller.wants {
                unanswered.invitation.description = try made.offer(mirroring: offer, random: &random)
            }
        }
        var actions = endWaking(leg, because: .stoppedRinging(.forwarded, device: nil))
        actions += tell(leg, .stoppedRinging(.forwarded, device: nil))
        actions += note(leg, .forwarded(to: target.party.user))
        if unanswered.isHeardEarly { actions.append(.route(.caller, .silence)) }
        unanswered.isHeardEarly = false
        if caller.isAnchored { actions.append(.releaseLeg(leg)) }
        actions += forget(leg)
        add(
            CallLeg(
                id: target.leg, party: target.party, isCalled: true, stage: .ringing, remote: .user(caller.party.shown),
                transport: made))
        edit(.caller) { $0.remote = .user(target.party.shown) }
        actions += introduced(target.leg, as: .called)
        if unanswered.invitation.description != nil { actions += prepareOffered(target.leg) }
        unanswered.forwards += 1
        unanswered.deadline = now + unanswered.ringTime
        self.unanswered = unanswered
        return actions + ring(target.leg, with: unanswered.invitation)
    }
}
