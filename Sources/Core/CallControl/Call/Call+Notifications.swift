import Primitives

/// What the ends are told.
extension Call {
    /// The caller hears that a device rings, once.
    mutating func rang() -> [CallAction] {
        guard case .unanswered(var unanswered) = state, !unanswered.hasRung else { return [] }
        unanswered.hasRung = true
        state = .unanswered(unanswered)
        return tell(.caller, notification(.ringing, to: .caller))
    }

    /// Ends the call and tells both ends why, as far as they are to know. The only way into `ended`.
    mutating func finish(_ cause: CallEndCause, at now: MonotonicTime) -> [CallAction] {
        var record = CallRecord(cause: cause)
        var hasMedia = false
        switch state {
        case .initial: break
        case .unanswered(let unanswered): hasMedia = unanswered.media != nil
        case .answered(let answered):
            hasMedia = answered.media != nil
            record.setup = answered.setup
            record.talk = now - answered.answeredAt
        case .ended: preconditionFailure("a call ends once")
        }
        state = .ended(record)
        var actions: [CallAction] = hasMedia ? [.releaseMedia] : []
        for leg in Leg.allCases {
            guard let farewell = cause.farewell(to: leg) else { continue }
            var last = notification(farewell.type, to: leg)
            last.statusCode = farewell.statusCode
            last.reasonText = farewell.reasonText
            actions += tell(leg, last)
        }
        return actions + [.ended(record)]
    }

    func tell(_ leg: Leg, _ notification: Notification) -> [CallAction] {
        let receivers = parties[leg].devices.map(\.subscription)
        return receivers.isEmpty ? [] : [.notify(leg, receivers, notification)]
    }

    /// All five names and numbers are in every notification: which of them a client looks at depends on the
    /// client (spidr-wire §5.2).
    func notification(_ type: Notification.EventType, to leg: Leg) -> Notification {
        let (caller, callee, remote) = (parties.caller, parties.callee, parties[leg.peer])
        return Notification(
            type, session: parties[leg].session,
            parties: Notification.Parties(
                callerName: caller.name, callerDisplayNumber: caller.user.text, calleeDisplayNumber: callee.user.text,
                remoteName: remote.name, remoteDisplayNumber: remote.user.text))
    }
}
