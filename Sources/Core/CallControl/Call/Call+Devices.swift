package import Primitives

/// Devices that come and go during a call.
extension Call {
    /// A device of the leg's user has come or gone, or the user's notification channels have opened or closed. Ignored
    /// for a callee that is not rung.
    package mutating func deviceChanged(_ leg: LegID, _ change: DeviceChange, at now: MonotonicTime) -> [CallAction] {
        guard self[leg]?.stage != .unreached else { return [] }
        switch change {
        case .joined(let device, let former, let correlator):
            return cameBack(leg, device.subscription, correlator) + joined(leg, device, replacing: former)
        case .listens(let device, let correlator): return cameBack(leg, device, correlator)
        case .left(let subscription, let othersRemain):
            return left(leg, subscription, othersRemain: othersRemain, at: now)
        case .notWoken(let device): return notWoken(leg, device, at: now)
        case .userRemoved: return userRemoved(leg, at: now)
        case .channelsOpen(let areOpen):
            edit(leg) { $0.liveness.channelsChanged(areOpen: areOpen, at: now) }
            return []
        case .qualityReporting(let receivers):
            edit(leg) { $0.party.qualityReceivers = receivers }
            return []
        }
    }

    /// A device has answered or started the call, and from now on is the only device of its user that is told of it. A
    /// request that names no device, or one that was not told of the call, leaves the call with all devices that were
    /// told (spidr-wire §6.6).
    mutating func keep(_ leg: LegID, at device: SubscriptionID?) {
        guard let kept = self[leg]?.party.devices.first(where: { $0.subscription == device }) else { return }
        edit(leg) { $0.keep(kept) }
    }

    /// A device hangs up, and is told nothing more. The user's other devices that know the call are told what the other
    /// leg is told.
    mutating func removeDevice(_ device: SubscriptionID?, at leg: LegID) {
        edit(leg) { $0.party.devices.removeAll { $0.subscription == device } }
    }

    /// Takes an offer from a known device. If the device does not have the call yet, the call moves to it, and is over
    /// for the devices that had it.
    ///
    /// - Throws: as `offer(by:_:at:random:)`; the call then stays with its devices.
    package mutating func offer(
        by leg: LegID, _ request: CallUpdateRequest, from device: Device, at now: MonotonicTime,
        random: inout some RandomSource
    ) throws(CallError) -> [CallAction] {
        var moved = self
        let moving = moved.move(leg, to: device)
        let actions = try moved.offer(by: leg, request, at: now, random: &random)
        self = moved
        return moving + actions
    }

    /// Moves the call to a device, and tells the others.
    private mutating func move(_ leg: LegID, to device: Device) -> [CallAction] {
        edit(leg) { $0.party.devices.removeAll { $0.subscription == device.subscription } }
        defer { edit(leg) { $0.keep(device) } }
        return tell(leg, .changedDevice(to: device.subscription))
    }

    /// Checks whether a device may answer for a leg: one that was not told of the call was told of no offer, and would
    /// answer with media of its own.
    ///
    /// - Throws: `notAllowed` if it may not.
    package func checkAnswers(for leg: LegID, from device: SubscriptionID?) throws(CallError) {
        guard let device, let member = self[leg], member.isTalking, !member.party.devices.isEmpty else { return }
        guard member.party.devices.contains(where: { $0.subscription == device }) else {
            throw CallError.notAllowed(.respond, .deviceWithoutCall(legState(leg)))
        }
    }

    /// A device has subscribed. While the leg rings, every new device rings too; a device that only renewed its
    /// subscription recognises the second `call` as a duplicate (spidr-wire §6.2). At any other time a device only
    /// takes over what its former subscription knew.
    private mutating func joined(_ id: LegID, _ device: Device, replacing former: SubscriptionID?) -> [CallAction] {
        guard let leg = self[id], !isOver else { return [] }
        let wasTold = former != nil && leg.party.devices.contains { $0.subscription == former }
        edit(id) { $0.party.devices.removeAll { $0.subscription == former || $0.subscription == device.subscription } }
        let invitation: CallEvent.Invitation? =
            switch state {
            case .unanswered(let unanswered): unanswered.invitation
            case .answered: transfer?.invitation(forDeviceThatWasTold: wasTold)
            case .initial, .joining, .ended: nil
            }
        let renewed = former.map {
            note(id, .renewedSubscription(from: $0, to: device.subscription))
        }
        if leg.stage == .ringing, let invitation {
            edit(id) { $0.party.devices.append(device) }
            return (renewed ?? [])
                + tell(id, only: [device.subscription], .invited(devices: [device], invitation: invitation))
                + assumeRinging(id, [device], with: invitation)
        }
        if wasTold { edit(id) { $0.party.devices.append(device) } }
        return renewed ?? []
    }

    /// A subscription has ended. The end of the last one ends the call (spidr-wire §3.3). An answered call continues as
    /// long as the user can still be reached. An unanswered call does not, because no device would learn of the answer,
    /// unless devices were woken that may still come.
    private mutating func left(_ id: LegID, _ subscription: SubscriptionID, othersRemain: Bool, at now: MonotonicTime)
        -> [CallAction]
    {
        edit(id) { $0.party.devices.removeAll { $0.subscription == subscription } }
        guard let leg = self[id], leg.party.devices.isEmpty, leg.waking.isEmpty else { return [] }
        switch state {
        case .unanswered: return finish(id == .caller ? .callerLeft : .subscriptionEnded(id), at: now)
        case .joining: return finish(.subscriptionEnded(id), at: now)
        case .answered(let answered):
            if leg.stage == .ringing { return transferFailed(.subscriptionEnded(id), at: now) }
            return othersRemain ? [] : leave(answered, id, leg.stage, .subscriptionEnded, at: now)
        case .initial, .ended: return []
        }
    }
}
