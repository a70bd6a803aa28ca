package import CallControl
package import Primitives

/// A kind of events that can be subscribed to (RFC 6665 §4.5.1).
package enum EventPackage: String, Hashable, Sendable, Codable, CaseIterable {
    /// The presence of users (RFC 3856).
    case presence
    /// The number of voice messages of the user who subscribes (RFC 3842).
    case messageSummary
}

/// One subscription to events (spidr-wire §10).
package struct EventSubscription: Equatable, Sendable {
    /// Its name: `sessionData`.
    package var id: String
    /// What is told.
    package var kind: EventPackage
    /// The users whose presence is told; empty in the package `messageSummary`.
    package var users: [UserAddress]
    /// When it is over.
    package var end: MonotonicTime

    /// Makes a subscription of its parts; each parameter is the property of that name.
    package init(id: String, kind: EventPackage, users: [UserAddress], end: MonotonicTime) {
        self.id = id
        self.kind = kind
        self.users = users
        self.end = end
    }
}

/// What one subscription to events is told.
package struct EventReport: Hashable, Sendable, Codable {
    /// The name of the subscription to events.
    package var subscription: String
    /// The presence of a user; `nil` in the package `messageSummary`.
    package var presence: PresenceReport?
    /// The number of voice messages; `nil` in the package `presence`.
    package var voicemail: VoicemailCount?

    /// Reports the presence of a user.
    package init(_ presence: PresenceReport, to subscription: String) {
        self.subscription = subscription
        self.presence = presence
    }

    /// Reports the number of voice messages.
    package init(_ voicemail: VoicemailCount, to subscription: String) {
        self.subscription = subscription
        self.voicemail = voicemail
    }

    /// The package of the subscription.
    package var kind: EventPackage { presence == nil ? .messageSummary : .presence }
}

/// What was granted of a wish to watch users.
package struct WatchGrant: Equatable, Sendable {
    /// How long the watch lasts.
    package var time: Duration
    /// Some of the users are not watched, because as many others watch them as may.
    package var isPartial: Bool

    /// Makes a grant of its parts.
    package init(_ time: Duration, isPartial: Bool = false) {
        self.time = time
        self.isPartial = isPartial
    }
}

