package import Primitives

/// Devices that come and go during a call.
extension Call {
    package mutating func deviceChanged(_ leg: Leg, _ change: DeviceChange, at now: MonotonicTime) -> [CallAction] {
        // Whoever is not rung has no part in the call.
        guard leg == .caller || unreachable == nil else { return [] }
        switch change {
        case .joined(let device, let former): return joined(leg, device, replacing: former)
        case .left(let subscription, let othersRemain):
            return left(leg, subscription, othersRemain: othersRemain, at: now)
        case .channelsOpen(let areOpen):
            edit(leg) { $0.unreachableSince = areOpen ? nil : now }
            return []
        }
    }

    /// A device says that it has the call, and from now on is the only one of its user that is told anything. One that does not say so,
    /// or was never told of the call, leaves it at all who were (spidr-wire §6.6).
    mutating func keep(_ leg: Leg, at device: SubscriptionID?) {
        guard let kept = self[leg]?.party.devices.first(where: { $0.subscription == device }) else { return }
        edit(leg) { $0.keep(kept) }
    }

    /// A device hangs up. It knows that, and is told nothing any more; the user's others that know the call are told as the other end is.
    mutating func takeLeave(of device: SubscriptionID?, at leg: Leg) {
        edit(leg) { $0.party.devices.removeAll { $0.subscription == device } }
    }

    /// Takes an offer from a known device. If the device does not have the call yet, the call moves to it, and is over
    /// for the devices that had it.
    ///
    /// - Throws: as `offer(by:_:at:random:)`; the call then stays with its devices.
    package mutating func offer(
        by leg: Leg, _ request: CallUpdateRequest, from device: Device, at now: MonotonicTime,
        random: inout some RandomSource
    ) throws(CallError) -> [CallAction] {
        var moved = self
        let farewell = moved.move(leg, to: device)
        let actions = try moved.offer(by: leg, request, at: now, random: &random)
        self = moved
        return farewell + actions
    }

    private mutating func move(_ leg: Leg, to device: Device) -> [CallAction] {
        edit(leg) { $0.party.devices.removeAll { $0.subscription == device.subscription } }
        var last = notification(.callEnd, to: leg)
        last.reasonText = "Continued on another device"
        last.cause = CallEnding.PartialCause.continuedElsewhere.rawValue
        last.endedBy = .own
        defer { edit(leg) { $0.keep(device) } }
        return tell(leg, last)
    }

    /// Whether a device may answer for an end: one that was not told of the call was told of no offer, and would answer with media of its own.
    package func checkAnswers(for leg: Leg, from device: SubscriptionID?) throws(CallError) {
        guard let device, let member = self[leg], member.isTalking, !member.party.devices.isEmpty else { return }
        guard member.party.devices.contains(where: { $0.subscription == device }) else {
            throw refusal(of: "respondCallUpdate by a device without the call", to: leg)
        }
    }

    /// While the callee rings, every new device rings too; one that merely subscribed again takes the second `call` for
    /// the duplicate it is (spidr-wire §6.2). At any other time a device only takes over what its former subscription knew.
    private mutating func joined(_ id: Leg, _ device: Device, replacing former: SubscriptionID?) -> [CallAction] {
        guard let leg = self[id] else { return [] }
        let wasTold = former != nil && leg.party.devices.contains { $0.subscription == former }
        edit(id) { $0.party.devices.removeAll { $0.subscription == former || $0.subscription == device.subscription } }
        let invitation: Notification? =
            switch state {
            case .unanswered(let unanswered): unanswered.invitation
            case .answered(let answered): answered.operation?.invitation
            case .initial, .joining, .ended: nil
            }
        // Only devices that have the call can have another one in its place.
        if leg.stage == .ringing, let invitation, invitation.type == .call || wasTold {
            edit(id) { $0.party.devices.append(device) }
            return [.notify(id, [device.subscription], invitation)] + (device.sendsRingingFeedback ? [] : rang())
        }
        if wasTold { edit(id) { $0.party.devices.append(device) } }
        return []
    }

    /// The end of the last device ends the call (spidr-wire §3.3). An answered one can go on without any, as long as the
    /// user can still be reached; an unanswered one cannot: nobody would learn of the answer.
    private mutating func left(_ id: Leg, _ subscription: SubscriptionID, othersRemain: Bool, at now: MonotonicTime)
        -> [CallAction]
    {
        edit(id) { $0.party.devices.removeAll { $0.subscription == subscription } }
        guard let leg = self[id], leg.party.devices.isEmpty else { return [] }
        switch state {
        case .unanswered: return finish(id == .caller ? .callerLeft : .subscriptionEnded(id), at: now)
        case .joining: return finish(.subscriptionEnded(id), at: now)
        case .answered(let answered):
            if leg.stage == .ringing { return transferFailed(480, "Not registered", farewell: .cancel) }
            return othersRemain ? [] : leave(answered, id, leg.stage, .subscriptionEnded, at: now)
        case .initial, .ended: return []
        }
    }
}

extension Call.Operation {
    fileprivate var invitation: Notification? {
        if case .transfer(let transfer) = self { transfer.invitation } else { nil }
    }
}
