package import CallControl
package import Registration

/// What an operator can ask of subscriptions, calls and voice mail of all users. No function holds an owner up for
/// longer than it takes to read that owner's state.
package protocol Administration: Sendable {
    /// The users and guests who have a registration, in no order. Some may have no subscription left.
    var registeredUsers: [UserAddress] { get async }
    /// The subscriptions of a user or guest, in the order in which they started; empty: none.
    func subscriptions(of user: UserAddress) async -> [SubscriptionOverview]
    /// Ends a subscription. Its client is told that it is gone.
    ///
    /// - Returns: `false` if the user has no such subscription.
    func dismissSubscription(_ user: UserAddress, _ subscription: SubscriptionID) async -> Bool
    /// Ends everything of users whose accounts were removed or disabled.
    ///
    /// - Throws: `StorageError.failed` if the accounts cannot be read.
    func dismissRemovedUsers() async throws(StorageError)

    /// The calls in progress, in no order.
    var callsInProgress: [CallID] { get }
    /// A call in progress; `nil` if there is no such call, or it has not started.
    func overview(of call: CallID) async -> CallOverview?
    /// Ends a call. Its clients are told the reason.
    ///
    /// - Parameter reasonText: the operator's words for them; `nil`: none.
    /// - Returns: `false` if there is no such call.
    func endCall(_ call: CallID, reasonText: String?) async -> Bool

    /// How many voice messages a user has.
    func voicemail(of user: UserAddress) async -> VoicemailCount
    /// Notes how many voice messages a user has, as the system with the mailbox says, and tells the user's
    /// subscriptions if that has changed. It is kept for the next process.
    ///
    /// - Throws: `noSuchUser` if there is none who may log in; `failed`.
    func setVoicemail(of user: UserAddress, to count: VoicemailCount) async throws(StorageError)
}
