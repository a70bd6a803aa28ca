import Primitives

/// Devices that are asleep: the call wakes them by push, and rings until they are back (spidr-wire §11.2).
extension Call {
    /// When the caller learns that the callee rings.
    package enum WakingProgress: String, Equatable, Sendable, CaseIterable {
        /// As soon as devices are woken.
        case atOnce = "at-once"
        /// Once a device rings.
        case whenAwake = "when-awake"
    }

    /// Wakes the devices of a leg that are asleep.
    mutating func wake(_ leg: LegID, with invitation: CallEvent.Invitation) -> [CallAction] {
        guard let asleep = self[leg]?.party.sleeping, !asleep.isEmpty else { return [] }
        edit(leg) { member in
            member.party.sleeping = []
            member.waking.wake(asleep, with: invitation)
        }
        return tell(leg, only: [], .waking(devices: asleep.map(\.id), invitation: invitation))
            + (configuration.wakingProgress == .atOnce ? rang() : [])
    }

    /// A device that may have been woken is back.
    ///
    /// - Parameters:
    ///   - device: its subscription.
    ///   - clientCorrelator: its name for itself; `nil`: it has none.
    mutating func cameBack(_ leg: LegID, _ device: SubscriptionID, _ clientCorrelator: String?) -> [CallAction] {
        guard self[leg]?.stage == .ringing else { return [] }
        let back = edit(leg) { $0.waking.cameBack(clientCorrelator) } ?? []
        return back.flatMap { note(leg, .awoke(device: $0, as: device)) }
    }

    /// The push that was to wake a device has failed. Where nobody else can ring, the callee is as unreachable as one
    /// without devices. The call ends as early as such a call does, and no earlier.
    mutating func notWoken(_ leg: LegID, _ device: PushDeviceID, at now: MonotonicTime) -> [CallAction] {
        guard self[leg]?.stage == .ringing, edit(leg, { $0.waking.failed(device) }) == true else { return [] }
        let noted = note(leg, .notWoken(device: device))
        guard let member = self[leg], member.waking.isEmpty, member.party.devices.isEmpty else { return noted }
        if var unanswered {
            edit(leg) { $0.move(to: .unreached) }
            unanswered.unreachable = .notRegistered
            unanswered.deadline = max(now, unanswered.startedAt + configuration.unreachableTime)
            self.unanswered = unanswered
            return noted
        }
        return noted + transferFailed(.unreachable(.notRegistered), at: now)
    }

    /// The account of a leg's user does not exist any more: no device that was woken comes back.
    mutating func userRemoved(_ leg: LegID, at now: MonotonicTime) -> [CallAction] {
        guard let member = self[leg], member.stage == .ringing, !member.waking.isEmpty else { return [] }
        return unanswered == nil
            ? transferFailed(.subscriptionEnded(leg), at: now) : finish(.subscriptionEnded(leg), at: now)
    }

    /// A device that the request does not name declines for its user. It may be one that was woken, if no other device
    /// of the user has the call.
    mutating func declined(by leg: LegID, from device: SubscriptionID?) {
        guard device == nil, self[leg]?.party.devices.isEmpty == true else { return }
        edit(leg) { $0.waking.declined() }
    }

    /// The leg rings no more: devices that were woken, and are not back, are told so by push.
    mutating func endWaking(_ leg: LegID, because end: CallEvent.WakingEnd) -> [CallAction] {
        guard let hasVideo = self[leg]?.waking.hasVideo, let missing = edit(leg, { $0.waking.finish() }),
            !missing.isEmpty
        else { return [] }
        return tell(leg, only: [], .wakingOver(devices: missing, end: end, hasVideo: hasVideo))
    }
}
