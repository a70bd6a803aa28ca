package import CallControl
package import Primitives

/// The presence of the user, who watches it, and what the user watches (spidr-wire §9, §10).
///
/// The owner of the user who watches and the owner of the user who is watched note the same time, after which both
/// forget the watch unless it was renewed.
extension Registration {
    // MARK: The user's own presence

    /// Changes the user's presence. It lasts until the user's last subscription ends. A change counts as a message.
    ///
    /// - Throws: `notSubscribed` if the user has no subscription, unless the presence is `closed`; `tooManyMessages`.
    package mutating func setPresence(_ wished: Presence, at now: Moment) throws(ServiceRefusal) -> [RegistrationAction]
    {
        guard wished.status == .closed || !active.isEmpty else { throw .notSubscribed }
        guard !active.isEmpty else { return noteAbsence() }
        if wished != services.said { try chargeMessage(at: now.monotonic) }
        services.said = wished
        return tellPresence()
    }

    /// A leg of the user is established: the user is on the phone until the last such leg is over.
    package mutating func established(_ session: SessionID) -> [RegistrationAction] {
        sessions.establish(session)
        return tellPresence()
    }

    /// The user's presence, as others are told.
    package var presenceReport: PresenceReport {
        guard !active.isEmpty else { return PresenceReport(user, .absent) }
        let said = services.said
        return PresenceReport(
            user, sessions.establishedCount > 0 ? .onThePhone(saying: said) : said ?? .absent)
    }

    /// Another user watches this one for so long, or longer if it was to before. It is told the presence at once.
    ///
    /// - Returns: `nil` if as many users watch as may.
    package mutating func addWatcher(
        _ watcher: UserAddress, for time: Duration, at now: MonotonicTime
    ) -> [RegistrationAction]? {
        let others = tellPresence()
        guard services.watchers.add(watcher, until: now + time) else { return nil }
        // That the user is on the phone is stored once a watcher knows it, which is now.
        return others + tellPresence() + [.tell(watcher, .presence(presenceReport))]
    }

    /// Tells another user the presence once, who has asked for it.
    package func tellPresence(to user: UserAddress) -> [RegistrationAction] {
        [.tell(user, .askedPresence(presenceReport))]
    }

    /// Takes over the presence and those who watch it from a process that has ended. They are told the presence if it
    /// is not what they were told last: a call has ended with that process, or the last subscription has ended since.
    /// To be called after `restore` of the subscriptions.
    ///
    /// - Parameters:
    ///   - stored: what was kept of the presence; `nil`: nothing.
    ///   - watchers: who watches, and until when, milliseconds since 1970.
    package mutating func restore(
        _ stored: StoredPresence?, watchers: [UserAddress: Int64], at now: Moment
    ) -> [RegistrationAction] {
        let stored = stored ?? StoredPresence(nil)
        services.said = active.isEmpty ? nil : stored.said
        services.kept = stored
        services.told = stored.told
        for (watcher, end) in watchers.sorted(by: { $0.key.text < $1.key.text }) {
            _ = services.watchers.add(watcher, until: now.monotonic(at: end))
        }
        return tellPresence()
    }

    // MARK: What the user watches

    /// Starts to watch users, or goes on watching them.
    ///
    /// - Returns: how long the watch lasts.
    /// - Throws: `limitOfWatched`, and nothing changes.
    package mutating func watch(
        _ users: [UserAddress], at now: Moment
    ) throws(ServiceRefusal) -> (time: Duration, actions: [RegistrationAction]) {
        let time = try services.interests.watch(users, at: now.monotonic)
        return (time, [storedInterests(at: now)])
    }

    /// Stops watching users.
    package mutating func stopWatching(_ users: [UserAddress], at now: Moment) -> [RegistrationAction] {
        let left = services.interests.stopWatching(users)
        return leave(left, at: now)
    }

    /// Starts a subscription to events.
    ///
    /// - Parameter wished: how long it is to last; `nil`: as long as a watch.
    /// - Returns: how long it lasts.
    /// - Throws: `voicemailOfAnother`, `limitOfEventSubscriptions` or `limitOfWatched`, and nothing changes.
    package mutating func subscribe(
        _ id: String, to kind: EventPackage, of users: [UserAddress], for wished: Duration?, at now: Moment
    ) throws(ServiceRefusal) -> (time: Duration, actions: [RegistrationAction]) {
        if kind == .messageSummary, let other = users.first(where: { $0 != user }) { throw .voicemailOfAnother(other) }
        let users = kind == .presence ? users : []
        let time = try services.interests.subscribe(id, to: kind, of: users, for: wished, at: now.monotonic)
        return (time, [storedInterests(at: now)])
    }

