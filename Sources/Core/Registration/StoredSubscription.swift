package import CallControl

/// Tells an account from one of the same address that was made after it was removed.
package struct AccountIdentity: Hashable, Sendable {
    /// Random for each account; 0 for those that were made before there were identities.
    package let rawValue: Int64

    /// Makes an identity of its number.
    package init(_ rawValue: Int64) { self.rawValue = rawValue }
}

/// A subscription as it outlives the process. Times are milliseconds since 1970.
package struct StoredSubscription: Equatable, Sendable {
    /// The name of the subscription.
    package var id: SubscriptionID
    /// The secret name of its channel.
    package var channel: ChannelID
    /// The user whose subscription it is.
    package var user: UserAddress
    /// The device's name for itself; `nil`: none.
    package var clientCorrelator: String?
    /// The device itself sends `ringing` (spidr-wire §6.5).
    package var sendsRingingFeedback: Bool
    /// The services that were granted, in the client's spelling.
    package var services: [String]
    /// When its life time is over.
    package var expiry: Int64
    /// When its client is to be told that it should extend; `nil`: it need not be.
    package var reminder: Int64?
    /// The number of its first notification.
    package var firstEventID: UInt64
    /// The subscription of the same device that it replaced; `nil`: none.
    package var replaced: SubscriptionID?
    /// The account that made it; `nil`: a guest, or unknown.
    package var account: AccountIdentity?

    /// Makes a value of its parts; each parameter is the property of that name.
    package init(
        id: SubscriptionID, channel: ChannelID, user: UserAddress, clientCorrelator: String? = nil,
        sendsRingingFeedback: Bool = false, services: [String], expiry: Int64, reminder: Int64? = nil,
        firstEventID: UInt64, replaced: SubscriptionID? = nil, account: AccountIdentity? = nil
    ) {
        self.id = id
        self.channel = channel
        self.user = user
        self.clientCorrelator = clientCorrelator
        self.sendsRingingFeedback = sendsRingingFeedback
        self.services = services
        self.expiry = expiry
        self.reminder = reminder
        self.firstEventID = firstEventID
        self.replaced = replaced
        self.account = account
    }
}

/// A change of a registration that has to outlive the process. The changes of a subscription, in order, are its log.
package enum RegistrationChange: Equatable, Sendable {
    /// There is this subscription from now on, or it is like this from now on.
    case subscribed(StoredSubscription)
    /// The subscription is over, and so is its log.
    case unsubscribed(SubscriptionID)
    /// A notification was added.
    case notified(SubscriptionID, NotificationFrame)
    /// All notifications up to this number have been given to a socket.
    case transmitted(SubscriptionID, through: UInt64)
    /// A number was given to a frame that is not kept.
    case numbered(SubscriptionID, UInt64)
    /// Notifications up to this number are given up. `lost`: how many the client has never been sent, and has not been
    /// told of yet.
    case forgotten(SubscriptionID, through: UInt64, lost: Int)
    /// What is kept for the user's services has changed.
    case service(ServiceChange)
}

/// What is left of a subscription when the process starts.
package struct RestoredSubscription: Equatable, Sendable {
    /// The subscription.
    package var subscription: StoredSubscription
    /// Its notifications, in order.
    package var frames: [NotificationFrame]
    /// The number up to which they have been given to a socket, perhaps without being received; 0: none.
    package var transmitted: UInt64
    /// The highest number that was given to a notification; 0: none was.
    package var numbered: UInt64
    /// How many notifications were given up without the client having been told.
    package var lost: Int

    /// Makes a value of its parts; each parameter is the property of that name.
    package init(
        _ subscription: StoredSubscription, frames: [NotificationFrame] = [], transmitted: UInt64 = 0,
        numbered: UInt64 = 0, lost: Int = 0
    ) {
        self.subscription = subscription
        self.frames = frames
        self.transmitted = transmitted
        self.numbered = numbered
        self.lost = lost
    }
}
