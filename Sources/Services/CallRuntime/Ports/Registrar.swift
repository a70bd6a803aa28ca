package import CallControl
package import Primitives
package import Registration

/// What a signalling dialect can ask of registrations: subscriptions, their channels, and the requests in flight, which
/// hold back notifications.
///
/// Every function names the authenticated user. A subscription of another user is treated as one that does not exist,
/// so that nothing about it is revealed.
package protocol Registrar: Sendable {
    // MARK: Subscriptions (spidr-wire §3)

    /// The services that users can subscribe to, as the protocol spells them, in order.
    var services: [String] { get }

    /// Makes a subscription (spidr-wire §3.1).
    ///
    /// - Throws: `unsupportedServices`, `limitOfSubscriptions`, `limitOfAllSubscriptions`, `limitOfNetwork`,
    ///   `tooOftenFromNetwork`, `tooOften`, or `draining`.
    func subscribe(_ user: UserAddress, _ request: SubscriptionRequest) async throws(RegistrationError)
        -> SubscriptionGrant
    /// The subscription of the user's device of this name (`clientCorrelator`); `nil`: there is none.
    func subscription(of user: UserAddress, correlator: String) async -> SubscriptionID?
    /// Whether this is a subscription of the user that has not ended.
    func subscriptionExists(_ user: UserAddress, _ subscription: SubscriptionID) async -> Bool
    /// Extends a subscription, and changes its services if the request names any (spidr-wire §3.2).
    ///
    /// - Throws: `noSuchSubscription`, or `unsupportedServices`.
    func extend(_ user: UserAddress, _ subscription: SubscriptionID, _ request: SubscriptionRequest)
        async throws(RegistrationError)
        -> SubscriptionGrant
    /// Ends a subscription.
    ///
    /// - Throws: `noSuchSubscription`.
    func unsubscribe(_ user: UserAddress, _ subscription: SubscriptionID) async throws(RegistrationError)

    // MARK: Guests (spidr-wire §7)

    /// Subscribes a guest, who may call `account` and no other. The names in the grant start with the guest's
    /// `resourcePrefix`. To all other functions, a guest is a user.
    ///
    /// - Parameter network: the network that the guest comes from; `nil`: unknown.
    /// - Throws: `limitOfGuests`, `limitOfNetworkGuests`, `limitOfAllSubscriptions`, `unsupportedServices`, or
    ///   `draining`.
    func admit(
        _ request: SubscriptionRequest, toCall account: UserAddress, from network: SourceNetwork?
    ) async throws(RegistrationError) -> SubscriptionGrant
    /// The account that a guest may call; `nil` if there is no such guest any more.
    func account(of guest: GuestID) async -> UserAddress?

    // MARK: Notification channel (spidr-wire §4)

    /// Whether a WebSocket may open on this channel; to be asked before the upgrade is accepted.
    func channelExists(_ user: UserAddress, _ channel: ChannelID) async -> Bool
    /// A socket has opened: the client is sent what it missed, then everything new.
    ///
    /// - Parameter latest: the number of the last notification that the client says it has; `nil`: it does not say.
    /// - Returns: `false` if the channel has ended meanwhile.
    func channelOpened(
        _ user: UserAddress, _ channel: ChannelID, on socket: SocketID, since latest: UInt64?
    ) async -> Bool
    /// A client has received everything that was sent on a channel up to a number. Returns at once.
    func channelConfirmed(_ user: UserAddress, _ channel: ChannelID, through number: UInt64)
    /// A socket has closed. One that had been replaced before is ignored.
    func channelClosed(_ user: UserAddress, _ channel: ChannelID, on socket: SocketID) async

    /// Holds back notifications to this user's subscriptions until the matching `requestAnswered`, so that a request is
    /// answered before anything that it causes is notified (spidr-wire §4.3). Notifications with other causes wait only
    /// for requests that had started before them.
    ///
    /// - Parameter session: the session that the request is about; `nil`: it names none.
    func requestStarted(_ user: UserAddress, about session: SessionID?) async -> RequestTicket
    /// A request has been answered: notifications that it held back are sent.
    func requestAnswered(_ ticket: RequestTicket) async
}

/// The name of one request in flight of one user.
package struct RequestTicket: Hashable, Sendable {
    /// The user who made the request.
    package let user: UserAddress
    /// The number of the request, as `requestStarted` gave it out.
    package let number: UInt64
    /// What the client has to digest once the request is answered, before it is told more about it (spidr-wire §12.1);
    /// `nil`: nothing.
    package var answer: AnsweredRequest?

    /// Makes a ticket of its parts; nothing is to be digested.
    package init(user: UserAddress, number: UInt64) {
        self.user = user
        self.number = number
    }
}
