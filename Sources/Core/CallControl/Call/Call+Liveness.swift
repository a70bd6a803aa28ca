package import Primitives

/// Detects clients that are gone without notice (spidr-wire §6.9; see `Liveness`).
extension Call {
    /// A client of this leg has made a request, successful or not.
    package mutating func heard(from leg: LegID, at now: MonotonicTime) {
        edit(leg) { $0.liveness.heard(at: now) }
    }

    /// The client asks whether the call still exists, answered or not.
    ///
    /// - Throws: `noSuchCall` if it does not.
    package mutating func audit(by leg: LegID, at now: MonotonicTime) throws(CallError) {
        _ = try member(leg)
        edit(leg) { $0.liveness.audited(at: now) }
    }

    /// When the first leg that gives no sign of life is given up; `nil`: none is suspected.
    var silenceDeadline: Deadline<Timer>? {
        // During a handover, the call that takes the legs watches them.
        guard let patience = configuration.clientTimeout, answered != nil, !isHandingOver else { return nil }
        var earliest: Deadline<Timer>?
        for leg in legs where leg.isTalking {
            let deadline = leg.liveness.deadline(patience: patience)
            earliest = .earlier(earliest, deadline.map { Deadline($0, .silence(leg.id)) })
        }
        return earliest
    }

    /// Gives up a leg whose client gives no sign of life.
    mutating func giveUp(_ leg: LegID, at now: MonotonicTime) -> [CallAction] {
        edit(leg) { $0.liveness.giveUp() }
        return handle(.clientLost, for: leg, at: now)
    }
}

extension CallLeg {
    /// Leaves the call with this device only. Audits of other devices say nothing about this one.
    mutating func keep(_ device: Device) {
        if party.devices.contains(where: { $0.subscription != device.subscription }) { liveness.forgetAudits() }
        party.devices = [device]
    }
}
