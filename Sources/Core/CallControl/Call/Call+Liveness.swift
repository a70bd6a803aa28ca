package import Primitives

/// Detects clients that are gone without notice (spidr-wire §6.9; see `Liveness`).
extension Call {
    /// A client of this end has asked for something, whatever came of it.
    package mutating func heard(from leg: Leg, at now: MonotonicTime) { edit(leg) { $0.lastRequest = now } }

    /// The client asks whether the call is still there, answered or not.
    package mutating func audit(by leg: Leg, at now: MonotonicTime) throws(CallError) {
        _ = try member(leg)
        edit(leg) { $0.audits = $0.audits?.followed(at: now) ?? AuditRhythm(last: now) }
    }

    /// When the first end that gives no sign of life is given up.
    var silenceDeadline: Deadline<Timer>? {
        guard let patience = configuration.clientTimeout, case .answered(let answered) = state else { return nil }
        // While ends change hands, whoever gets them looks after them.
        if case .handover = answered.operation { return nil }
        var earliest: Deadline<Timer>?
        for leg in legs where leg.isTalking {
            if let since = leg.unreachableSince {
                let last = max(since, leg.lastRequest ?? since)
                earliest = .earlier(earliest, Deadline(last + patience, .silence(leg.id)))
            }
            // Its channel may be open all the same: a page keeps it that has lost the call.
            if let audits = leg.audits, let interval = audits.interval {
                let last = max(audits.last, leg.lastRequest ?? audits.last)
                earliest = .earlier(earliest, Deadline(last + max(patience, interval * 2), .silence(leg.id)))
            }
        }
        return earliest
    }

    mutating func givenUp(_ leg: Leg, at now: MonotonicTime) -> [CallAction] {
        edit(leg) {
            $0.unreachableSince = nil
            $0.audits = nil
        }
        return happened(.clientLost, to: leg, at: now)
    }
}

/// How often a client audits its call. It takes two audits to know: a client may ask once, and never again.
struct AuditRhythm: Equatable, Sendable {
    var last: MonotonicTime
    /// The longest time between one audit and the next.
    var interval: Duration?

    func followed(at now: MonotonicTime) -> AuditRhythm {
        AuditRhythm(last: now, interval: max(interval ?? .zero, now - last))
    }
}

extension CallLeg {
    /// Leaves the call with this device only. Audits of other devices say nothing about this one.
    mutating func keep(_ device: Device) {
        if party.devices.contains(where: { $0.subscription != device.subscription }) { audits = nil }
        party.devices = [device]
    }
}
