package import CallControl
import Logging
import Observability
import Primitives
package import Registration

/// Messages, presence, voice mail, and subscriptions to events (spidr-wire §9, §10). Each user's part is decided by the
/// owner of the user's registration.
extension LocalSwitchboard: UserServices {
    /// The longest text of a message, in bytes of UTF-8.
    package var maximumMessageLength: Int { environment.configuration.registration.messages.maximumLength }

    // MARK: Messages

    /// Sends a message; see `UserServices`.
    ///
    /// - Throws: `tooManyMessages`, `unknownReceiver`, `inboxFull`, or `storageUnavailable`.
    package func send(
        _ request: MessageRequest, by user: UserAddress
    ) async throws(ServiceRefusal) -> String {
        let registeredName = try await ask(user) { await $0.chargeMessage() }.get()
        guard try await account(request.receiver) != nil else { throw .unknownReceiver }
        let name = registeredName.isEmpty ? try await account(user)?.displayName ?? "" : registeredName
        var random = environment.random.generator
        let message = InstantMessage(
            id: random.nextToken(16, alphabet: .url), sender: user, senderName: name, text: request.text,
            type: request.type, charset: request.charset, time: environment.clock.epochMilliseconds)
        let mayKeep = environment.keptMessages.value < environment.configuration.maximumKeptMessages
        try await ask(request.receiver) { await $0.receive(message, mayKeep: mayKeep) }.get()
        return message.id
    }

    // MARK: Presence

    /// Changes the user's presence; see `UserServices`.
    ///
    /// - Throws: `notSubscribed`, `tooManyMessages`.
    package func setPresence(_ presence: Presence, of user: UserAddress) async throws(ServiceRefusal) {
        try await ask(user) { await $0.setPresence(presence) }.get()
    }

    /// Starts to watch users, or goes on watching them; see `UserServices`.
    ///
    /// - Throws: `otherDomain`, `limitOfWatched`, or `storageUnavailable`.
    package func watch(_ users: [UserAddress], by user: UserAddress) async throws(ServiceRefusal) -> WatchGrant {
        let (known, unknown) = try await accounts(among: users, for: user)
        let time = try await ask(user) { await $0.watch(known) }.get()
        for address in unknown { tellAbsence(of: address, to: user) }
        return await watched(known, by: user, for: time)
    }

    /// Stops watching users.
    package func stopWatching(_ users: [UserAddress], by user: UserAddress) async {
        await self.users.existing(user)?.stopWatching(users)
    }

    /// Tells the user the presence of others once; see `UserServices`.
    ///
    /// - Throws: `otherDomain`.
    package func tellPresence(of users: [UserAddress], to user: UserAddress) async throws(ServiceRefusal) {
        try check(users, for: user)
        for other in users {
            guard let owner = self.users.existing(other) else {
                tellAbsence(of: other, to: user)
                continue
            }
            await owner.tellPresence(to: user)
        }
    }

    // MARK: Subscriptions to events

    /// Starts a subscription to events; see `UserServices`.
    ///
    /// - Throws: `otherDomain`, `voicemailOfAnother`, `limitOfEventSubscriptions`, `limitOfWatched`, or
    ///   `storageUnavailable`.
    package func subscribe(
        to kind: EventPackage, of users: [UserAddress], for time: Duration?, by user: UserAddress
    ) async throws(ServiceRefusal) -> (id: String, grant: WatchGrant) {
        let known =
            kind == .presence ? try await accounts(among: users.isEmpty ? [user] : users, for: user).known : users
        var random = environment.random.generator
        let id = random.nextToken(16, alphabet: .url)
        let granted = try await ask(user) { await $0.subscribe(id, to: kind, of: known, for: time) }.get()
        return (id, await told(id, kind, of: known, by: user, for: granted))
    }

    /// Lets a subscription to events last longer; see `UserServices`.
    ///
    /// - Throws: `noSuchEventSubscription`, `otherDomain`, `voicemailOfAnother`, `limitOfWatched`, or
    ///   `storageUnavailable`.
    package func extend(
        event id: String, of users: [UserAddress], for time: Duration?, by user: UserAddress
    ) async throws(ServiceRefusal) -> WatchGrant {
        let (known, _) = try await accounts(among: users, for: user)
        let (event, granted) = try await ask(user) { await $0.extend(event: id, of: known, for: time) }.get()
        return await told(id, event.kind, of: event.users, by: user, for: granted)
    }

