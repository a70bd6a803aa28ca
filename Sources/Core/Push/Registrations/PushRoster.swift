/// The registrations of all users, and which of them make room for others.
///
/// A device has one registration: one that has the same `clientCorrelator` as another of the user, or the same token as
/// another of anybody, takes its place. So a telephone belongs to the user who logged in on it last.
package struct PushRoster: Equatable, Sendable {
    /// What has changed, in order. It is to be kept, so that the next process finds the same.
    package enum Change: Hashable, Sendable {
        /// A registration is new, or has other content than before.
        case registered(StoredPushRegistration)
        /// The registration of this name is over.
        case removed(id: String, user: String)
    }

    /// The most registrations of one user, 1 or more. A further one takes the place of the one that was registered
    /// longest ago: apps register whenever they start.
    private let limit: Int
    private var entries: [String: StoredPushRegistration] = [:]
    /// The names of each user's registrations, in the order in which they were made.
    private var names: [String: [String]] = [:]
    private var holders: [PushRegistration.Mark: String] = [:]

    /// Makes an empty roster.
    ///
    /// - Parameter limit: the most registrations of one user, 1 or more.
    package init(limit: Int) { self.limit = limit }

    /// How many registrations there are.
    package var count: Int { entries.count }

    /// The users who have registrations.
    package var users: some Collection<String> { names.keys }

    /// The registrations of a user, in the order in which they were made.
    package func registrations(of user: String) -> [StoredPushRegistration] {
        (names[user] ?? []).compactMap { entries[$0] }
    }

    /// The registration of this name; `nil`: there is none.
    package func registration(_ id: String) -> StoredPushRegistration? { entries[id] }

    /// The registrations behind a name, in the order of names.
    ///
    /// - Parameters:
    ///   - user: only those of this user; `nil`: of all users.
    ///   - id: only names behind this one; `nil`: from the first on.
    package func page(of user: String?, after id: String?, limit: Int) -> [StoredPushRegistration] {
        let names = user.map { self.names[$0] ?? [] } ?? Array(entries.keys)
        return names.filter { name in id.map { name > $0 } ?? true }.sorted().prefix(limit).compactMap { entries[$0] }
    }

    /// Takes over what an earlier process has left. To be called before anything else.
    package mutating func restore(_ stored: [StoredPushRegistration]) {
        for entry in stored.sorted(by: { ($0.time, $0.registration.id) < ($1.time, $1.registration.id) }) {
            insert(entry)
        }
    }

    /// Registers a device. A device of the user that was registered before keeps its name, so that a push that is on
    /// its way still reaches it.
    ///
    /// - Parameters:
    ///   - registration: what the device has sent, with the name that it gets if it is new.
    ///   - time: milliseconds since 1970.
    /// - Returns: the name of the registration, and what has changed.
    package mutating func register(
        _ registration: PushRegistration, account: Int64?, at time: UInt64
    ) -> (id: String, changes: [Change]) {
        let rivals = rivals(of: registration)
        let kept = rivals.first { entries[$0]?.registration.user == registration.user } ?? registration.id
        return (kept, replace(kept, with: registration, account: account, at: time, rivals: rivals))
    }

    /// Changes a registration of a user.
    ///
    /// - Parameters:
    ///   - registration: the new content, under the name of the registration.
    ///   - time: milliseconds since 1970.
    /// - Returns: what has changed; `nil`: the user has no such registration with this provider.
    package mutating func update(
        _ registration: PushRegistration, account: Int64?, at time: UInt64
    ) -> [Change]? {
        guard let old = entries[registration.id]?.registration, old.user == registration.user,
            old.provider == registration.provider
        else { return nil }
        return replace(
            registration.id, with: registration, account: account, at: time, rivals: rivals(of: registration))
    }

    /// Removes a registration.
    ///
    /// - Parameters:
    ///   - user: whose it must be; `nil`: anybody's.
    ///   - provider: with whom it must be; `nil`: with any.
    /// - Returns: what has changed; `nil`: there is no such registration.
    package mutating func remove(_ id: String, of user: String?, at provider: PushProvider? = nil) -> [Change]? {
        guard let entry = entries[id]?.registration, user == nil || entry.user == user,
            provider == nil || entry.provider == provider
        else { return nil }
        return [delete(id)].compactMap(\.self)
    }

    /// Removes a registration because the provider says that its device cannot be reached any more.
    ///
    /// - Parameters:
    ///   - sent: the registration as it was when the push was sent. One that has other tokens by now is not meant.
    ///   - since: since when the device cannot be reached, in milliseconds since 1970. One that was registered
    ///     afterwards is not meant. `nil`: unknown.
    /// - Returns: what has changed; empty: nothing.
    package mutating func removeDead(_ sent: PushRegistration, since: UInt64?) -> [Change] {
        guard let entry = entries[sent.id], entry.registration.target == sent.target,
            since.map({ entry.time <= $0 }) ?? true
        else { return [] }
        return [delete(sent.id)].compactMap(\.self)
    }

    /// Removes the registrations of accounts that are not there any more.
    ///
    /// - Parameters:
    ///   - users: the users who are looked at.
    ///   - account: the number of a user's account; `nil`: the user has none.
    /// - Returns: what has changed.
    package mutating func removeAll(of users: some Sequence<String>, unless account: (String) -> Int64?) -> [Change] {
        var changes: [Change] = []
        for user in users {
            let present = account(user)
            for entry in registrations(of: user) where present == nil || entry.account ?? present != present {
                changes += [delete(entry.registration.id)].compactMap(\.self)
            }
        }
        return changes
    }

    // MARK: - Private

    /// The names of the registrations that a device has already: those of the user with the same name for the device
    /// come first.
    private func rivals(of registration: PushRegistration) -> [String] {
        var rivals: [String] = []
        if let correlator = registration.clientCorrelator {
            rivals = (names[registration.user] ?? []).filter {
                entries[$0]?.registration.clientCorrelator == correlator
            }
        }
        for mark in registration.marks {
            if let holder = holders[mark], !rivals.contains(holder) { rivals.append(holder) }
        }
        return rivals
    }

    private mutating func replace(
        _ id: String, with registration: PushRegistration, account: Int64?, at time: UInt64, rivals: [String]
    ) -> [Change] {
        var changes = rivals.filter { $0 != id }.compactMap { delete($0) }
        if entries[id] == nil {
            // The oldest ones make room.
            let surplus = registrations(of: registration.user).sorted { $0.time < $1.time }
            for old in surplus.prefix(max(0, surplus.count - limit + 1)) {
                changes += [delete(old.registration.id)].compactMap(\.self)
            }
        }
        let entry = StoredPushRegistration(registration.named(id), account: account, time: time)
        insert(entry)
        return changes + [.registered(entry)]
    }

    private mutating func insert(_ entry: StoredPushRegistration) {
        let (id, user) = (entry.registration.id, entry.registration.user)
        if let old = entries[id] {
            for mark in old.registration.marks { holders[mark] = nil }
        } else {
            names[user, default: []].append(id)
        }
        entries[id] = entry
        for mark in entry.registration.marks { holders[mark] = id }
    }

    private mutating func delete(_ id: String) -> Change? {
        guard let old = entries.removeValue(forKey: id)?.registration else { return nil }
        for mark in old.marks where holders[mark] == id { holders[mark] = nil }
        names[old.user]?.removeAll { $0 == id }
        if names[old.user]?.isEmpty == true { names[old.user] = nil }
        return .removed(id: id, user: old.user)
    }
}
