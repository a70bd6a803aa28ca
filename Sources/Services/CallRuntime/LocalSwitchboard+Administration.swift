package import CallControl
package import Registration

/// What an operator asks of this process.
extension LocalSwitchboard: Administration {
    /// The users and guests who have a registration, in no order.
    package var registeredUsers: [UserAddress] {
        get async { await users.all.map(\.user) }
    }

    /// The subscriptions of a user or guest, in the order in which they started.
    package func subscriptions(of user: UserAddress) async -> [SubscriptionOverview] {
        await users.existing(user)?.overview() ?? []
    }

    /// Ends a subscription, and tells its client. The place of a guest is free at once.
    ///
    /// - Returns: `false` if the user has no such subscription.
    package func dismissSubscription(_ user: UserAddress, _ subscription: SubscriptionID) async -> Bool {
        guard let owner = users.existing(user), await owner.dismiss(subscription) else { return false }
        if let guest = user.guest { await users.leave(guest) }
        return true
    }

    /// The calls in progress, in no order.
    package var callsInProgress: [CallID] { owners.allCalls }

    /// A call in progress; `nil` if there is no such call, or it has not started.
    package func overview(of call: CallID) async -> CallOverview? { await owners.call(call)?.overview }

    /// Ends a call, and tells its clients.
    ///
    /// - Returns: `false` if there is no such call.
    package func endCall(_ call: CallID, reasonText: String?) async -> Bool {
        await owners.call(call)?.endByOperator(reasonText: reasonText) ?? false
    }

    /// Notes how many voice messages a user has, and tells the user's clients.
    ///
    /// - Throws: `StorageError.noSuchUser`; `StorageError.failed`.
    package func setVoicemail(of user: UserAddress, to count: VoicemailCount) async throws(StorageError) {
        guard try await repository.user(user) != nil else { throw .noSuchUser(user) }
        await voicemail.set(count, of: user)
    }
}

extension RegistrationOwner {
    /// What an operator sees of the subscriptions.
    fileprivate func overview() -> [SubscriptionOverview] { registration.overview(at: environment.clock.now) }
}

extension CallOwner {
    /// What an operator sees of the call; `nil` if it has not started, or is over.
    fileprivate var overview: CallOverview? { call?.overview(history) }

    /// Ends the call; `false` if it has not started, or is over.
    fileprivate func endByOperator(reasonText: String?) -> Bool {
        guard let call, call.overview(history) != nil else { return false }
        let now = environment.clock.now
        event("endedByOperator") { $0.endedByOperator(reasonText: reasonText, at: now) }
        return true
    }
}
