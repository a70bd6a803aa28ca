package import Primitives

/// Clients that are gone without a word (spidr-wire §6.9): nobody listens for them, and nothing is heard of them, not even an audit.
extension Call {
    /// A client of this end has asked for something, whatever came of it.
    package mutating func heard(from leg: Leg, at now: MonotonicTime) { edit(leg) { $0.lastRequest = now } }

    /// When the first end that gives no sign of life is given up.
    var silenceDeadline: Deadline<Timer>? {
        guard let patience = configuration.clientTimeout, case .answered(let answered) = state else { return nil }
        // While ends change hands, whoever gets them looks after them.
        if case .handover = answered.operation { return nil }
        var earliest: Deadline<Timer>?
        for leg in legs where leg.isTalking {
            guard let since = leg.unreachableSince else { continue }
            earliest = .earlier(earliest, Deadline(max(since, leg.lastRequest ?? since) + patience, .silence(leg.id)))
        }
        return earliest
    }

    mutating func givenUp(_ leg: Leg, at now: MonotonicTime) -> [CallAction] {
        edit(leg) { $0.unreachableSince = nil }
        return happened(.clientLost, to: leg, at: now)
    }
}
