import CallControl
import Primitives

/// What the apps of devices that are asleep are told by silent pushes (spidr-wire §11.2).
extension Registration {
    /// Ends a subscription whose client has not asked for that. The client is told that it is gone: over its channel,
    /// or by push if the channel is closed.
    mutating func revoke(_ id: SubscriptionID, at now: Moment) -> [RegistrationAction] {
        guard let index = activeIndex(of: id) else { return [] }
        let push = push(.gone(id, subscriptions[index].channel), about: index)
        let othersRemain = active.contains { $0.id != id && $0.device != nil }
        return end(id, saying: .gone, informing: true, othersRemain: othersRemain, at: now) + push
    }

    /// Reminds the client of a subscription once that it should extend: over its channel, and by push if the channel is
    /// closed. The push is of use as long as the subscription can be extended.
    mutating func remind(at index: Int, at now: Moment) -> [RegistrationAction] {
        subscriptions[index].reminder = nil
        // The next process does not remind the client again.
        var actions: [RegistrationAction] = [
            .store(.subscribed(subscriptions[index].stored(of: user, account, at: now)))
        ]
        let left = subscriptions[index].end(after: configuration.grace) - now.monotonic
        append(.ping, to: index, at: now, &actions)
        return actions + push(.refresh(subscriptions[index].id), about: index, useTime: left)
    }

    /// Tells the devices without an open channel how many voice messages there are.
    func pushVoicemail(_ count: VoicemailCount) -> [RegistrationAction] {
        guard user.guest == nil else { return [] }
        let listening = active.compactMap { $0.socket == nil ? nil : $0.clientCorrelator }
        return [.push(SilentPush(.messageWaiting(count), to: .allBut(Set(listening))))]
    }

    /// A push to the device of a subscription, if that has a name for itself and no channel of it is open.
    private func push(
        _ occasion: SilentPush.Occasion, about index: Int, useTime: Duration = SilentPush.longestUse
    ) -> [RegistrationAction] {
        guard let correlator = subscriptions[index].clientCorrelator,
            !active.contains(where: { $0.socket != nil && $0.clientCorrelator == correlator })
        else { return [] }
        return [.push(SilentPush(occasion, to: .device(clientCorrelator: correlator), useTime: useTime))]
    }
}
