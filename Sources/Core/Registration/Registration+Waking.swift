package import CallControl
package import Primitives

/// The user's devices that are asleep: no client listens, and a push wakes them (spidr-wire §11.2).
extension Registration {
    /// Those of the user's devices that a call has to wake. A device listens already if it has a subscription for
    /// calls, recognised by its name for itself, with an open channel.
    package func asleep(among devices: [SleepingDevice]) -> [SleepingDevice] {
        guard !devices.isEmpty else { return [] }
        let listening = Set(
            subscriptions.compactMap { $0.socket != nil && $0.device != nil ? $0.clientCorrelator : nil })
        return devices.filter { device in device.clientCorrelator.map { !listening.contains($0) } ?? true }
    }

    /// Counts a call that wakes the user's devices.
    ///
    /// - Parameters:
    ///   - network: the network that a caller who is a guest comes from; `nil`: unknown, or no guest.
    ///   - application: the application that calls from the address; `nil`: none does.
    /// - Returns: the limit that forbids it; `nil`: they may be woken.
    package mutating func chargeWake(
        by caller: UserAddress, from network: SourceNetwork? = nil, of application: ApplicationName? = nil,
        at now: MonotonicTime
    ) -> WakeRefusal? {
        wakes.charge(Waker(caller, from: network, of: application), configuration.wakes, at: now)
    }

    /// Which limit would forbid a call that wakes the user's devices; `nil`: none. It is not counted.
    ///
    /// - Parameters:
    ///   - network: as above.
    ///   - application: as above.
    package func wakeRefusal(
        by caller: UserAddress, from network: SourceNetwork? = nil, of application: ApplicationName? = nil,
        at now: MonotonicTime
    ) -> WakeRefusal? {
        var wakes = wakes
        return wakes.charge(Waker(caller, from: network, of: application), configuration.wakes, at: now)
    }

    /// Tells the calls that ring that a device of the user listens from now on.
    func informListening(_ subscription: Subscription) -> [RegistrationAction] {
        guard sessions.ringingCount > 0, let device = subscription.device,
            let correlator = subscription.clientCorrelator
        else { return [] }
        return inform(.listens(device.subscription, clientCorrelator: correlator))
    }
}
