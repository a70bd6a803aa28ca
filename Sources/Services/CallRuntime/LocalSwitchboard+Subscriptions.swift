package import CallControl
import Logging
import Observability
package import Registration
import Synchronization

/// Subscriptions and channels (spidr-wire §3, §4).
extension LocalSwitchboard {
    /// Makes a subscription; see `Registrar`.
    ///
    /// - Throws: `unsupportedServices`, `limitOfSubscriptions`, `limitOfAllSubscriptions`, `limitOfNetwork`,
    ///   `tooOftenFromNetwork`, `tooOften`, or `draining`.
    package func subscribe(
        _ user: UserAddress, _ request: SubscriptionRequest
    ) async throws(RegistrationError) -> SubscriptionGrant {
        // A device that was woken has to subscribe before it can answer the call that it was woken for.
        try checkRoom(evenDraining: await users.existing(user)?.isRung ?? false)
        try await enterNetwork(user, request)
        do throws(RegistrationError) {
            return try await makeSubscription(user, request)
        } catch {
            await users.withdraw(request.network)
            throw error
        }
    }

    /// Counts a subscription for the network that it comes from. One that takes the place of another is made even if
    /// the network is full.
    ///
    /// - Throws: `tooOften`; `limitOfNetwork` or `tooOftenFromNetwork`.
    private func enterNetwork(_ user: UserAddress, _ request: SubscriptionRequest) async throws(RegistrationError) {
        do throws(RegistrationError) {
            try await users.enter(user, from: request.network)
        } catch .limitOfNetwork {
            guard await users.existing(user)?.replaces(request) ?? false else { throw .limitOfNetwork }
            try await users.enter(request.network, replacing: true)
        }
    }

    private func makeSubscription(
        _ user: UserAddress, _ request: SubscriptionRequest
    ) async throws(RegistrationError) -> SubscriptionGrant {
        let account = await account(of: user)
        var owner = await users.owner(of: user)
        while true {
            if let grant = try await owner.subscribe(
                request, displayName: account?.displayName ?? "", account: account?.identity)
            {
                return grant
            }
            owner = await users.owner(of: user, insteadOf: owner)
        }
    }

    /// Throws if no user can make a subscription now: `draining`, or `limitOfAllSubscriptions`.
    ///
    /// - Parameter evenDraining: the subscription serves a call that there is.
    func checkRoom(evenDraining: Bool = false) throws(RegistrationError) {
        guard evenDraining || !environment.newWork.isRefused else { throw .draining }
        guard environment.subscriptions.value < environment.configuration.maximumSubscriptions else {
            throw .limitOfAllSubscriptions
        }
    }

    /// The services that users can subscribe to, as the protocol spells them.
    package var services: [String] {
        environment.configuration.registration.services.sorted().map(Registration.Configuration.spelling(of:))
    }

    /// The subscription of the user's device of this name; see `Registrar`.
    package func subscription(of user: UserAddress, correlator: String) async -> SubscriptionID? {
        await users.existing(user)?.subscription(correlator: correlator)
    }

    /// Whether this is a subscription of the user that has not ended.
    package func subscriptionExists(_ user: UserAddress, _ subscription: SubscriptionID) async -> Bool {
        await users.existing(user)?.subscriptionExists(subscription) ?? false
    }

    /// Ends everything of users whose accounts were removed: their subscriptions, and so their legs of calls. An
    /// account of the same address that was made afterwards is another one.
    ///
    /// - Throws: `StorageError.failed` if the accounts cannot be read.
    package func dismissRemovedUsers() async throws(StorageError) {
        // A user who is registered by now had an account at that time.
        var owners: [(owner: RegistrationOwner, account: AccountIdentity?)] = []
        for owner in await users.all where owner.user.guest == nil { owners.append((owner, await owner.account)) }
        let withVoicemail = await voicemail.users
        guard !owners.isEmpty || !withVoicemail.isEmpty else { return }
        let accounts = try await repository.identities()
        await voicemail.keepOnly(accounts, of: withVoicemail)
        for (owner, account) in owners {
            let present = accounts[owner.user]
            if present == nil || account != nil && account != present { await owner.dismiss(account) }
        }
    }

    /// Extends a subscription; see `Registrar`.
    ///
    /// - Throws: `noSuchSubscription`, or `unsupportedServices`.
    package func extend(
        _ user: UserAddress, _ subscription: SubscriptionID, _ request: SubscriptionRequest
    ) async throws(RegistrationError) -> SubscriptionGrant {
        guard let owner = users.existing(user) else { throw .noSuchSubscription }
        return try await owner.extend(subscription, request)
    }

    /// Ends a subscription. The place of a guest is free at once.
    ///
    /// - Throws: `noSuchSubscription`.
    package func unsubscribe(_ user: UserAddress, _ subscription: SubscriptionID) async throws(RegistrationError) {
        guard let owner = users.existing(user) else { throw .noSuchSubscription }
        try await owner.unsubscribe(subscription)
        if let guest = user.guest { await users.leave(guest) }
    }

    /// Whether a WebSocket may open on this channel.
    package func channelExists(_ user: UserAddress, _ channel: ChannelID) async -> Bool {
        await users.existing(user)?.channelExists(channel) ?? false
    }

    /// A socket has opened; `false` if the channel has ended meanwhile.
    package func channelOpened(
        _ user: UserAddress, _ channel: ChannelID, on socket: SocketID, since latest: UInt64?
    ) async -> Bool {
        await users.existing(user)?.channelOpened(channel, on: socket, since: latest) ?? false
    }

    /// A client has received everything that was sent on a channel up to a number.
    package func channelConfirmed(_ user: UserAddress, _ channel: ChannelID, through number: UInt64) {
        users.existing(user)?.inbox.post(.confirmed(channel, through: number))
    }

    /// A socket has closed. One that had been replaced before is ignored.
    package func channelClosed(_ user: UserAddress, _ channel: ChannelID, on socket: SocketID) async {
        await users.existing(user)?.channelClosed(channel, on: socket)
    }

    /// A request of the user has started; see `Registrar`. A user without a registration gets one for it.
    package func requestStarted(_ user: UserAddress, about session: SessionID?) async -> RequestTicket {
        var owner = users.existing(user)
        while true {
            let asked = if let owner { owner } else { await users.owner(of: user) }
            if let ticket = await asked.requestStarted(about: session) { return ticket }
            owner = await users.owner(of: user, insteadOf: asked)
        }
    }

    /// A request has been answered: notifications that it held back are sent.
    package func requestAnswered(_ ticket: RequestTicket) async {
        await users.existing(ticket.user)?.requestAnswered(ticket)
    }

    /// The account of a user. If it cannot be read, others are shown the address instead of the display name; the
    /// subscription is not refused.
    private func account(of user: UserAddress) async -> StoredUser? {
        do throws(StorageError) {
            return try await repository.user(user)
        } catch {
            environment.logger.warning("display name could not be read", metadata: [LogKey.error: "\(error.label)"])
            return nil
        }
    }
}

extension StorageError {
    /// For the log, without addresses.
    var label: String {
        switch self {
        case .userExists: "user exists"
        case .noSuchUser: "no such user"
        case .authNameTaken: "auth name taken"
        case .applicationExists: "application exists"
        case .noSuchApplication: "no such application"
        case .applicationAddressTaken: "application address taken"
        case .failed: description
        }
    }
}
