package import Primitives

// MARK: Requests of the clients

extension Call {
    /// A device of a leg that rings declines, for all devices of its user (spidr-wire §6.4).
    ///
    /// - Parameters:
    ///   - device: the device that declines; `nil`: unknown.
    ///   - replacement: it declines, with `rejectCallReplace`, a call that was to take the place of the one it has.
    /// - Throws: `noSuchCall`; `notAllowed` to a leg that was not rung, or if `replacement` does not fit the leg;
    ///   `alreadyAnswered` if the leg does not ring any more.
    package mutating func reject(
        by leg: LegID, from device: SubscriptionID? = nil, replacement: Bool = false, at now: MonotonicTime
    ) throws(CallError) -> [CallAction] {
        let member = try member(leg)
        guard member.isCalled, !replacement || isAskedToReplace(leg) || member.stage != .ringing else {
            throw refusal(of: replacement ? .rejectReplacement : .reject, to: leg)
        }
        guard member.stage == .ringing else { throw answeredAlready(leg) }
        declined(by: leg, from: device)
        let rejected = note(leg, .rejected(device: device))
        if case .answered = state { return rejected + transferFailed(.rejected(reasonText: nil), at: now) }
        return rejected + finish(.rejected(reasonText: nil), from: device, at: now)
    }

    /// A leg hangs up (spidr-wire §6.7). Before the answer, the caller cancels by that and the callee rejects.
    ///
    /// - Parameters:
    ///   - device: the user's device that hangs up; `nil`: unknown.
    ///   - reasonText: the user's words for the other leg, cut to `maximumTextLength`; `nil` or empty: none.
    /// - Throws: `noSuchCall`.
    package mutating func end(
        by leg: LegID, from device: SubscriptionID?, reasonText: String?, at now: MonotonicTime
    ) throws(CallError) -> [CallAction] {
        let member = try member(leg)
        let reason = reasonText.flatMap { $0.isEmpty ? nil : String($0.prefix(configuration.maximumTextLength)) }
        switch state {
        case .initial, .ended: throw .noSuchCall
        case .unanswered:
            guard member.isCalled else { return finish(.cancelled(reasonText: reason), from: device, at: now) }
            declined(by: leg, from: device)
            return note(leg, .rejected(device: device)) + finish(.rejected(reasonText: reason), from: device, at: now)
        case .joining: return finish(.cancelled(reasonText: reason), from: device, at: now)
        case .answered(let answered):
            return leave(answered, leg, member.stage, .ended(from: device, reasonText: reason), at: now)
        }
    }
}

// MARK: - Parts

/// How a call ends, for all of its legs or for some.
extension Call {
    /// Tells the caller that a device rings, once. A transferor is told nothing until the transfer is decided.
    mutating func rang() -> [CallAction] {
        guard let progress = unanswered?.progress, let rung = progress.rung else { return [] }
        unanswered?.progress = rung
        return (progress.hasEarlyMedia ? playEarly(isRinging: true) : []) + tell(.caller, .alerted)
    }

    /// Ends the call. Apart from this, a call ends only when its last leg leaves.
    ///
    /// - Parameter device: the device of the user who ends it; `nil`: unknown, or no user ended it.
    mutating func finish(_ cause: CallEndCause, from device: SubscriptionID? = nil, at now: MonotonicTime)
        -> [CallAction]
    {
        let record = record(cause, at: now)
        var actions: [CallAction] = legs.contains(where: \.isAnchored) ? [.releaseMedia] : []
        actions += release(state)
        move(to: .ended(record))
        for leg in legs {
            // A leg that was handed over has been told already.
            if case .completed = leg.stage { continue }
            actions += release(leg.id, because: cause.seen(by: leg))
        }
        return actions + note(nil, .ended(record, by: cause.originator(callee: callee), device: device))
    }

    /// Ends the call for this leg. A leg whose user is gone is not told.
    mutating func release(_ leg: LegID, because cause: CallEndCause) -> [CallAction] {
        let originator = cause.originator(callee: callee)
        let fact = CallEvent.Fact.released(cause, by: originator)
        let waking = endWaking(leg, because: .released(cause, by: originator))
        let isTold = cause.tellsEnd(to: leg, isCalled: self[leg]?.isCalled ?? false)
        return waking + (isTold ? tell(leg, fact) : note(leg, fact))
    }

