package import EventAPI
package import Primitives

/// The limits of webhooks.
package struct WebhookConfiguration: Sendable {
    /// The most webhooks of one application, 1 or more.
    package var perApplication = 10
    /// When deliveries leave, and how long they are tried.
    package var queue = WebhookQueue.Configuration()
    /// The most events that a webhook is owed before further ones stay in the log; 1 or more.
    package var outbox = 10_000
    /// The longest time that an answer is waited for; more than 0.
    package var attemptTime = Duration.seconds(15)
    /// Addresses that are permitted although the Internet does not route them.
    package var allowedAddresses: [IPAddressRange] = []
    /// A file with the certificates in PEM of the authorities that are trusted; `nil`: those of the system.
    package var authorityPath: String?
    /// Whether URLs with `http:` are permitted.
    package var allowsPlainHTTP = false

    /// Makes a configuration with the default of each property.
    package init() {}
}
