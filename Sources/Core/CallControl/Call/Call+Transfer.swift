package import Primitives
import SDP

/// Blind transfer (spidr-wire §8.5): the target is rung, and takes the place of the transferor when it answers. Until
/// then nothing changes for the other two legs; if the target does not answer, nothing has changed.
extension Call {
    /// Throws if the leg cannot transfer now; to be called before a target is looked up.
    ///
    /// - Throws: `noSuchCall`, `notAllowed`, `pending`; `unsupported` for a conference, or if media goes from peer to
    ///   peer.
    package func checkTransfer(by leg: LegID) throws(CallError) {
        let answered = try idle(.transfer, by: leg)
        guard !answered.isConference, others(of: leg).count == 1 else {
            throw .unsupported(.transferFromConference)
        }
        guard self[leg]?.isAnchored == true else {
            throw .unsupported(.transferOfDirectMedia)
        }
    }

    /// Rings the target, which has at least one device, awake or asleep; or asks it to replace a call.
    ///
    /// - Throws: what `checkTransfer(by:)` throws, and `unsupportedDescription` if the target cannot be offered what
    ///   the transferred party wants.
    package mutating func transfer(
        by leg: LegID, to target: CallTarget, at now: MonotonicTime, random: inout some RandomSource
    ) throws(CallError) -> [CallAction] {
        try checkTransfer(by: leg)
        let finished = finishUpdate(at: now, random: &random)
        guard let transferred = others(of: leg).first, let wishes = transferred.wants?.introduced() else {
            throw refusal(of: .transfer, to: leg)
        }
        var transport = transport(for: target.party, target.identity)
        let offer = try transport.offer(mirroring: wishes, random: &random)
        add(
            CallLeg(
                id: target.leg, party: target.party, isCalled: true, stage: .ringing,
                remote: .user(transferred.party.shown),
                transport: transport, exchange: Exchange(told: MediaOutline(wishes))))
        let transfer = Transfer(
            of: transferred.id, by: leg, to: target, offering: offer, at: now, configuration: configuration)
        operate(.transfer(transfer))
        return finished + introduced(target.leg, as: .called) + note(leg, .transferStarted(party: transfer.party))
            + prepareOffered(target.leg)
            + ring(target.leg, with: transfer.invitation)
    }

    /// Tells the transferor that the target's address has no device to ring. If the transferor is a connector, the call
    /// is over.
    ///
    /// - Throws: what `checkTransfer(by:)` throws.
    package mutating func transferUnreachable(
        by leg: LegID, _ reason: CallEndCause.Unreachable, at now: MonotonicTime
    ) throws(CallError) -> [CallAction] {
        try checkTransfer(by: leg)
        if self[leg]?.isConnector == true {
            return finish(.targetNotReached(cause: .unreachable(reason), by: nil), at: now)
        }
        return tell(leg, .transferFailed(reason: .targetNotReached(cause: .unreachable(reason))))
    }

    /// The target answers: it is connected with the transferred party, and the transferor's part is complete.
    mutating func transferAnswered(
        by leg: LegID, _ request: CallAnswerRequest, from device: SubscriptionID?, at now: MonotonicTime,
        random: inout some RandomSource
    ) throws(CallError) -> [CallAction] {
        guard let transfer, transfer.awaits(leg), var transport = self[leg]?.transport else {
            throw answeredAlready(leg)
        }
        _ = try transport.receive(answer: request.sdp, wanting: request.mediaPreferences)
        edit(leg) { member in
            member.transport = transport
            member.noteAnswer(request)
        }
        operate(nil)
        var actions = prepareAnswered(leg) + connect(leg) + note(leg, .talks(device: device))
        if transfer.rings { actions += cancelAnswered(leg, by: device) }
        actions += complete(transfer.transferor, .transfer, at: now)
        actions += settleHold(of: leg)
        actions += introduce(transfer.transferred, leg, at: now)
        actions += renegotiate(transfer.transferred, at: now, random: &random)
        return actions + (transfer.replacement.map { [.peerCall($0)] } ?? [])
    }

    /// Ends a transfer whose target is not reached. The other legs stay as they are, and the transferor is told. If the
    /// transferor is a connector, the transferred party has nobody to go back to, and the call is over.
    mutating func transferFailed(_ cause: CallEndCause, at now: MonotonicTime) -> [CallAction] {
        guard let transfer else { return [] }
        operate(nil)
        let released =
            release(transfer.target, because: cause) + [.releaseLeg(transfer.target)]
            + forget(transfer.target, because: cause)
        if self[transfer.transferor]?.isConnector == true {
            let originator = cause.originator(callee: transfer.target)
            return released + finish(.targetNotReached(cause: cause, by: originator), at: now)
        }
        return released
            + tell(transfer.transferor, .transferFailed(reason: .targetNotReached(cause: cause)))
    }
}

// MARK: - Steps of both kinds of transfer and of conferences

extension Call {
    /// The leg has done its part: its media ends, and its client ends the call (spidr-wire §12.7).
    mutating func complete(_ leg: LegID, _ purpose: HandoverPurpose, at now: MonotonicTime) -> [CallAction] {
        let deadline = now + configuration.completionTime
        edit(leg) { member in
            member.move(to: .completed(until: deadline))
            member.transport = .absent
            member.playing = nil
            member.exchange.close()
        }
        return tell(leg, .completed(purpose)) + [.releaseLeg(leg)]
    }

    /// Connects two legs: each hears the other from now on, and has the other's name.
    mutating func introduce(_ one: LegID, _ other: LegID, at now: MonotonicTime) -> [CallAction] {
        guard let first = self[one], let second = self[other] else { return [] }
        edit(one) { $0.remote = .user(second.party.shown) }
        edit(other) { $0.remote = .user(first.party.shown) }
        extendSetup(at: now)
        return [.route(one, .leg(other)), .route(other, .leg(one))] + refreshMusic()
    }

    /// Offers a leg what it does not know about the leg that it talks to from now on.
    mutating func renegotiate(_ leg: LegID, at now: MonotonicTime, random: inout some RandomSource) -> [CallAction] {
        edit(leg) { $0.exchange.startAnew(at: now) }
        return tellNews(at: now, random: &random)
    }

    /// Gives a new leg the time to set up its media path.
    mutating func extendSetup(at now: MonotonicTime) {
        let deadline = now + configuration.mediaSetupTime
        answered?.setupDeadline = deadline
    }
}
