package import Primitives

/// How far a subscription has come; docs/call-states/registration.md has the diagram.
package enum SubscriptionPhase: String, Equatable, Sendable, CaseIterable {
    case active
    /// Its life time is over, and it can still be extended.
    case expired
    /// It takes no request any more, and has something left to say.
    case ending
}

/// One device's registration for notifications (spidr-wire §3).
///
///     active ── end ──▶ ending ── all notifications are out, or nobody listens ──▶ removed
struct Subscription: Equatable, Sendable {
    let id: SubscriptionID
    let channel: ChannelID
    let clientCorrelator: String?
    /// Holds for the life of the subscription (spidr-wire §3.1).
    let sendsRingingFeedback: Bool
    /// The service that makes a subscription a device of calls, lower case.
    let deviceService: String
    var services: [String]
    var expiry: MonotonicTime
    /// By when the user has to be part of a call; `nil`: it has been, or need not be.
    var callDeadline: MonotonicTime?
    /// The socket that listens; the last one that opened.
    var socket: SocketID?
    var queue: NotificationQueue
    /// A request has said that it is from here; then all do (spidr-wire §1.2).
    var namesItself = false
    /// Set once the subscription is over and only its last notifications have to go out.
    var isEnding = false
    /// When the socket of a subscription that its client has deleted is closed, unless the client closes it earlier.
    var closing: MonotonicTime?

    /// The client has deleted it, and its socket is still open.
    var isLeaving: Bool { isEnding && closing != nil }

    /// When it is over unless it is extended, or used.
    ///
    /// - Parameter grace: how long it can be extended after it has expired.
    func end(after grace: Duration) -> MonotonicTime { min(expiry + grace, callDeadline ?? expiry + grace) }

    func phase(at now: MonotonicTime) -> SubscriptionPhase { isEnding ? .ending : expiry <= now ? .expired : .active }

    /// The device that calls know, if the subscription was granted the service for it.
    var device: Device? {
        guard !isEnding, services.contains(where: { $0.lowercased() == deviceService }) else { return nil }
        return Device(id, sendsRingingFeedback: sendsRingingFeedback)
    }
}

/// The random parts of a new subscription.
package struct SubscriptionIdentity: Equatable, Sendable {
    package var subscription: SubscriptionID
    package var channel: ChannelID
    package var firstEventID: UInt64

    package init(subscription: SubscriptionID, channel: ChannelID, firstEventID: UInt64) {
        self.subscription = subscription
        self.channel = channel
        self.firstEventID = firstEventID
    }

    /// Draws 96 bits for the subscription, 192 for the channel, which is all the secret its listener needs (spidr-wire §4),
    /// and 31 for the first event.
    ///
    /// - Parameter prefix: what the names of all resources of the user begin with.
    package init(random: inout some RandomSource, prefix: String = "") {
        subscription = SubscriptionID(prefix + random.nextToken(16, alphabet: .url))
        channel = ChannelID(prefix + random.nextToken(32, alphabet: .url))
        firstEventID = UInt64(random.nextUInt32() >> 1) + 1
    }
}
