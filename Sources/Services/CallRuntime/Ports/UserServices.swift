package import CallControl
package import Registration

/// What a signalling dialect can ask of the services besides calls: messages, presence,
/// voice mail, and subscriptions to events (spidr-wire §9, §10).
///
/// Every function names the authenticated user, who has an account. Notifications are those of the user's
/// subscriptions; see `Registrar`.
package protocol UserServices: Sendable {
    /// The longest text of a message, in bytes of UTF-8.
    var maximumMessageLength: Int { get }

    /// Sends a message. What becomes of it is told to the sender's subscriptions.
    ///
    /// - Returns: the name of the message.
    /// - Throws: `tooManyMessages`, `unknownReceiver`, `inboxFull`, or `storageUnavailable`.
    func send(_ request: MessageRequest, by user: UserAddress) async throws(ServiceRefusal) -> String

    /// Changes the user's presence, which lasts until the user's last subscription ends. Watchers are told.
    ///
    /// - Throws: `notSubscribed`, `tooManyMessages`.
    func setPresence(_ presence: Presence, of user: UserAddress) async throws(ServiceRefusal)
    /// Starts to watch users, or goes on watching them. The user is told the presence of each at once, and each change.
    /// Addresses without an account are told as absent, once.
    ///
    /// - Throws: `otherDomain`, `limitOfWatched`, or `storageUnavailable`.
    func watch(_ users: [UserAddress], by user: UserAddress) async throws(ServiceRefusal) -> WatchGrant
    /// Stops watching users.
    func stopWatching(_ users: [UserAddress], by user: UserAddress) async
    /// Tells the user the presence of others once.
    ///
    /// - Throws: `otherDomain`.
    func tellPresence(of users: [UserAddress], to user: UserAddress) async throws(ServiceRefusal)

    /// Starts a subscription to events. Its client is told at once how things are.
    ///
    /// - Parameters:
    ///   - users: whom the events are about; empty: the user.
    ///   - time: how long it is to last; `nil`: the gateway decides.
    /// - Returns: the name of the subscription, and how long it lasts.
    /// - Throws: `otherDomain`, `voicemailOfAnother`, `limitOfEventSubscriptions`, `limitOfWatched`, or
    ///   `storageUnavailable`.
    func subscribe(
        to kind: EventPackage, of users: [UserAddress], for time: Duration?, by user: UserAddress
    ) async throws(ServiceRefusal) -> (id: String, grant: WatchGrant)
    /// Lets a subscription to events last longer. Its client is told how things are.
    ///
    /// - Parameter users: whom the events are about from now on; empty: the same as before.
    /// - Throws: `noSuchEventSubscription`, `otherDomain`, `voicemailOfAnother`, `limitOfWatched`, or
    ///   `storageUnavailable`.
    func extend(
        event id: String, of users: [UserAddress], for time: Duration?, by user: UserAddress
    ) async throws(ServiceRefusal) -> WatchGrant
    /// Ends a subscription to events.
    ///
    /// - Throws: `noSuchEventSubscription`.
    func unsubscribe(event id: String, by user: UserAddress) async throws(ServiceRefusal)

    /// How many voice messages a user has.
    func voicemail(of user: UserAddress) async -> VoicemailCount
}