    /// Ends a subscription to events.
    ///
    /// - Throws: `noSuchEventSubscription`.
    package func unsubscribe(event id: String, by user: UserAddress) async throws(ServiceRefusal) {
        try await ask(user) { await $0.unsubscribe(event: id) }.get()
    }

    // MARK: Voice mail

    /// How many voice messages a user has.
    package func voicemail(of user: UserAddress) async -> VoicemailCount { await voicemail.count(of: user) }

    // MARK: - Parts

    /// Takes over what is kept for services from a process that has ended. What belongs to accounts that were removed
    /// meanwhile is forgotten with the next look at the accounts. Subscriptions are taken over before.
    func restore(_ services: StoredServices) async {
        // The messages of this process come behind those that are still owed.
        environment.owedMessages.change(by: Int(services.owed.last?.number ?? 0))
        await voicemail.restore(services.voicemail)
        for user in Set(services.messages.keys).union(services.interests.keys) {
            await users.owner(of: user).restore(
                messages: services.messages[user] ?? [], interests: services.interests[user])
        }
        for owed in services.owed {
            guard let owner = users.existing(owed.receiver) else {
                environment.settle([owed])
                continue
            }
            await owner.tell(owed)
        }
        var watchers: [UserAddress: [UserAddress: Int64]] = [:]
        for (watcher, interests) in services.interests {
            for (watched, end) in interests.ends { watchers[watched, default: [:]][watcher] = end }
        }
        for user in Set(services.presence.keys).union(watchers.keys) {
            await users.owner(of: user).restore(services.presence[user], watchers: watchers[user] ?? [:])
        }
    }

    /// Asks the owner of a user's registration, made if there is none; another one if that has retired.
    private func ask<Reply: Sendable>(
        _ user: UserAddress, _ question: (RegistrationOwner) async -> Reply?
    ) async -> Reply {
        var owner = await users.owner(of: user)
        while true {
            if let reply = await question(owner) { return reply }
            owner = await users.owner(of: user, insteadOf: owner)
        }
    }

    /// The account of a user; `nil`: there is none.
    private func account(_ user: UserAddress) async throws(ServiceRefusal) -> StoredUser? {
        do throws(StorageError) {
            return try await repository.user(user)
        } catch {
            environment.logger.warning("a user could not be read", metadata: [LogKey.error: "\(error.label)"])
            throw .storageUnavailable
        }
    }

    /// Users of another domain may belong to another organisation; see `DirectoryQuery`.
    private func check(_ users: [UserAddress], for user: UserAddress) throws(ServiceRefusal) {
        if let other = users.first(where: { $0.domain != user.domain }) { throw .otherDomain(other) }
    }

    /// Divides addresses into those with an account and the others.
    private func accounts(
        among users: [UserAddress], for user: UserAddress
    ) async throws(ServiceRefusal) -> (known: [UserAddress], unknown: [UserAddress]) {
        try check(users, for: user)
        var (known, unknown): ([UserAddress], [UserAddress]) = ([], [])
        for address in users {
            if try await account(address) == nil { unknown.append(address) } else { known.append(address) }
        }
        return (known, unknown)
    }

    private func tellAbsence(of other: UserAddress, to user: UserAddress) {
        environment.append([], telling: [(user, .askedPresence(PresenceReport(other, .absent)))])
    }

    /// Tells users who watches them. Each tells the watcher its presence.
    private func watched(_ users: [UserAddress], by user: UserAddress, for time: Duration) async -> WatchGrant {
        var grant = WatchGrant(time)
        for other in users {
            let isWatched = await ask(other) { await $0.addWatcher(user, for: time) }
            if !isWatched { grant.isPartial = true }
        }
        return grant
    }

    /// Tells the client of a subscription to events how things are.
    private func told(
        _ id: String, _ kind: EventPackage, of users: [UserAddress], by user: UserAddress, for time: Duration
    ) async -> WatchGrant {
        switch kind {
        case .presence: return await watched(users, by: user, for: time)
        case .messageSummary:
            await voicemail.tell(event: id, of: user)
            return WatchGrant(time)
        }
    }
}
