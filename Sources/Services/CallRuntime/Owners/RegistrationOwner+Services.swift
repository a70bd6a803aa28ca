import CallControl
import Registration

/// Messages, presence, and what the user watches (spidr-wire §9, §10). What returns `nil` finds that the owner has
/// retired; the directory has another one.
extension RegistrationOwner {
    /// Counts a message that the user is about to send.
    ///
    /// - Returns: the user's display name, or why the user may not send a message now.
    func chargeMessage() -> Result<String, ServiceRefusal>? {
        guard !isRetired else { return nil }
        defer { perform([], after: "chargeMessage") }
        do throws(ServiceRefusal) {
            try registration.chargeMessage(at: environment.clock.now)
            return .success(displayName)
        } catch {
            return .failure(error)
        }
    }

    /// Takes a message for the user.
    func receive(_ message: InstantMessage, mayKeep: Bool) -> Result<Void, ServiceRefusal>? {
        carryOut("receive") { (now) throws(ServiceRefusal) in
            ((), try registration.receive(message, mayKeep: mayKeep, at: now))
        }
    }

    /// Changes the user's presence.
    func setPresence(_ presence: Presence) -> Result<Void, ServiceRefusal>? {
        carryOut("setPresence") { (now) throws(ServiceRefusal) in
            ((), try registration.setPresence(presence, at: now))
        }
    }

    /// Tells another user the presence once.
    func tellPresence(to user: UserAddress) {
        perform(registration.tellPresence(to: user), after: "tellPresence")
    }

    /// Tells the user what another owner has to say about a service.
    func tell(_ owed: OwedMessage) {
        perform(
            registration.told(owed.message, at: environment.clock.moment), after: "service", settling: owed.number)
    }

    /// Another user watches this one for so long.
    ///
    /// - Returns: `false` if as many watch as may.
    func addWatcher(_ watcher: UserAddress, for time: Duration) -> Bool? {
        guard !isRetired else { return nil }
        let actions = registration.addWatcher(watcher, for: time, at: environment.clock.now)
        perform(actions ?? [], after: "addWatcher")
        return actions != nil
    }

    /// Starts to watch users, or goes on watching them.
    func watch(_ users: [UserAddress]) -> Result<Duration, ServiceRefusal>? {
        carryOut("watch") { (now) throws(ServiceRefusal) in try registration.watch(users, at: now) }
    }

    /// Stops watching users.
    func stopWatching(_ users: [UserAddress]) {
        perform(registration.stopWatching(users, at: environment.clock.moment), after: "stopWatching")
    }

    /// Starts a subscription to events.
    func subscribe(
        _ id: String, to kind: EventPackage, of users: [UserAddress], for time: Duration?
    ) -> Result<Duration, ServiceRefusal>? {
        carryOut("subscribeToEvents") { (now) throws(ServiceRefusal) in
            try registration.subscribe(id, to: kind, of: users, for: time, at: now)
        }
    }

    /// Lets a subscription to events last longer.
    func extend(
        event id: String, of users: [UserAddress], for time: Duration?
    ) -> Result<(event: EventSubscription, time: Duration), ServiceRefusal>? {
        carryOut("extendEvents") { (now) throws(ServiceRefusal) in
            let (event, time, actions) = try registration.extend(id, of: users, for: time, at: now)
            return ((event, time), actions)
        }
    }

    /// Ends a subscription to events.
    func unsubscribe(event id: String) -> Result<Void, ServiceRefusal>? {
        carryOut("unsubscribeEvents") { (now) throws(ServiceRefusal) in
            ((), try registration.unsubscribe(event: id, at: now))
        }
    }

    // MARK: - What another process has left. To be called before the loop runs.

    /// Takes over what is kept for the services of the user.
    func restore(messages: [InstantMessage], interests: StoredInterests?) {
        let now = environment.clock.moment
        let actions = messages.isEmpty ? [] : registration.restore(messages, at: now)
        if let interests { registration.restore(interests, at: now) }
        perform(actions, after: "restoreServices")
    }

    /// Takes over the presence, and who watches this user until when, milliseconds since 1970.
    func restore(_ presence: StoredPresence?, watchers: [UserAddress: Int64]) {
        perform(
            registration.restore(presence, watchers: watchers, at: environment.clock.moment), after: "restorePresence")
    }

    /// Decides, and carries out what was decided.
    private func carryOut<Reply>(
        _ input: String,
        _ decide: (Moment) throws(ServiceRefusal) -> (Reply, [RegistrationAction])
    ) -> Result<Reply, ServiceRefusal>? {
        guard !isRetired else { return nil }
        do throws(ServiceRefusal) {
            let (reply, actions) = try decide(environment.clock.moment)
            perform(actions, after: input)
            return .success(reply)
        } catch {
            perform([], after: input)
            return .failure(error)
        }
    }
}
