import Primitives

/// What the ends are told.
extension Call {
    /// The caller hears that a device rings, once. Whoever transfers hears nothing until it is decided.
    mutating func rang() -> [CallAction] {
        guard case .unanswered(var unanswered) = state, !unanswered.hasRung else { return [] }
        unanswered.hasRung = true
        state = .unanswered(unanswered)
        return (unanswered.hasProgressed ? playEarly(isRinging: true) : [])
            + tell(.caller, notification(.ringing, to: .caller))
    }

    /// Ends the call and tells everybody why, as far as they are to know. The only way into `ended` but for the last end's leaving.
    mutating func finish(_ cause: CallEndCause, at now: MonotonicTime) -> [CallAction] {
        let record = record(cause, at: now)
        var actions: [CallAction] = legs.contains { $0.media != nil } ? [.releaseMedia] : []
        actions += release(state)
        state = .ended(record)
        for leg in legs {
            guard let farewell = farewell(cause, to: leg) else { continue }
            actions += say(farewell, to: leg.id, because: cause.seen(by: leg))
        }
        return actions + [.ended(record)]
    }

    /// What other calls that are waiting for this one have to know.
    private func release(_ state: State) -> [CallAction] {
        switch state {
        // Those that have not answered yet as well: what they offer later would find nobody.
        case .joining(let joining): return joining.calls.map { .declineHandover($0) }
        case .answered(let answered):
            switch answered.operation {
            case .consultation(let consultation): return [.declineHandover(consultation.other)]
            case .handover(let handover): return [.refuseHandover(to: handover.taker)]
            case .update, .transfer, nil: return []
            }
        case .initial, .unanswered, .ended: return []
        }
    }

    private func farewell(_ cause: CallEndCause, to leg: CallLeg) -> CallEndCause.Farewell? {
        switch leg.stage {
        // Has its word already.
        case .completed: nil
        // Of an answered call: somebody to whom it was to be transferred.
        case .ringing where cause.isOfAnAnsweredCall: cause.seen(by: leg).farewell(to: leg.id, isCalled: true)
        case .waiting, .ringing, .talking: cause.farewell(to: leg.id, isCalled: leg.isCalled)
        }
    }

    func record(_ cause: CallEndCause, at now: MonotonicTime?) -> CallRecord {
        var record = CallRecord(cause: cause)
        if case .answered(let answered) = state {
            record.setup = answered.setup
            record.talk = now.map { $0 - answered.answeredAt }
        }
        return record
    }

    func say(_ farewell: CallEndCause.Farewell, to leg: Leg, because cause: CallEndCause? = nil) -> [CallAction] {
        var last = notification(farewell.type, to: leg)
        last.statusCode = farewell.statusCode
        last.reasonText = farewell.reasonText
        if let cause {
            last.cause = cause.word
            last.endedBy = CallSide(cause.originator(callee: callee), seenFrom: leg)
        }
        return tell(leg, last)
    }

    /// Devices of an end stop ringing, although the call goes on.
    func cancel(_ leg: Leg, because cause: CallEnding.PartialCause) -> [CallAction] {
        tell(leg, cancellation(leg, because: cause))
    }

    private func cancellation(_ leg: Leg, because cause: CallEnding.PartialCause) -> Notification {
        var cancelled = notification(.callCancel, to: leg)
        cancelled.cause = cause.rawValue
        cancelled.endedBy = .own
        return cancelled
    }

    /// Devices of an end stop ringing because one of them has answered, which is told so (spidr-wire §6.6).
    ///
    /// - Parameter device: that one; `nil`: it did not say which it is, so that all are told the same unless there is only one.
    func cancelAnswered(_ leg: Leg, by device: SubscriptionID?) -> [CallAction] {
        let devices = self[leg]?.party.devices.map(\.subscription) ?? []
        guard let winner = devices.count == 1 ? devices.first : devices.first(where: { $0 == device }) else {
            return cancel(leg, because: .answeredElsewhere)
        }
        let others = devices.filter { $0 != winner }
        return (others.isEmpty ? [] : [.notify(leg, others, cancellation(leg, because: .answeredElsewhere))])
            + [.notify(leg, [winner], cancellation(leg, because: .answeredHere))]
    }

    func tell(_ leg: Leg, _ notification: Notification) -> [CallAction] {
        let receivers = self[leg]?.party.devices.map(\.subscription) ?? []
        return receivers.isEmpty ? [] : [.notify(leg, receivers, notification)]
    }

    /// Clients know a conference by its address in the caller's place, whoever called (spidr-wire §8.7).
    private var isConference: Bool {
        switch state {
        case .joining: true
        case .answered(let answered): answered.isConference
        case .initial, .unanswered, .ended: false
        }
    }

    /// All five names and numbers are in every notification: which of them a client looks at depends on the
    /// client (spidr-wire §5.2).
    func notification(_ type: Notification.EventType, to id: Leg) -> Notification {
        guard let leg = self[id] else { preconditionFailure("only ends of the call are told anything") }
        let (own, remote) = (leg.party.shown, leg.remote)
        let (caller, callee) = leg.isCalled || isConference ? (remote, own) : (own, remote)
        return Notification(
            type, session: leg.party.session,
            parties: Notification.Parties(
                callerName: caller.name, callerDisplayNumber: caller.number, calleeDisplayNumber: callee.number,
                remoteName: remote.name,
                remoteDisplayNumber: remote.number))
    }
}

extension CallEndCause {
    /// For somebody who was to join an answered call, its end is that of any call that rings.
    func seen(by leg: CallLeg) -> CallEndCause {
        leg.stage == .ringing && isOfAnAnsweredCall ? .cancelled(reasonText: nil) : self
    }

    fileprivate var isOfAnAnsweredCall: Bool {
        switch self {
        case .completed, .mediaFailed, .clientLost, .transferred: true
        case .cancelled, .rejected, .unanswered, .unreachable, .subscriptionEnded, .callerLeft, .joinFailed, .drained:
            false
        }
    }
}
