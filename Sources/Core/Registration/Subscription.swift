package import CallControl
package import Primitives

/// How far a subscription has come; the diagram is in docs/call-states/registration.md.
package enum SubscriptionPhase: String, Equatable, Sendable, CaseIterable {
    /// Its life time is not over.
    case active
    /// Its life time is over, and it can still be extended.
    case expired
    /// It takes no requests any more, and has notifications left to send.
    case ending
}

/// One device's registration for notifications (spidr-wire §3).
///
///     active ── end ──▶ ending ── all notifications are out, or nobody listens ──▶ removed
struct Subscription: Equatable, Sendable {
    let id: SubscriptionID
    let channel: ChannelID
    /// The device's name for itself; `nil`: none.
    let clientCorrelator: String?
    /// Fixed for the life of the subscription (spidr-wire §3.1).
    let sendsRingingFeedback: Bool
    /// The service that makes a subscription a device of calls, lower case.
    let deviceService: String
    /// The services that were granted, in the client's spelling.
    var services: [String]
    /// The network for which it counts; `nil`: unknown, or a guest's.
    var network: SourceNetwork?
    /// When its life time is over.
    var expiry: MonotonicTime
    /// When its client is told that it should extend; `nil`: it has been told since the last extension, or need not be.
    var reminder: MonotonicTime?
    /// The time by which the user has to be part of a call; `nil`: it has been, or need not be.
    var callDeadline: MonotonicTime?
    /// The socket that listens, which is the last one that opened; `nil`: none.
    var socket: SocketID?
    /// Its notifications.
    var queue: NotificationQueue
    /// How many notifications were given up before the client could be sent them, and it has not been told so yet.
    var lost = 0
    /// A request has named this subscription; then all requests of the device do (spidr-wire §1.2).
    var namesItself = false
    /// The subscription is over, and only its last notifications have to be sent.
    var isEnding = false
    /// When the socket of a subscription that its client has deleted is closed, unless the client closes it earlier;
    /// `nil`: the client has not deleted it, or the time is over.
    var closing: MonotonicTime?

    /// The client has deleted the subscription, and its socket is still open.
    var isLeaving: Bool { isEnding && closing != nil }

    /// Whether its client is to be told now that it should extend.
    func isReminderDue(at now: MonotonicTime) -> Bool { !isEnding && reminder.map { $0 <= now } ?? false }

    /// When the subscription ends unless it is extended, or the user is called or calls.
    ///
    /// - Parameter grace: how long it can be extended after it has expired.
    func end(after grace: Duration) -> MonotonicTime { min(expiry + grace, callDeadline ?? expiry + grace) }

    /// The subscription as it outlives the process.
    func stored(of user: UserAddress, _ account: AccountIdentity?, at now: Moment) -> StoredSubscription {
        func stamp(_ time: MonotonicTime) -> Int64 {
            now.epochMilliseconds + (time - now.monotonic).wholeNanoseconds / 1_000_000
        }
        return StoredSubscription(
            id: id, channel: channel, user: user, clientCorrelator: clientCorrelator,
            sendsRingingFeedback: sendsRingingFeedback, services: services, expiry: stamp(expiry),
            reminder: reminder.map(stamp), firstEventID: queue.firstKept, account: account)
    }

    /// The phase at this time.
    func phase(at now: MonotonicTime) -> SubscriptionPhase { isEnding ? .ending : expiry <= now ? .expired : .active }

    /// The device that calls know; `nil` if the subscription was not granted the service for it, or is over.
    var device: Device? {
        guard !isEnding, services.contains(where: { $0.lowercased() == deviceService }) else { return nil }
        return Device(id, sendsRingingFeedback: sendsRingingFeedback)
    }
}

/// The random parts of a new subscription.
package struct SubscriptionIdentity: Equatable, Sendable {
    /// The name of the subscription.
    package var subscription: SubscriptionID
    /// The secret name of its channel.
    package var channel: ChannelID
    /// The number of its first notification, 1 or more.
    package var firstEventID: UInt64

    /// Makes an identity of its parts; each parameter is the property of that name.
    package init(subscription: SubscriptionID, channel: ChannelID, firstEventID: UInt64) {
        self.subscription = subscription
        self.channel = channel
        self.firstEventID = firstEventID
    }

    /// Draws 96 random bits for the subscription, 192 for the channel, whose name is the only secret that a listener
    /// needs (spidr-wire §4), and 31 for the first notification.
    ///
    /// - Parameter prefix: the start of the names of all resources of this user.
    package init(random: inout some RandomSource, prefix: String = "") {
        subscription = SubscriptionID(prefix + random.nextToken(16, alphabet: .url))
        channel = ChannelID(prefix + random.nextToken(32, alphabet: .url))
        firstEventID = UInt64(random.nextUInt32() >> 1) + 1
    }
}
