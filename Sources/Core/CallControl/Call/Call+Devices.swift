package import Primitives

/// Devices that come and go while the call lasts.
extension Call {
    package mutating func deviceChanged(_ leg: Leg, _ change: DeviceChange, at now: MonotonicTime) -> [CallAction] {
        switch change {
        case .joined(let device, let former): joined(leg, device, replacing: former)
        case .left(let subscription, let othersRemain): left(leg, subscription, othersRemain: othersRemain, at: now)
        }
    }

    /// While the callee rings, every new device rings too; one that merely subscribed again takes the second `call` for
    /// the duplicate it is (spidr-wire §6.2). At any other time a device only takes over what its former subscription knew.
    private mutating func joined(_ leg: Leg, _ device: Device, replacing former: SubscriptionID?) -> [CallAction] {
        let wasTold = former != nil && parties[leg].devices.contains { $0.subscription == former }
        parties[leg].devices.removeAll { $0.subscription == former || $0.subscription == device.subscription }
        switch (state, leg) {
        case (.unanswered(let unanswered), .callee):
            parties.callee.devices.append(device)
            let actions: [CallAction] = [.notify(.callee, [device.subscription], unanswered.invitation)]
            return actions + (device.sendsRingingFeedback ? [] : rang())
        case (.unanswered, .caller), (.answered, _):
            if wasTold { parties[leg].devices.append(device) }
            return []
        case (.initial, _), (.ended, _):
            return []
        }
    }

    /// The end of the last device ends the call (spidr-wire §3.3). An answered one can go on without any, as long as the
    /// user can still be reached; an unanswered one cannot: nobody would learn of the answer.
    private mutating func left(_ leg: Leg, _ subscription: SubscriptionID, othersRemain: Bool, at now: MonotonicTime) -> [CallAction] {
        parties[leg].devices.removeAll { $0.subscription == subscription }
        guard parties[leg].devices.isEmpty else { return [] }
        switch state {
        case .unanswered: return finish(.subscriptionEnded(leg), at: now)
        case .answered: return othersRemain ? [] : finish(.subscriptionEnded(leg), at: now)
        case .initial, .ended: return []
        }
    }
}