    /// Lets a subscription to events last longer.
    ///
    /// - Parameter users: the users whose presence is told from now on; empty: the same as before.
    /// - Returns: how long it lasts; and its users, whose presence its client is told again.
    /// - Throws: `noSuchEventSubscription`, `voicemailOfAnother` or `limitOfWatched`, and nothing changes.
    package mutating func extend(
        _ id: String, of users: [UserAddress], for wished: Duration?, at now: Moment
    ) throws(ServiceRefusal) -> (event: EventSubscription, time: Duration, actions: [RegistrationAction]) {
        guard let known = services.interests.event(id) else { throw .noSuchEventSubscription }
        if known.kind == .messageSummary, let other = users.first(where: { $0 != user }) {
            throw .voicemailOfAnother(other)
        }
        let changed = known.kind == .messageSummary || users.isEmpty ? nil : users
        let (time, left) = try services.interests.extend(id, of: changed, for: wished, at: now.monotonic)
        guard let event = services.interests.event(id) else { preconditionFailure("an extended subscription is there") }
        return (event, time, leave(left, at: now))
    }

    /// Ends a subscription to events.
    ///
    /// - Throws: `noSuchEventSubscription`.
    package mutating func unsubscribe(event id: String, at now: Moment) throws(ServiceRefusal) -> [RegistrationAction] {
        let left = try services.interests.unsubscribe(id)
        return leave(left, at: now)
    }

    /// Takes over what the user watches from a process that has ended.
    package mutating func restore(_ stored: StoredInterests, at now: Moment) {
        services.interests.restore(stored, at: now)
    }

    // MARK: - Parts

    /// The presence of another user is told to those who watch it.
    mutating func told(_ report: PresenceReport, at now: Moment) -> [RegistrationAction] {
        var actions: [RegistrationAction] = []
        if services.interests.watches(report.user) {
            actions += notify(.presence(report), receivers(of: Configuration.presenceService), at: now)
        }
        for event in services.interests.events(about: report.user) {
            actions += tellEvent(EventReport(report, to: event), at: now)
        }
        return actions
    }

    /// Tells a subscription to events something.
    mutating func tellEvent(_ report: EventReport, at now: Moment) -> [RegistrationAction] {
        guard services.interests.event(report.subscription) != nil else { return [] }
        return notify(.event(report), receivers(of: Configuration.service(of: report.kind)), at: now)
    }

    /// Without a subscription the user is absent.
    mutating func noteAbsence() -> [RegistrationAction] {
        guard active.isEmpty else { return [] }
        services.said = nil
        return tellPresence()
    }

    /// Tells those who watch the presence, and keeps it, if it has changed.
    mutating func tellPresence() -> [RegistrationAction] {
        let report = presenceReport
        var actions: [RegistrationAction] = []
        let isOnThePhone = sessions.establishedCount > 0 && !active.isEmpty && !services.watchers.isEmpty
        let kept = StoredPresence(services.said, isOnThePhone: isOnThePhone)
        if kept != services.kept, user.guest == nil {
            services.kept = kept
            actions.append(.store(.service(.presence(kept.isEmpty ? nil : kept, of: user))))
        }
        guard report.presence != services.told else { return actions }
        services.told = report.presence
        return actions + services.watchers.users.map { .tell($0, .presence(report)) }
    }

    /// Ends what was not renewed, and gives up messages that were kept for long enough.
    mutating func timeoutServices(at now: Moment) -> [RegistrationAction] {
        services.watchers.timeout(at: now.monotonic)
        let expired = expireKept(at: now)
        return services.interests.timeout(at: now.monotonic) ? expired + [storedInterests(at: now)] : expired
    }

    /// The account does not exist any more: what is kept for it is forgotten, and it watches nobody.
    mutating func forgetServices(at now: Moment) -> [RegistrationAction] {
        guard !services.interests.isEmpty else { return forgetKept(at: now) }
        let left = services.interests.removeAll()
        return leave(left, at: now) + forgetKept(at: now)
    }

    // MARK: Private

    private func storedInterests(at now: Moment) -> RegistrationAction {
        .store(.service(.interests(services.interests.stored(at: now), of: user)))
    }

    /// Users are not watched any more.
    private func leave(_ users: [UserAddress], at now: Moment) -> [RegistrationAction] {
        [storedInterests(at: now)] + users.map { .tell($0, .unwatched(by: user)) }
    }
}
