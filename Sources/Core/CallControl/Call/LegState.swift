/// A call as one end sees it, in the words of the clients' call states.
package enum LegState: String, Equatable, Sendable, CaseIterable {
    case initial = "INITIAL"
    /// The caller waits; no device has rung yet.
    case dialing = "DIALING"
    /// The caller has early media, and no device has rung yet.
    case sessionProgress = "SESSION_PROGRESS"
    case ringing = "RINGING"
    /// Has answered with an offer, which the caller has yet to answer.
    case answering = "ANSWERING"
    case inCall = "IN_CALL"
    /// This end keeps the other waiting.
    case onHold = "ON_HOLD"
    /// The other end keeps this one waiting.
    case remotelyHeld = "REMOTELY_HELD"
    case onDoubleHold = "ON_DOUBLE_HOLD"
    case ended = "ENDED"
}

extension Call {
    /// What the end sees; an end that is not part of the call any more sees that it has ended.
    package func legState(_ id: Leg) -> LegState {
        switch state {
        case .initial: return .initial
        case .ended: return .ended
        case .unanswered(let unanswered):
            guard let leg = self[id] else { return .ended }
            if leg.stage == .ringing { return unanswered.unreachable == nil ? .ringing : .ended }
            return unanswered.hasRung ? .ringing : unanswered.hasProgressed ? .sessionProgress : .dialing
        case .joining: return self[id] == nil ? .ended : .dialing
        case .answered(let answered):
            guard let leg = self[id] else { return .ended }
            switch leg.stage {
            case .ringing: return .ringing
            case .completed, .waiting: return .ended
            case .talking: break
            }
            if case .update(let update) = answered.operation, update.isFirst {
                return id == update.offerer ? .answering : .ringing
            }
            let isHeld = !answered.isConference && others(of: id).contains { $0.holds }
            switch (leg.holds, isHeld) {
            case (false, false): return .inCall
            case (true, false): return .onHold
            case (false, true): return .remotelyHeld
            case (true, true): return .onDoubleHold
            }
        }
    }
}
