import CallControl
import Primitives

/// What a request for a subscription is granted.
extension Registration {
    /// Whether a subscription that is asked for takes the place of another one.
    package func replaces(_ request: SubscriptionRequest) -> Bool {
        request.forceLogOut ? !active.isEmpty : former(of: request) != nil
    }

    /// The subscription of the same device.
    func former(of request: SubscriptionRequest) -> Subscription? {
        request.clientCorrelator.flatMap { correlator in active.first { $0.clientCorrelator == correlator } }
    }

    /// When a client that has not extended by then is reminded: after three quarters of the life time. Web clients
    /// extend after half of it (spidr-wire §3.4), and so are not reminded.
    func reminder(for expires: Duration, from now: MonotonicTime) -> MonotonicTime? {
        configuration.remindsToExtend ? now + expires * 3 / 4 : nil
    }

    /// The life time that is granted for the one that was asked for.
    func lifeTime(for request: SubscriptionRequest) -> Duration {
        let wished = max(request.expires ?? configuration.defaultExpires, configuration.minimumExpires)
        return min(wished, configuration.maximumExpires, request.longestExpires ?? configuration.maximumExpires)
    }

    /// Those of the requested services that are offered and allowed, in the client's spelling.
    ///
    /// - Throws: `unsupportedServices` if there is none.
    func granted(_ request: SubscriptionRequest) throws(RegistrationError) -> [String] {
        var seen: Set<String> = []
        let granted = request.services.filter {
            let name = $0.lowercased()
            return configuration.services.contains(name) && request.allowedServices?.contains(name) ?? true
                && seen.insert(name).inserted
        }
        guard !granted.isEmpty else { throw .unsupportedServices(request.services) }
        return granted
    }

    func grant(for subscription: Subscription, expires: Duration, requested: [String]) -> SubscriptionGrant {
        SubscriptionGrant(
            subscription: subscription.id, channel: subscription.channel, expires: expires,
            services: subscription.services,
            isPartial: !Set(requested.map { $0.lowercased() }).isSubset(
                of: subscription.services.map { $0.lowercased() }))
    }
}
