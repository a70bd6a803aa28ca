package import CallControl
import Primitives

/// What outlasts a process, and what does not outlast the account.
extension Registration {
    /// Takes over a subscription from a process that has ended. Its life time has gone on meanwhile, by the wall clock.
    /// If that was put back, the subscription lives no longer than one that is granted now. A guest gets the time for
    /// the first call anew.
    package mutating func restore(_ restored: RestoredSubscription, at now: Moment) -> [RegistrationAction] {
        let stored = restored.subscription
        func time(_ epochMilliseconds: Int64) -> MonotonicTime {
            now.monotonic + .milliseconds(epochMilliseconds - now.epochMilliseconds)
        }
        var subscription = Subscription(
            id: stored.id, channel: stored.channel, clientCorrelator: stored.clientCorrelator,
            sendsRingingFeedback: stored.sendsRingingFeedback, deviceService: configuration.deviceService,
            services: stored.services, expiry: min(time(stored.expiry), now.monotonic + configuration.maximumExpires),
            reminder: stored.reminder.map(time),
            callDeadline: configuration.firstCallTime.map { now.monotonic + $0 },
            queue: NotificationQueue(restoring: restored, configuration: configuration.queue, at: now))
        subscription.lost = restored.lost
        subscriptions.append(subscription)
        account = stored.account ?? account
        // A call may not have learnt yet that the device has another subscription.
        if let replaced = stored.replaced { successors[replaced] = stored.id }
        return [.subscriptionsChanged(by: 1)]
    }

    /// The subscription of the device of this name; `nil`: there is none.
    package func subscription(correlator: String) -> SubscriptionID? {
        active.first { $0.clientCorrelator == correlator }?.id
    }

    /// A request of an account has been accepted. Everything of an account that had the address before ends.
    ///
    /// - Parameter account: the account; `nil`: unknown, which ends nothing.
    package mutating func belongs(to account: AccountIdentity?, at now: Moment) -> [RegistrationAction] {
        guard let account, account != self.account else { return [] }
        defer { self.account = account }
        return self.account == nil ? [] : dismiss(at: now)
    }

    /// The account does not exist any more: its subscriptions end, which ends its legs. What comes afterwards is of the
    /// next account of the address.
    package mutating func dismiss(at now: Moment) -> [RegistrationAction] {
        account = nil
        let ended = active.map(\.id).flatMap { end($0, saying: .gone, informing: true, at: now) }
        // Devices that are asleep have no subscription whose end a call could learn of.
        let removed = sessions.ringingCount > 0 ? inform(.userRemoved) : []
        return ended + removed + noteAbsence() + forgetServices(at: now) + pump(at: now.monotonic)
    }
}
