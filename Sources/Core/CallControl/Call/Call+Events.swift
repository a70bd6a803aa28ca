package import Primitives

/// Events that do not come from clients: of the media plane, of the gateway, and of timers.
extension Call {
    /// Why the call set a timer.
    package enum Timer: Hashable, Sendable {
        /// The ring time is over; or the time after which a call to an unreachable callee ends.
        case ringing
        /// A leg that talks has no secured media path yet.
        case mediaSetup
        /// An operation has taken too long, or the calls to be joined have not come together.
        case operation
        /// This leg has not answered an offer of the gateway, or an answer to an old offer need not be expected any
        /// more.
        case offer(LegID)
        /// This leg is due an offer of what it has not been told about the other leg.
        case news(LegID)
        /// The client of this leg gives no sign of life.
        case silence(LegID)
        /// This leg has handed its call over, and its client has not ended it.
        case completion(LegID)
        /// The call has lasted as long as it may.
        case duration
    }

    /// The media path of a leg has reached a step. A step that was reached before changes nothing.
    package mutating func mediaAdvanced(_ leg: LegID, to step: MediaProgress) -> [CallAction] {
        guard !isOver, let media = self[leg]?.media, media.progress < step else { return [] }
        edit(leg) { $0.media?.advance(to: step) }
        return note(leg, .mediaReached(step))
    }

    /// The media path of a leg is lost: the leg leaves the call. Before the answer this is ignored: any of the callee's
    /// devices may have checked its path early, and gone away again.
    package mutating func mediaFailed(_ leg: LegID, _ failure: MediaFailure, at now: MonotonicTime) -> [CallAction] {
        guard let answered, let stage = self[leg]?.stage, stage == .talking else { return [] }
        return leave(answered, leg, stage, .mediaFailed(failure), at: now)
    }

    /// The peer of a leg is not heard from any more, or is again. Every leg that talks is told (an addition of this
    /// gateway), and the call goes on.
    package mutating func mediaPathChanged(_ leg: LegID, isLost: Bool) -> [CallAction] {
        guard case .answered = state, let affected = self[leg], affected.isTalking, affected.isPathLost != isLost else {
            return []
        }
        edit(leg) { $0.isPathLost = isLost }
        return legs.filter(\.isTalking).flatMap { listener in
            tell(listener.id, isLost ? .pathLost(of: leg) : .pathRecovered(of: leg))
        }
    }

    /// An operator ends the call.
    ///
    /// - Parameter reasonText: the operator's words for the parties, cut to `maximumTextLength`; `nil` or empty: none.
    package mutating func endedByOperator(reasonText: String?, at now: MonotonicTime) -> [CallAction] {
        let reason = reasonText.flatMap { $0.isEmpty ? nil : String($0.prefix(configuration.maximumTextLength)) }
        return switch state {
        case .unanswered, .joining, .answered: finish(.endedByOperator(reasonText: reason), at: now)
        case .initial, .ended: []
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
        case .silence(let leg): return giveUp(leg, at: now)
        case .completion(let leg): return forget(leg)
        case .duration: return finish(.tooLong, at: now)
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
            earliest = .earlier(earliest, longestDuration.map { Deadline(answered.answeredAt + $0, .duration) })
            for leg in legs {
                earliest = .earlier(earliest, leg.exchange.deadline.map { Deadline($0, .offer(leg.id)) })
                earliest = .earlier(earliest, newsDeadline(of: leg).map { Deadline($0, .news(leg.id)) })
                if case .completed(let until) = leg.stage {
                    earliest = .earlier(earliest, Deadline(until, .completion(leg.id)))
                }
            }
            return earliest
        }
    }

    /// How long the call may last after its answer, with the legs that it has; `nil`: without limit.
    private var longestDuration: Duration? {
        let talking = legs.filter(\.isTalking)
        guard !talking.isEmpty, talking.allSatisfy(\.transport.isHeadless) else { return configuration.maximumDuration }
        return configuration.maximumDuration.map { min($0, configuration.headlessDuration) }
            ?? configuration.headlessDuration
    }

    /// The first leg that talks and has no secured media path yet.
    private var unsecuredLeg: LegID? {
        // During a handover, the call that takes the legs has a setup deadline of its own for them.
        if isHandingOver { return nil }
        return legs.first { leg in leg.isTalking && leg.media.map { $0.progress < .secured } ?? false }?.id
    }
}
