package import CallControl
package import Primitives

/// What an operator sees of a subscription. The name of its channel, which is a secret, is not part of it.
package struct SubscriptionOverview: Equatable, Sendable {
    /// The name of the subscription. That of a guest's is a secret.
    package var id: SubscriptionID
    /// The name that the device gave itself; `nil`: none.
    package var clientCorrelator: String?
    /// The services that were granted.
    package var services: [String]
    /// How far it has come.
    package var phase: SubscriptionPhase
    /// The time until it expires; negative if it has.
    package var remaining: Duration
    /// It rings when its user is called.
    package var isDevice: Bool
    /// A client listens on its channel.
    package var isConnected: Bool
    /// How many notifications are kept for it.
    package var keptNotifications: Int
}

extension Registration {
    /// What an operator sees of the subscriptions, in the order in which they started.
    package func overview(at now: MonotonicTime) -> [SubscriptionOverview] {
        subscriptions.map { subscription in
            SubscriptionOverview(
                id: subscription.id, clientCorrelator: subscription.clientCorrelator, services: subscription.services,
                phase: subscription.phase(at: now), remaining: subscription.expiry - now,
                isDevice: subscription.device != nil, isConnected: subscription.socket != nil,
                keptNotifications: subscription.queue.count)
        }
    }

    /// An operator ends a subscription; its client is told that it is gone, by push if its channel is closed.
    ///
    /// - Returns: `nil` if there is no such subscription.
    package mutating func dismiss(_ id: SubscriptionID, at now: Moment) -> [RegistrationAction]? {
        guard activeIndex(of: id) != nil else { return nil }
        return revoke(id, at: now) + qualityReporting() + pump(at: now.monotonic)
    }
}
