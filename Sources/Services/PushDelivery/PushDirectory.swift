package import CallControl
package import CallRuntime
package import Observability
package import Primitives
package import Push
package import Registration
import Sockets
import Synchronization

/// The owner of all registrations for push, and the only one who changes them.
package actor PushDirectory: PushRegistrar {
    private var roster: PushRoster
    /// A device, and the pushes that it takes.
    private struct Receiver {
        var registration: PushRegistration
        var account: Int64?
        var takesCalls: Bool
        var takesSilent: Bool
        var takesMessageWaiting: Bool

        var device: SleepingDevice {
            SleepingDevice(PushDeviceID(registration.id), clientCorrelator: registration.clientCorrelator)
        }

        func takes(_ use: SilentPushUse) -> Bool {
            switch use {
            case .subscription: takesSilent
            case .messageWaiting: takesSilent && takesMessageWaiting
            }
        }
    }

    /// The devices of each user that take any pushes: what ``devices(of:account:)`` and ``current(_:)`` read at once.
    /// It is written here only, with every change of the roster.
    private nonisolated let sleeping = Lock<[String: [Receiver]]>([:])
    /// The providers that pushes can be sent to.
    private let providers: Set<PushProvider>
    private let users: any UserRepository
    private let journal: any Journal
    private let clock: any RuntimeClock
    private let metrics: GatewayMetrics
    private var random: any RandomSource

    /// Makes a directory with what an earlier process has left.
    ///
    /// - Parameters:
    ///   - limit: the most registrations of one user, 1 or more.
    ///   - providers: those that pushes can be sent to. A device of another one cannot be woken.
    ///   - users: the accounts.
    ///   - journal: where changes are kept.
    ///   - random: an unpredictable source, from which the names of registrations are drawn.
    package init(
        limit: Int, restoring stored: [StoredPushRegistration] = [],
        providers: Set<PushProvider> = Set(PushProvider.allCases), users: any UserRepository, journal: any Journal,
        clock: any RuntimeClock, metrics: GatewayMetrics, random: any RandomSource
    ) {
        var roster = PushRoster(limit: limit)
        roster.restore(stored)
        self.roster = roster
        self.providers = providers
        self.users = users
        self.journal = journal
        self.clock = clock
        self.metrics = metrics
        self.random = random
        metrics.pushRegistrations.set(Int64(roster.count))
        let sleeping = Dictionary(
            roster.users.map { ($0, Self.devices(of: $0, in: roster, providers)) },
            uniquingKeysWith: { first, _ in first })
        self.sleeping.withLock { $0 = sleeping.filter { !$0.value.isEmpty } }
    }

    /// The devices of a user that want to be woken for calls; see `PushPort`.
    package nonisolated func devices(of user: UserAddress, account: AccountIdentity?) -> [SleepingDevice] {
        receivers(of: user, account).filter(\.takesCalls).map(\.device)
    }

    /// The devices of a user that take silent pushes of a kind; see `PushPort`.
    ///
    /// Those about a device's own subscription go to it whatever the services are that it has registered for.
    package nonisolated func devices(
        of user: UserAddress, account: AccountIdentity?, forSilent use: SilentPushUse
    ) -> [SleepingDevice] {
        receivers(of: user, account).filter { $0.takes(use) }.map(\.device)
    }

    /// A registration as it is now, with its present token; answers at once.
    ///
    /// - Returns: `nil` if the user has it no more, or no push can be sent to it.
    package nonisolated func current(_ registration: PushRegistration) -> PushRegistration? {
        sleeping.withLock { sleeping in
            sleeping[registration.user]?.first { $0.registration.id == registration.id }?.registration
        }
    }

    /// Registers a device; see `PushRegistrar`.
    ///
    /// - Throws: `StorageError.noSuchUser`; `StorageError.failed`.
    package func register(
        _ registration: PushRegistration, of user: UserAddress
    ) async throws(StorageError) -> PushDeviceID {
        let account = try await account(of: user)
        // With a hyphen in front, `orbweaver push remove` would take the name for an option.
        let named = registration.named(
            random.nextToken(Self.nameLength, alphabet: .url).replacing("-", with: "a"))
        // Those of a former account may not have ended yet, and lend no name.
        let ended = roster.removeAll(of: [user.text]) { _ in account }
        let (id, changes) = roster.register(named, account: account, at: now)
        note(ended + changes)
        return PushDeviceID(id)
    }

    /// Changes a registration; see `PushRegistrar`.
    ///
    /// - Throws: `StorageError.noSuchUser`; `StorageError.failed`.
    package func update(_ registration: PushRegistration, of user: UserAddress) async throws(StorageError) -> Bool {
        let account = try await account(of: user)
        guard let changes = roster.update(registration, account: account, at: now) else { return false }
        note(changes)
        return true
    }

    /// Removes a registration; see `PushRegistrar`.
    package func remove(
        _ device: PushDeviceID, of user: UserAddress?, at provider: PushProvider?
    ) -> PushRegistration? {
        let removed = registration(device)
        guard let changes = roster.remove(device.rawValue, of: user?.text, at: provider) else { return nil }
        note(changes)
        return removed
    }

    /// The registrations of a user, in the order in which they were made.
    package func registrations(of user: UserAddress) -> [StoredPushRegistration] { roster.registrations(of: user.text) }

    /// The registrations behind a name; see `PushRegistrar`.
    package func page(of user: UserAddress?, after device: PushDeviceID?, limit: Int) -> [StoredPushRegistration] {
        roster.page(of: user?.text, after: device?.rawValue, limit: limit)
    }

    /// The registration of this name; `nil`: there is none.
    func registration(_ device: PushDeviceID) -> PushRegistration? {
        roster.registration(device.rawValue)?.registration
    }

    /// Removes a registration because the provider says that its device cannot be reached any more; see
    /// `PushRoster`.
    ///
    /// - Returns: whether it was removed.
    func removeDead(_ sent: PushRegistration, since: UInt64?) -> Bool {
        let changes = roster.removeDead(sent, since: since)
        note(changes)
        return !changes.isEmpty
    }

    /// Removes the registrations of accounts that were removed, disabled, or followed by another of the same address.
    ///
    /// - Throws: `StorageError.failed` if the accounts cannot be read.
    package func dismissRemovedUsers() async throws(StorageError) {
        // A user who is registered by now had an account at that time.
        let known = Array(roster.users)
        guard !known.isEmpty else { return }
        let accounts = try await users.identities()
        note(
            roster.removeAll(of: known) { user in
                UserAddress(parsing: user).flatMap { accounts[$0] }?.rawValue
            })
    }

    // MARK: - Private

    /// The length of a name: about 72 random bits. Names are no secrets: a registration is found only by its user.
    private static let nameLength = 12

    /// The services of registrations that want to know how many voice messages there are, in lower case.
    private static let messageWaitingServices = ["mwi", "event:message-summary"]

    /// The devices of an account that take any pushes.
    ///
    /// - Parameter account: the account; `nil`: unknown, so that all devices of the address are meant.
    private nonisolated func receivers(of user: UserAddress, _ account: AccountIdentity?) -> [Receiver] {
        let receivers = sleeping.withLock { $0[user.text] ?? [] }
        guard let account else { return receivers }
        // Registrations end a moment after the account. Another account of the same address has others.
        return receivers.filter { $0.account ?? account.rawValue == account.rawValue }
    }

    private var now: UInt64 { UInt64(clamping: clock.epochMilliseconds) }

    private func account(of user: UserAddress) async throws(StorageError) -> Int64 {
        guard let found = try await users.user(user) else { throw .noSuchUser(user) }
        return found.identity.rawValue
    }

    private func note(_ changes: [PushRoster.Change]) {
        guard !changes.isEmpty else { return }
        journal.append(changes.map { .pushRegistration($0) })
        metrics.pushRegistrations.set(Int64(roster.count))
        let users = Set(
            changes.map { change in
                switch change {
                case .registered(let stored): stored.registration.user
                case .removed(_, let user): user
                }
            })
        let devices = users.map { ($0, Self.devices(of: $0, in: roster, providers)) }
        sleeping.withLock { sleeping in
            for (user, devices) in devices { sleeping[user] = devices.isEmpty ? nil : devices }
        }
    }

    private static func devices(of user: String, in roster: PushRoster, _ providers: Set<PushProvider>) -> [Receiver] {
        roster.registrations(of: user).filter { providers.contains($0.registration.provider) }.map { stored in
            let registration = stored.registration
            return Receiver(
                registration: registration, account: stored.account,
                takesCalls: registration.takesCalls && registration.wants("call"),
                takesSilent: registration.takesSilentPushes,
                takesMessageWaiting: messageWaitingServices.contains(where: registration.wants))
        }
    }
}