    /// Tells other calls that wait for this one.
    private func release(_ state: State) -> [CallAction] {
        switch state {
        case .joining(let joining): joining.withdrawals.map { .peerCall($0) }
        case .answered(let answered): answered.operation?.withdrawal.map { [.peerCall($0)] } ?? []
        case .initial, .unanswered, .ended: []
        }
    }

    /// The record of a call that ends now; without a time, no talk time is recorded.
    func record(_ cause: CallEndCause, at now: MonotonicTime?) -> CallRecord {
        var record = CallRecord(cause: cause)
        if let answered {
            record.setup = answered.setup
            record.talk = now.map { $0 - answered.answeredAt }
        }
        return record
    }

    /// Stops the ringing of a leg's devices because one of them has answered (spidr-wire §6.6).
    ///
    /// - Parameter device: the device that answered; `nil`: unknown, so that all devices are told the same unless there
    ///   is only one.
    mutating func cancelAnswered(_ leg: LegID, by device: SubscriptionID?) -> [CallAction] {
        let waking = endWaking(leg, because: .stoppedRinging(.answeredElsewhere, device: device))
        let devices = self[leg]?.party.devices.map(\.subscription) ?? []
        guard let winner = devices.count == 1 ? devices.first : devices.first(where: { $0 == device }) else {
            return waking + tell(leg, .stoppedRinging(.answeredElsewhere, device: device))
        }
        let losers = devices.filter { $0 != winner }
        return waking
            + (losers.isEmpty ? [] : tell(leg, only: losers, .stoppedRinging(.answeredElsewhere, device: device)))
            + tell(leg, only: [winner], .stoppedRinging(.answeredHere, device: device))
    }
}

// MARK: - Leaving

extension Call {
    /// Removes a leg. The call ends with it, unless the call is a conference with enough other legs.
    mutating func leave(
        _ answered: Answered, _ leg: LegID, _ stage: CallLeg.Stage, _ event: LegEvent, at now: MonotonicTime
    ) -> [CallAction] {
        if isHandingOver {
            // The call that takes the leg has to handle the event; if no call takes it, this one does.
            handoverOffer?.postpone(event, of: leg)
            return []
        }
        switch stage {
        case .completed: return forget(leg)
        case .ringing:
            if case .ended = event { declined(by: leg, from: event.device) }
            return note(leg, .rejected(device: event.device))
                + transferFailed(.rejected(reasonText: event.reasonText), at: now)
        case .waiting, .unreached, .talking: break
        }
        removeDevice(event.device, at: leg)
        let cause = event.cause(of: leg)
        guard answered.isConference, others(of: leg).count > 1 else {
            return finish(cause, from: event.device, at: now)
        }
        return release(leg, because: cause) + [.releaseLeg(leg)] + forget(leg, because: cause)
    }

    /// Removes a leg from the call. A call without legs is over.
    ///
    /// - Parameter cause: why the leg left; `nil`: that has been told already.
    mutating func forget(_ leg: LegID, because cause: CallEndCause? = nil) -> [CallAction] {
        guard let index = legs.firstIndex(where: { $0.id == leg }) else { return [] }
        var actions: [CallAction] = [.detach(leg, legs[index].party.session)]
        if let cause { actions += note(leg, .left(cause, by: cause.originator(callee: callee))) }
        legs.remove(at: index)
        guard legs.isEmpty else { return actions }
        let record = record(.transferred(by: leg), at: nil)
        move(to: .ended(record))
        return actions + [.releaseMedia] + note(nil, .ended(record, by: leg, device: nil))
    }
}

extension CallEndCause {
    /// The cause as a leg sees it: to a leg that rings in an answered call, the end of that call is that of any call
    /// that rings.
    func seen(by leg: CallLeg) -> CallEndCause { seen(byRinging: leg.stage == .ringing) }

    /// The same for a leg of which is known only whether it rings.
    func seen(byRinging isRinging: Bool) -> CallEndCause {
        isRinging && isOfAnAnsweredCall ? .cancelled(reasonText: nil) : self
    }

    /// Whether only an answered call can end for this reason.
    private var isOfAnAnsweredCall: Bool {
        switch self {
        case .completed, .mediaFailed, .clientLost, .transferred, .targetNotReached, .tooLong: true
        case .cancelled, .rejected, .unanswered, .unreachable, .subscriptionEnded, .callerLeft, .joinFailed, .drained,
            .endedByOperator, .interrupted:
            false
        }
    }
}
