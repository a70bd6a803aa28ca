package import CallControl
import Primitives

/// What outlasts a process, and what does not outlast the account.
extension Registration {
    /// Takes over a subscription from a process that has ended. Its life time has gone on meanwhile. A guest gets the
    /// time for the first call anew.
    package mutating func restore(_ restored: RestoredSubscription, at now: Moment) -> [RegistrationAction] {
        let stored = restored.subscription
        func time(_ epochMilliseconds: Int64) -> MonotonicTime {
            now.monotonic + .milliseconds(epochMilliseconds - now.epochMilliseconds)
        }
        var subscription = Subscription(
            id: stored.id, channel: stored.channel, clientCorrelator: stored.clientCorrelator,
            sendsRingingFeedback: stored.sendsRingingFeedback, deviceService: configuration.deviceService,
            services: stored.services, expiry: time(stored.expiry), reminder: stored.reminder.map(time),
            callDeadline: configuration.firstCallTime.map { now.monotonic + $0 },
            queue: NotificationQueue(restoring: restored, configuration: configuration.queue, at: now))
        subscription.lost = restored.lost
        subscriptions.append(subscription)
        // A call may not have learnt yet that the device has another subscription.
        if let replaced = stored.replaced { successors[replaced] = stored.id }
        return [.subscriptionsChanged(by: 1)]
    }

    /// The subscription of the device of this name; `nil`: there is none.
    package func subscription(correlator: String) -> SubscriptionID? {
        active.first { $0.clientCorrelator == correlator }?.id
    }

    /// The account does not exist any more: its subscriptions end, which ends its legs.
    package mutating func dismiss(at now: Moment) -> [RegistrationAction] {
        let ended = active.map(\.id).flatMap { end($0, saying: .gone, informing: true, at: now) }
        return ended + noteAbsence() + forgetServices(at: now) + pump(at: now.monotonic)
    }
}
