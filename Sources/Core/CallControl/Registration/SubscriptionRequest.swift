/// `subscribeRequest` after parsing (spidr-wire §3.1, §3.2).
package struct SubscriptionRequest: Equatable, Sendable {
    /// Wished life time; `nil` leaves it to the gateway.
    package var expires: Duration?
    /// Requested services as written; compared without case.
    package var services: [String]
    /// `supported` contains `RingingFeedback`: this device sends `ringing` itself (spidr-wire §6.5).
    package var sendsRingingFeedback: Bool
    /// End the user's other subscriptions.
    package var forceLogOut: Bool
    /// A new subscription with the same correlator replaces the old one of that device.
    package var clientCorrelator: String?

    package init(
        expires: Duration? = nil, services: [String], sendsRingingFeedback: Bool = false, forceLogOut: Bool = false,
        clientCorrelator: String? = nil
    ) {
        self.expires = expires
        self.services = services
        self.sendsRingingFeedback = sendsRingingFeedback
        self.forceLogOut = forceLogOut
        self.clientCorrelator = clientCorrelator
    }
}

/// What was granted: the contents of `subscribeResponse`.
package struct SubscriptionGrant: Equatable, Sendable {
    package var subscription: SubscriptionID
    package var channel: ChannelID
    package var expires: Duration
    /// The granted services in the spelling the client used.
    package var services: [String]
    /// Some requested services were refused (application status code 2).
    package var isPartial: Bool

    package init(
        subscription: SubscriptionID, channel: ChannelID, expires: Duration, services: [String], isPartial: Bool
    ) {
        self.subscription = subscription
        self.channel = channel
        self.expires = expires
        self.services = services
        self.isPartial = isPartial
    }
}

package enum RegistrationError: Error, Equatable {
    /// Unknown, expired, or somebody else's.
    case noSuchSubscription
    /// None of the requested services is offered here.
    case unsupportedServices([String])
    /// The user has as many subscriptions as allowed.
    case limitOfSubscriptions(Int)
    /// There are as many guests as allowed, or as many who came to call this account.
    case limitOfGuests
    /// There are as many guests from this network as allowed.
    case limitOfNetworkGuests
    /// The gateway is stopping.
    case draining
}
