package import Primitives

/// Events that do not come from clients: of the media plane, of the gateway, and of timers.
extension Call {
    /// A leg's media path has come this far.
    package mutating func mediaAdvanced(_ leg: Leg, to step: MediaProgress) {
        edit(leg) { $0.media?.advance(to: step) }
    }

    /// A leg's media path is lost. Before the answer that says nothing: any of the callee's devices may have checked its
    /// path early, and gone away again.
    package mutating func mediaFailed(_ leg: Leg, _ fault: MediaFault, at now: MonotonicTime) -> [CallAction] {
        guard case .answered(let answered) = state, let stage = self[leg]?.stage, stage == .talking else { return [] }
        return leave(answered, leg, stage, .mediaFailed(fault), at: now)
    }

    /// The peer of a leg is not heard of, or is again; everybody who talks is told (an addition of ours). The call goes on.
    package mutating func mediaPathChanged(_ leg: Leg, isLost: Bool) -> [CallAction] {
        guard case .answered = state, let affected = self[leg], affected.isTalking, affected.isPathLost != isLost else {
            return []
        }
        edit(leg) { $0.isPathLost = isLost }
        return legs.filter(\.isTalking).flatMap { listener in
            var report = notification(.mediaPath, to: listener.id)
            report.mediaPath = Notification.PathReport(side: CallSide(leg, seenFrom: listener.id), isLost: isLost)
            return tell(listener.id, report)
        }
    }

    /// The gateway is stopping: the call ends.
    package mutating func drain(at now: MonotonicTime) -> [CallAction] {
        switch state {
        case .unanswered, .joining, .answered: finish(.drained, at: now)
        case .initial, .ended: []
        }
    }

    /// A timer has fired. If the time of `nextDeadline` has not come, nothing happens.
    package mutating func timeout(at now: MonotonicTime, random: inout some RandomSource) -> [CallAction] {
        guard let deadline = nextDeadline, deadline.time <= now else { return [] }
        switch deadline.reason {
        case .ringing: return finish(unreachable.map(CallEndCause.unreachable) ?? .unanswered, at: now)
        case .mediaSetup: return mediaFailed(unsecuredLeg ?? .caller, .setupTimeout, at: now)
        case .operation: return operationTimedOut(at: now, random: &random)
        case .offer(let leg): return offerLapsed(to: leg, at: now, random: &random)
        case .news: return tellNews(at: now, random: &random)
        case .silence(let leg): return givenUp(leg, at: now)
        case .completion(let leg): return forget(leg)
        }
    }

    /// The earliest time at which `timeout` has something to do, and why; `nil`: never, as things stand.
    package var nextDeadline: Deadline<Timer>? {
        switch state {
        case .initial, .ended: return nil
        case .unanswered(let unanswered): return Deadline(unanswered.deadline, .ringing)
        case .joining(let joining): return Deadline(joining.deadline, .operation)
        case .answered(let answered):
            var earliest: Deadline<Timer>? = unsecuredLeg == nil ? nil : Deadline(answered.setupDeadline, .mediaSetup)
            earliest = .earlier(earliest, answered.operation?.deadline.map { Deadline($0, .operation) })
            earliest = .earlier(earliest, silenceDeadline)
            for leg in legs {
                earliest = .earlier(earliest, leg.offered.map { Deadline($0.deadline, .offer(leg.id)) })
                earliest = .earlier(earliest, newsDeadline(of: leg).map { Deadline($0, .news(leg.id)) })
                if case .completed(let until) = leg.stage {
                    earliest = .earlier(earliest, Deadline(until, .completion(leg.id)))
                }
            }
            return earliest
        }
    }

    /// The first leg that cannot carry media yet, although it talks.
    private var unsecuredLeg: Leg? {
        // Whoever takes the ends over has a time of its own for them.
        if case .answered(let answered) = state, case .handover = answered.operation { return nil }
        return legs.first { leg in leg.isTalking && leg.media.map { $0.progress < .secured } ?? false }?.id
    }

    /// Gives up the operation in progress, or the conference that is being joined.
    private mutating func operationTimedOut(at now: MonotonicTime, random: inout some RandomSource) -> [CallAction] {
        switch state {
        case .joining: return joinFailed(at: now)
        case .answered(let answered):
            switch answered.operation {
            case .update(let update) where update.isFirst:
                return finish(.mediaFailed(update.answerer, .setupTimeout), at: now)
            case .update(let update): return answerInPlace(update, at: now, random: &random)
            case .transfer: return transferFailed(487, "No answer", farewell: .end(487, "No answer"))
            case .consultation(let consultation): return consultationFailed(consultation)
            case .handover, nil: return []
            }
        case .initial, .unanswered, .ended: return []
        }
    }
}

extension Call.Operation {
    /// When the operation is given up; `nil`: the event that ends it is certain to come.
    fileprivate var deadline: MonotonicTime? {
        switch self {
        case .update(let update): update.deadline
        case .transfer(let transfer): transfer.deadline
        case .consultation(let consultation): consultation.deadline
        case .handover: nil
        }
    }
}
