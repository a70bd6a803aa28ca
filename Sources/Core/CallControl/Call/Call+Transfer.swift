package import Primitives
import SDP

/// Blind transfer (spidr-wire §8.5): the target is rung, and takes the place of the transferor when it answers. Until
/// then nothing changes for the other two legs; if the target does not answer, nothing has changed.
extension Call {
    /// Whether an end could transfer now; to be asked before anybody is looked up.
    package func checkTransfer(by leg: Leg) throws(CallError) {
        let answered = try idle("transfer", by: leg)
        guard !answered.isConference, others(of: leg).count == 1 else {
            throw .unsupported("An end of a conference cannot be transferred.")
        }
        guard self[leg]?.media != nil else {
            throw .unsupported(
                "This gateway transfers calls whose media it terminates, and passes this one's from peer to peer.")
        }
    }

    /// Rings the target, which has at least one device; or asks it to replace a call.
    ///
    /// - Throws: what `checkTransfer(by:)` throws, and `unsupportedDescription` if the target cannot be offered what
    ///   the transferred party wants.
    package mutating func transfer(
        by leg: Leg, to target: CallTarget, at now: MonotonicTime, random: inout some RandomSource
    ) throws(CallError) -> [CallAction] {
        try checkTransfer(by: leg)
        let finished = finishUpdate(at: now, random: &random)
        guard let transferred = others(of: leg).first, let wishes = transferred.media?.wishes?.introduced(),
            let identity = target.identity
        else {
            throw refusal(of: "transfer", to: leg)
        }
        var media = LegMedia(identity: identity, policy: configuration.mediaPolicy)
        let offer: String
        do throws(SDPError) {
            offer = try media.offer(mirroring: wishes, random: &random)
        } catch {
            throw CallError(error)
        }
        add(
            CallLeg(
                id: target.leg, party: target.party, isCalled: true, stage: .ringing, remote: transferred.party.shown,
                media: media,
                told: MediaOutline(wishes)))
        var invitation = notification(target.replaced == nil ? .call : .startCallReplace, to: target.leg)
        invitation.sdp = offer
        if let replaced = target.replaced {
            invitation.replaces = replaced.session
        } else {
            invitation.actions = [.answer, .reject]
        }
        // Nobody has to pick up to have one call in place of another.
        let patience = target.replaced == nil ? configuration.ringTime : configuration.offerTime
        operate(
            .transfer(
                Transfer(
                    transferor: leg, transferred: transferred.id, target: target.leg, replaced: target.replaced,
                    invitation: invitation,
                    deadline: now + patience)))
        return finished + [.prepareMedia(target.leg, media.credentials)] + tell(target.leg, invitation)
    }

    /// There is nobody to ring at the target's address.
    package func transferUnreachable(by leg: Leg, _ reason: CallEndCause.Unreachable) throws(CallError) -> [CallAction]
    {
        try checkTransfer(by: leg)
        return sessionFailed(leg, reason.statusCode, reason.reasonText)
    }

    /// The target answers: it is connected with the transferred party, and the transferor's part is complete.
    mutating func transferAnswered(
        by leg: Leg, _ request: CallAnswerRequest, at now: MonotonicTime, random: inout some RandomSource
    ) throws(CallError) -> [CallAction] {
        guard case .answered(let answered) = state, case .transfer(let transfer) = answered.operation,
            transfer.target == leg,
            var media = self[leg]?.media
        else { throw answeredAlready(leg) }
        do throws(SDPError) {
            _ = try media.receive(answer: request.sdp, wanting: request.mediaPreferences)
        } catch {
            throw CallError(error)
        }
        edit(leg) { member in
            member.media = media
            member.talk(request)
        }
        operate(nil)
        // The devices that were asked to replace a call have it; there is no ringing to end.
        var actions = connect(leg) + (transfer.replaced == nil ? cancelAnswered(leg, by: request.device) : [])
        actions += complete(transfer.transferor, "Transfer Successful", at: now)
        settleHold(of: leg)
        actions += introduce(transfer.transferred, leg, at: now)
        actions += meet(transfer.transferred, at: now, random: &random)
        return actions + (transfer.replaced.map { [.passOn($0.call, $0.keeper, .replaced)] } ?? [])
    }

    /// The target does not come: everybody is where they were.
    mutating func transferFailed(_ statusCode: Int, _ reasonText: String, farewell: CallEndCause.Farewell)
        -> [CallAction]
    {
        guard case .answered(let answered) = state, case .transfer(let transfer) = answered.operation else { return [] }
        operate(nil)
        let cause: CallEndCause = statusCode == 603 ? .rejected(reasonText: reasonText) : .unanswered
        return say(farewell, to: transfer.target, because: cause) + [.releaseLeg(transfer.target)]
            + forget(transfer.target)
            + sessionFailed(transfer.transferor, statusCode, reasonText)
    }
}

// MARK: - Steps of both kinds of transfer and of conferences

extension Call {
    func sessionFailed(_ leg: Leg, _ statusCode: Int, _ reasonText: String) -> [CallAction] {
        var failed = notification(.sessionFail, to: leg)
        failed.statusCode = statusCode
        failed.reasonText = reasonText
        return tell(leg, failed)
    }

    /// The end has done its part: its media ends, and its client ends the call (spidr-wire §12.7).
    mutating func complete(_ leg: Leg, _ reasonText: String, at now: MonotonicTime) -> [CallAction] {
        var completed = notification(.sessionComplete, to: leg)
        completed.reasonText = reasonText
        let deadline = now + configuration.completionTime
        edit(leg) { member in
            member.stage = .completed(until: deadline)
            member.media = nil
            member.playing = nil
            (member.offered, member.newsDue, member.isAsked) = (nil, nil, false)
        }
        return tell(leg, completed) + [.releaseLeg(leg)]
    }

    /// Two ends hear each other from now on, and have each other's names.
    mutating func introduce(_ one: Leg, _ other: Leg, at now: MonotonicTime) -> [CallAction] {
        guard let first = self[one], let second = self[other] else { return [] }
        edit(one) { $0.remote = second.party.shown }
        edit(other) { $0.remote = first.party.shown }
        extendSetup(at: now)
        return [.route(one, .leg(other)), .route(other, .leg(one))] + refreshMusic()
    }

    /// An end that knows nothing of whom it talks to is offered that.
    mutating func meet(_ leg: Leg, at now: MonotonicTime, random: inout some RandomSource) -> [CallAction] {
        edit(leg) { ($0.told, $0.newsDue) = (nil, now) }
        return tellNews(at: now, random: &random)
    }

    /// Answers an offer that waits for the other leg at once, because another operation is to start.
    mutating func finishUpdate(at now: MonotonicTime, random: inout some RandomSource) -> [CallAction] {
        guard case .answered(let answered) = state, case .update(let update) = answered.operation, !update.isFirst
        else { return [] }
        return answerInPlace(update, at: now, random: &random)
    }

    /// Gives a new leg the time to set up its media path.
    mutating func extendSetup(at now: MonotonicTime) {
        guard case .answered(var answered) = state else { return }
        answered.setupDeadline = now + configuration.mediaSetupTime
        state = .answered(answered)
    }
}
