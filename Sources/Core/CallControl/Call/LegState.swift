/// The state of a call as one leg sees it.
package enum LegState: Equatable, Sendable, CaseIterable {
    /// The call has not been started.
    case initial
    /// The caller waits, and no device of the callee has rung yet.
    case dialing
    /// The caller has early media, and no device of the callee has rung yet.
    case sessionProgress
    /// The callee rings, or the caller knows that it does.
    case ringing
    /// This leg has answered with an offer that the caller has not answered yet (slow start).
    case answering
    /// The legs talk.
    case inCall
    /// This leg holds the other.
    case onHold
    /// The other leg holds this one.
    case remotelyHeld
    /// Both legs hold.
    case onDoubleHold
    /// The call is over for this leg.
    case ended

    /// Whether the user of the leg talks with others, also while the call is on hold.
    package var isEstablished: Bool {
        switch self {
        case .inCall, .onHold, .remotelyHeld, .onDoubleHold: true
        case .initial, .dialing, .sessionProgress, .ringing, .answering, .ended: false
        }
    }
}

extension Call {
    /// The state of the call as this leg sees it. A leg that has left the call, or never was part of it, sees `ended`.
    package func legState(_ id: LegID) -> LegState {
        switch state {
        case .initial: return .initial
        case .ended: return .ended
        case .unanswered(let unanswered):
            guard let leg = self[id] else { return .ended }
            if leg.stage == .unreached { return .ended }
            if leg.stage == .ringing { return .ringing }
            switch unanswered.progress {
            case .rung: return .ringing
            case .earlyMedia: return .sessionProgress
            case .silent: return .dialing
            }
        case .joining: return self[id] == nil ? .ended : .dialing
        case .answered(let answered):
            guard let leg = self[id] else { return .ended }
            switch leg.stage {
            case .ringing: return .ringing
            case .completed, .waiting, .unreached: return .ended
            case .talking: break
            }
            if let update, update.isFirst {
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

    /// The answer to the state query (spidr-wire §6.8).
    ///
    /// - Throws: `noSuchCall`.
    package func progress(for leg: LegID) throws(CallError) -> CallProgress {
        _ = try member(leg)
        return answered == nil ? .ringing : .answered
    }
}