/// What one user watches: the presence of users, each until a time of its own, and subscriptions to events.
package struct Interests: Equatable, Sendable {
    /// The limits of what one user may watch.
    package struct Configuration: Equatable, Sendable {
        /// How long a watch lasts that is not renewed. Clients renew it at half of this time (spidr-wire §9).
        package var watchTime: Duration
        /// The shortest time of a subscription to events; a shorter one is raised to it.
        package var minimumEventTime: Duration
        /// The longest time of a subscription to events; a longer one is cut to it.
        package var maximumEventTime: Duration
        /// The most users whom one user may watch, 1 or more.
        package var maximumWatched: Int
        /// The most users who may watch one user, 1 or more.
        package var maximumWatchers: Int
        /// The most subscriptions to events that one user may have, 1 or more.
        package var maximumEventSubscriptions: Int

        /// Makes limits of their parts; each parameter is the property of that name.
        package init(
            watchTime: Duration = .seconds(3_600), minimumEventTime: Duration = .seconds(60),
            maximumEventTime: Duration = .seconds(86_400), maximumWatched: Int = 200, maximumWatchers: Int = 1_000,
            maximumEventSubscriptions: Int = 20
        ) {
            self.watchTime = watchTime
            self.minimumEventTime = minimumEventTime
            self.maximumEventTime = maximumEventTime
            self.maximumWatched = maximumWatched
            self.maximumWatchers = maximumWatchers
            self.maximumEventSubscriptions = maximumEventSubscriptions
        }
    }

    private let configuration: Configuration
    private var watched: [UserAddress: MonotonicTime] = [:]
    /// The subscriptions to events, in the order in which they started.
    package private(set) var events: [EventSubscription] = []

    /// Makes interests of nobody in nothing.
    package init(_ configuration: Configuration) { self.configuration = configuration }

    /// Whether nothing is watched.
    package var isEmpty: Bool { watched.isEmpty && events.isEmpty }

    /// Whether the user watches this one by `presenceWatcher`.
    package func watches(_ user: UserAddress) -> Bool { watched[user] != nil }

    /// The subscriptions to events that are told of the presence of a user.
    package func events(about user: UserAddress) -> [String] {
        events.filter { $0.kind == .presence && $0.users.contains(user) }.map(\.id)
    }

    /// The subscriptions to events that are told of the user's own voice mail.
    package var voicemailEvents: [String] { events.filter { $0.kind == .messageSummary }.map(\.id) }

    /// The users of whose presence the user is told, in whatever way.
    private var watchedUsers: Set<UserAddress> { Set(watched.keys).union(events.flatMap(\.users)) }

    /// Starts to watch users, or goes on watching them.
    ///
    /// - Returns: how long the watch lasts.
    /// - Throws: `limitOfWatched`, and nothing changes.
    package mutating func watch(_ users: [UserAddress], at now: MonotonicTime) throws(ServiceRefusal) -> Duration {
        try checkRoom(for: watchedUsers.union(users))
        for user in users { watched[user] = now + configuration.watchTime }
        return configuration.watchTime
    }

    /// Stops watching users.
    ///
    /// - Returns: those of whose presence the user need not be told any more.
    package mutating func stopWatching(_ users: [UserAddress]) -> [UserAddress] {
        forgetting { interests in
            for user in users { interests.watched[user] = nil }
        }
    }

    /// Starts a subscription to events.
    ///
    /// - Parameter wished: how long it is to last; `nil`: as long as a watch.
    /// - Returns: how long it lasts.
    /// - Throws: `limitOfEventSubscriptions` or `limitOfWatched`, and nothing changes.
    package mutating func subscribe(
        _ id: String, to kind: EventPackage, of users: [UserAddress], for wished: Duration?, at now: MonotonicTime
    ) throws(ServiceRefusal) -> Duration {
        guard events.count < configuration.maximumEventSubscriptions else {
            throw .limitOfEventSubscriptions(configuration.maximumEventSubscriptions)
        }
        try checkRoom(for: watchedUsers.union(users))
        let time = eventTime(wished)
        events.append(EventSubscription(id: id, kind: kind, users: users, end: now + time))
        return time
    }

    /// Lets a subscription to events last longer.
    ///
    /// - Parameter users: the users whose presence is told from now on; `nil`: the same as before.
    /// - Returns: how long it lasts; and the users of whose presence the user need not be told any more.
    /// - Throws: `noSuchEventSubscription` or `limitOfWatched`, and nothing changes.
    package mutating func extend(
        _ id: String, of users: [UserAddress]?, for wished: Duration?, at now: MonotonicTime
    ) throws(ServiceRefusal) -> (time: Duration, left: [UserAddress]) {
        guard let index = events.firstIndex(where: { $0.id == id }) else { throw .noSuchEventSubscription }
        if let users { try checkRoom(for: watchedUsers.union(users)) }
        let time = eventTime(wished)
        let left = forgetting { interests in
            interests.events[index].end = now + time
            if let users { interests.events[index].users = users }
        }
        return (time, left)
    }

    /// The subscription to events of this name; `nil`: there is none.
    package func event(_ id: String) -> EventSubscription? { events.first { $0.id == id } }

    /// Ends a subscription to events.
    ///
    /// - Returns: the users of whose presence the user need not be told any more.
    /// - Throws: `noSuchEventSubscription`.
    package mutating func unsubscribe(_ id: String) throws(ServiceRefusal) -> [UserAddress] {
        guard event(id) != nil else { throw .noSuchEventSubscription }
        return forgetting { $0.events.removeAll { $0.id == id } }
    }

    /// Stops watching everything.
    ///
    /// - Returns: the users who were watched.
    package mutating func removeAll() -> [UserAddress] {
        forgetting {
            $0.watched = [:]
            $0.events = []
        }
    }

    /// Forgets what was not renewed in time. The watched users forget it by themselves.
    ///
    /// - Returns: whether anything was forgotten.
    package mutating func timeout(at now: MonotonicTime) -> Bool {
        guard let nextDeadline, nextDeadline <= now else { return false }
        watched = watched.filter { $0.value > now }
        events.removeAll { $0.end <= now }
        return true
    }

    /// When the next watch or subscription to events is over; `nil`: there is none.
    package var nextDeadline: MonotonicTime? {
        let (watch, event) = (watched.values.min(), events.lazy.map(\.end).min())
        guard let watch, let event else { return watch ?? event }
        return min(watch, event)
    }

    // MARK: Private

    private func checkRoom(for users: Set<UserAddress>) throws(ServiceRefusal) {
        guard users.count <= configuration.maximumWatched else {
            throw .limitOfWatched(configuration.maximumWatched)
        }
    }

    private func eventTime(_ wished: Duration?) -> Duration {
        min(max(wished ?? configuration.watchTime, configuration.minimumEventTime), configuration.maximumEventTime)
    }

    /// Carries out a change, and returns the users who are not watched any more by it.
    private mutating func forgetting(_ change: (inout Interests) -> Void) -> [UserAddress] {
        let former = watchedUsers
        change(&self)
        return former.subtracting(watchedUsers).sorted { $0.text < $1.text }
    }
}

