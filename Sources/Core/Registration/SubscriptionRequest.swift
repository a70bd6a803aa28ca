package import CallControl
package import Primitives

/// `subscribeRequest` after parsing (spidr-wire §3.1, §3.2).
package struct SubscriptionRequest: Equatable, Sendable {
    /// The life time that the client wishes; `nil`: the gateway decides.
    package var expires: Duration?
    /// The longest life time that the client's credentials allow, whatever is configured; `nil`: they do not expire.
    package var longestExpires: Duration?
    /// The requested services as the client wrote them; they are compared without case.
    package var services: [String]
    /// The services that the client's credentials allow, in lower case; `nil`: all that are offered.
    package var allowedServices: Set<String>?
    /// `supported` contains `RingingFeedback`: the device itself sends `ringing` (spidr-wire §6.5).
    package var sendsRingingFeedback: Bool
    /// The user's other subscriptions are to end.
    package var forceLogOut: Bool
    /// The device's name for itself: a new subscription with the same correlator replaces the old one; `nil`: none.
    package var clientCorrelator: String?
    /// The network that the request of a user comes from, for ``NetworkTable``; `nil`: unknown, or a guest's.
    package var network: SourceNetwork?

    /// Makes a request of its parts; each parameter is the property of that name.
    package init(
        expires: Duration? = nil, services: [String], sendsRingingFeedback: Bool = false, forceLogOut: Bool = false,
        clientCorrelator: String? = nil, network: SourceNetwork? = nil
    ) {
        self.expires = expires
        self.services = services
        self.sendsRingingFeedback = sendsRingingFeedback
        self.forceLogOut = forceLogOut
        self.clientCorrelator = clientCorrelator
        self.network = network
    }
}

/// What was granted: the content of `subscribeResponse`.
package struct SubscriptionGrant: Equatable, Sendable {
    /// The name of the subscription.
    package var subscription: SubscriptionID
    /// The name of its channel.
    package var channel: ChannelID
    /// The life time.
    package var expires: Duration
    /// The granted services, in the client's spelling.
    package var services: [String]
    /// Some of the requested services were refused (application status code 2).
    package var isPartial: Bool

    /// Makes a grant of its parts; each parameter is the property of that name.
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

/// Why a request about a subscription was refused.
package enum RegistrationError: Error, Equatable {
    /// The subscription is unknown, expired, or another user's.
    case noSuchSubscription
    /// None of the requested services is offered; these were requested.
    case unsupportedServices([String])
    /// The user already has as many subscriptions as one user may have, which is this number.
    case limitOfSubscriptions(Int)
    /// The gateway has as many subscriptions as it takes.
    case limitOfAllSubscriptions
    /// There are as many guests as allowed, or as many for this account.
    case limitOfGuests
    /// There are as many guests from this network as allowed.
    case limitOfNetworkGuests
    /// There are as many subscriptions of users from this network as allowed.
    case limitOfNetwork
    /// Too many subscriptions of users were made from this network in a short time.
    case tooOftenFromNetwork(retryAfter: Duration)
    /// The user has asked for too many subscriptions in a short time.
    case tooOften(retryAfter: Duration)
    /// The gateway is stopping.
    case draining
}
