package import CallControl
package import EventAPI
package import Primitives
package import Push
package import Registration

/// Keeps what has to outlive the process: a log of each subscription, and one of each call (docs/adr/0013).
///
/// Nothing is promised before it is kept: an answer to a request waits for `durable()`, and what goes to a socket for
/// `whenDurable`. Entries become durable in the order in which they were added.
package protocol Journal: Sendable {
    /// Whether entries cannot be kept at present, so that requests should be refused before anything is decided.
    var isFailing: Bool { get }
    /// Adds entries, which become durable together or not at all; returns at once.
    func append(_ entries: [JournalEntry])
    /// What is added from now on becomes durable together, once `resume` is called. Actions wait as well.
    func suspend()
    /// Ends what `suspend` has started.
    func resume()
    /// Carries out an action once every entry that was added before is durable. Actions are carried out in the order in
    /// which they were given, one after the other.
    func whenDurable(_ action: @escaping @Sendable () -> Void)
    /// Returns once every entry that was added before is durable, and every action that was given before is carried
    /// out.
    ///
    /// - Throws: `StorageError.failed` if an entry cannot be kept at present. The entry is tried again until it is
    ///   kept.
    func durable() async throws(StorageError)
}

extension Journal {
    /// Adds an entry; returns at once.
    package func append(_ entry: JournalEntry) { append([entry]) }
}

/// One entry of the journal.
package enum JournalEntry: Equatable, Sendable {
    /// An event of a call.
    case event(LoggedEvent)
    /// An event for programs that follow calls.
    case published(Publication)
    /// A change of a user's subscriptions.
    case registration(RegistrationChange)
    /// A guest was admitted.
    case guest(StoredGuest)
    /// A call is over for one of its users. It continues the record that the user has of the same session.
    case record(CallLogRecord)
    /// The user has removed the record of this session, or all (`nil`) but those that await their continuation.
    case recordRemoved(UserAddress, SessionID?)
    /// A change of the registrations for push.
    case pushRegistration(PushRoster.Change)
    /// A device is owed a push.
    case push(OwedPush)
    /// The push of this name is not owed any more.
    case pushSettled(String)
    /// A guest has come with a token with which nobody else may come.
    case tokenUsed(UsedToken)
}

/// A single-use token with which a guest has come.
package struct UsedToken: Hashable, Sendable {
    /// The realm whose key has signed it.
    package var realm: String
    /// Its name within the realm: `jti`.
    package var identifier: String
    /// When it expires, milliseconds since 1970. After that nobody has to know it any more.
    package var expiresAt: Int64

    /// Makes a value of its parts; each parameter is the property of that name.
    package init(realm: String, identifier: String, expiresAt: Int64) {
        self.realm = realm
        self.identifier = identifier
        self.expiresAt = expiresAt
    }
}

/// A guest as it outlives the process. It is gone with its subscription.
package struct StoredGuest: Equatable, Sendable {
    /// The guest.
    package var guest: GuestID
    /// The account that the guest may call.
    package var account: UserAddress
    /// The network that the guest comes from; `nil`: unknown.
    package var network: SourceNetwork?

    /// Makes a value of its parts; each parameter is the property of that name.
    package init(guest: GuestID, account: UserAddress, network: SourceNetwork?) {
        self.guest = guest
        self.account = account
        self.network = network
    }
}

/// What a process finds when it starts.
package struct JournalContents: Equatable, Sendable {
    /// The guests whose subscriptions there are.
    package var guests: [StoredGuest]
    /// The subscriptions, with their notifications.
    package var subscriptions: [RestoredSubscription]
    /// The events of calls that have not ended, and of those that have ended of late; of each call in order.
    package var calls: [[LoggedEvent]]
    /// What is kept for the services of users.
    package var services: StoredServices
    /// The registrations for push.
    package var pushRegistrations: [StoredPushRegistration]
    /// The pushes that devices are owed, in the order in which they were decided.
    package var owedPushes: [OwedPush]
    /// The single-use tokens with which guests have come, in no order; some may have expired.
    package var usedTokens: [UsedToken]
    /// When the last process is last known to have run, milliseconds since 1970; 0: never.
    package var stoppedAt: Int64
    /// The rows that could not be understood. They are kept elsewhere, so that an operator can look at them.
    package var setAside: [SetAsideRow]

    /// Makes contents of their parts; each parameter is the property of that name.
    package init(
        guests: [StoredGuest] = [], subscriptions: [RestoredSubscription] = [], calls: [[LoggedEvent]] = [],
        services: StoredServices = .init(), pushRegistrations: [StoredPushRegistration] = [],
        owedPushes: [OwedPush] = [], usedTokens: [UsedToken] = [], stoppedAt: Int64 = 0,
        setAside: [SetAsideRow] = []
    ) {
        self.guests = guests
        self.subscriptions = subscriptions
        self.calls = calls
        self.services = services
        self.pushRegistrations = pushRegistrations
        self.owedPushes = owedPushes
        self.usedTokens = usedTokens
        self.stoppedAt = stoppedAt
        self.setAside = setAside
    }
}

/// A part of a journal that could not be understood.
package struct SetAsideRow: Equatable, Sendable {
    /// The table that it stood in.
    package var table: String
    /// What is wrong, without any content.
    package var reason: String

    /// Makes a value of its parts; each parameter is the property of that name.
    package init(table: String, reason: String) {
        self.table = table
        self.reason = reason
    }
}

/// A journal that keeps nothing: all is forgotten with the process.
package struct VolatileJournal: Journal {
    /// Makes the journal.
    package init() {}
    /// Never.
    package var isFailing: Bool { false }
    /// Does nothing.
    package func append(_ entries: [JournalEntry]) {}
    /// Does nothing.
    package func suspend() {}
    /// Does nothing.
    package func resume() {}
    /// Carries the action out at once.
    package func whenDurable(_ action: @escaping @Sendable () -> Void) { action() }
    /// Returns at once.
    package func durable() async {}
}