// MARK: - What outlives the process

/// What one user watches, as it outlives the process. Times are milliseconds since 1970.
package struct StoredInterests: Equatable, Sendable, Codable {
    /// One user who is watched.
    package struct Watch: Equatable, Sendable, Codable {
        /// The user.
        package var user: UserAddress
        /// When the watch is over.
        package var end: Int64

        /// Makes a watch of its parts.
        package init(_ user: UserAddress, end: Int64) {
            self.user = user
            self.end = end
        }
    }

    /// One subscription to events.
    package struct Event: Equatable, Sendable, Codable {
        /// Its name.
        package var id: String
        /// What is told.
        package var kind: EventPackage
        /// The users whose presence is told.
        package var users: [UserAddress]
        /// When it is over.
        package var end: Int64

        /// Makes a subscription of its parts; each parameter is the property of that name.
        package init(id: String, kind: EventPackage, users: [UserAddress], end: Int64) {
            self.id = id
            self.kind = kind
            self.users = users
            self.end = end
        }
    }

    /// The users who are watched by `presenceWatcher`, in the order of their addresses.
    package var watched: [Watch]
    /// The subscriptions to events.
    package var events: [Event]

    /// Makes interests of their parts; each parameter is the property of that name.
    package init(watched: [Watch] = [], events: [Event] = []) {
        self.watched = watched
        self.events = events
    }

    /// Until when each user is watched, in whatever way.
    package var ends: [UserAddress: Int64] {
        Dictionary(
            watched.map { ($0.user, $0.end) } + events.flatMap { event in event.users.map { ($0, event.end) } },
            uniquingKeysWith: max)
    }
}

extension Interests {
    /// The interests as they outlive the process; `nil`: nothing is watched.
    package func stored(at now: Moment) -> StoredInterests? {
        guard !isEmpty else { return nil }
        return StoredInterests(
            watched: watched.map { .init($0.key, end: now.epochMilliseconds(at: $0.value)) }
                .sorted { $0.user.text < $1.user.text },
            events: events.map {
                .init(id: $0.id, kind: $0.kind, users: $0.users, end: now.epochMilliseconds(at: $0.end))
            })
    }

    /// Takes over the interests of a user from a process that has ended.
    package mutating func restore(_ stored: StoredInterests, at now: Moment) {
        for watch in stored.watched { watched[watch.user] = now.monotonic(at: watch.end) }
        events += stored.events.map {
            EventSubscription(id: $0.id, kind: $0.kind, users: $0.users, end: now.monotonic(at: $0.end))
        }
    }
}

extension Moment {
    /// What the wall clock shows when the monotonic clock shows this time, milliseconds since 1970.
    package func epochMilliseconds(at time: MonotonicTime) -> Int64 {
        epochMilliseconds + (time - monotonic).wholeNanoseconds / 1_000_000
    }

    /// What the monotonic clock shows when the wall clock shows this time, milliseconds since 1970.
    package func monotonic(at time: Int64) -> MonotonicTime { monotonic + .milliseconds(time - epochMilliseconds) }
}
