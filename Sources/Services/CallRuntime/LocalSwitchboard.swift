package import CallControl
package import Logging
package import Primitives
package import Registration
import Observability
import Synchronization

/// The switchboard of one process: one owner for each user, one for each call, and a way to find them.
///
/// Nothing is handled unless `run()` is running.
package final class LocalSwitchboard: Switchboard, Registrar, CallRecords {
    /// The limits and policies of call handling.
    package struct Configuration: Equatable, Sendable {
        /// The path of media.
        package enum Media: String, Equatable, Sendable {
            /// Media goes through the gateway, which is the SDP peer of each leg.
            case anchored
            /// Descriptions are passed on untouched, and media goes from peer to peer.
            case direct
        }

        /// The path of media in all calls.
        package var media: Media
        /// What happens to a call to a user who has a call already: dialled, ringing or answered.
        package enum BusyPolicy: String, Equatable, Sendable, CaseIterable {
            /// All devices ring: call waiting.
            case ring
            /// No device rings, and the caller is told that the user is busy (486).
            case reject
        }

        /// The most calls at a time, 1 or more; the media plane may allow fewer.
        package var maximumCalls: Int
        /// What happens to a call to a user who has a call already.
        package var busy: BusyPolicy
        /// The times and limits of each call.
        package var call: Call.Configuration
        /// The limits of the subscriptions and legs of a user with an account; those of guests are derived from it.
        package var registration: Registration.Configuration
        /// The most subscriptions of all users and guests together, 1 or more.
        package var maximumSubscriptions: Int
        /// The most messages that are kept for all users together, 0 or more.
        package var maximumKeptMessages: Int
        /// The limits on the subscriptions of users from one network.
        package var networks: NetworkTable.Configuration
        /// How often each user may ask for a subscription.
        package var subscriptionRate: RateAllowance.Rate
        /// The limits on the number of guests.
        package var guests: GuestTable.Configuration
        /// The longest life time of a guest's subscription; it can be extended.
        package var maximumGuestExpires: Duration
        /// The subscription of a guest who is part of no call within this time ends.
        package var guestFirstCallTime: Duration

        /// Makes a configuration of its parts; each parameter is the property of that name.
        package init(
            media: Media = .anchored, maximumCalls: Int = 20_000, busy: BusyPolicy = .ring,
            call: Call.Configuration = .init(),
            registration: Registration.Configuration = .init(), maximumSubscriptions: Int = 100_000,
            maximumKeptMessages: Int = 20_000,
            networks: NetworkTable.Configuration = .init(),
            subscriptionRate: RateAllowance.Rate = .init(burst: 300, interval: .milliseconds(100)),
            guests: GuestTable.Configuration = .init(),
            maximumGuestExpires: Duration = .seconds(300), guestFirstCallTime: Duration = .seconds(30)
        ) {
            self.media = media
            self.maximumCalls = maximumCalls
            self.busy = busy
            self.call = call
            self.registration = registration
            self.maximumSubscriptions = maximumSubscriptions
            self.maximumKeptMessages = maximumKeptMessages
            self.networks = networks
            self.subscriptionRate = subscriptionRate
            self.guests = guests
            self.maximumGuestExpires = maximumGuestExpires
            self.guestFirstCallTime = guestFirstCallTime
        }

        /// The configuration of this user's registration.
        func registration(of user: UserAddress) -> Registration.Configuration {
            user.guest == nil
                ? registration
                : registration.forGuests(maximumExpires: maximumGuestExpires, firstCallTime: guestFirstCallTime)
        }
    }

    let environment: RuntimeEnvironment
    /// The owners of this process.
    let owners = OwnerTable()
    let repository: any UserRepository
    let users: UserDirectory
    let calls: CallDirectory
    let voicemail: VoicemailOwner
    /// Owners that were made, and whose loops are to be run.
    let startedOwners = Inbox<OwnerLoop>()
    private let mediaEvents: MediaEventInbox
    private let executors: [any TaskExecutor]

    /// Makes a switchboard without users and calls.
    ///
    /// - Parameters:
    ///   - mediaEvents: the inbox that the media plane posts its events into.
    ///   - push: wakes devices.
    ///   - recordings: keeps the recordings of applications.
    ///   - streams: connects to the programs of streams.
    ///   - applications: what is called inside the gateway; unused if media goes from peer to peer.
    ///   - log: where the records of calls are kept.
    ///   - eventLog: where the events of calls are kept for programs that read them. `nil`: nowhere.
    ///   - journal: where subscriptions, notifications and events of calls are kept for the next process.
    ///   - random: an unpredictable source, from which identifiers, channel secrets and ICE credentials are drawn.
    ///   - executors: what the owners run on, in turns. The best choice are those that serve requests, so that the path
    ///     from a request to a notification stays on one thread. Without any, owners run wherever Swift runs tasks.
    package init(
        configuration: Configuration, users repository: any UserRepository, media: any MediaPort,
        mediaEvents: MediaEventInbox,
        channels: any ChannelPort, push: any PushPort = NoPushes(),
        recordings: any Recordings = NoRecordings(), streams: any StreamConnector = NoStreamConnector(),
        applications: [RegisteredApplication] = [],
        log: any CallLog = MemoryCallLog(),
        eventLog: (any CallEventLog)? = nil, journal: any Journal = VolatileJournal(),
        clock: any RuntimeClock,
        random: some RandomSource, observer: any RuntimeObserver = SilentObserver(),
        executors: [any TaskExecutor] = [], logger: Logger
    ) {
        environment = RuntimeEnvironment(
            configuration: configuration, router: owners, media: media, channels: channels, push: push,
            recordings: recordings, streams: streams, log: log,
            eventLog: eventLog, journal: journal,
            clock: clock,
            random: SharedRandomSource(random),
            observer: observer, logger: logger)
        self.repository = repository
        self.mediaEvents = mediaEvents
        self.executors = executors
        users = UserDirectory(environment, owners, startedOwners: startedOwners)
        voicemail = VoicemailOwner(environment)
        calls = CallDirectory(maximumCalls: configuration.maximumCalls, owners, environment.newWork)
        register(applications)
        if configuration.media == .anchored {
            let connector = ConnectorOwner(logger: logger)
            owners.set(connector)
            startedOwners.post(.connector(connector))
        }
    }

    /// Serves until the task is cancelled, which should be done after `drain()`. To be called once.
    package func run() async {
        await withTaskExecutorPreference(executors.first) { await runOwners() }
    }

    /// Runs the loops of all owners until the task is cancelled.
    private func runOwners() async {
        await withDiscardingTaskGroup { group in
            group.addTask { await self.passOnMediaEvents() }
            group.addTask { await self.countNetworks() }
            var turn = 0
            for await owner in startedOwners.messages {
                let executor = executors.isEmpty ? nil : executors[turn % executors.count]
                turn += 1
                group.addTask(executorPreference: executor) { await self.serve(owner) }
            }
            group.cancelAll()
        }
    }

    /// Refuses new subscriptions and calls from now on. Users with a call can do everything that was possible before,
    /// except join it with another one.
    package func refuseNewWork() { environment.newWork.isRefused = true }

    /// Takes new subscriptions and calls again, as before ``refuseNewWork()``. Sockets that were closed meanwhile stay
    /// closed; their clients open new ones.
    package func acceptNewWork() { environment.newWork.isRefused = false }

    /// While new work is refused, closes the sockets of users without a call, and returns when the last call has ended
    /// by itself.
    package func lastCallEnded() async {
        let (_, emptied) = await calls.remaining()
        for owner in await users.all { owner.inbox.post(.leave) }
        for await _ in emptied {}
    }

    /// Refuses new subscriptions and calls, ends all calls, and returns when every client that listens has been told.
    /// Subscriptions stay as they are.
    package func drain() async {
        refuseNewWork()
        let (remaining, emptied) = await calls.remaining()
        for owner in remaining { owner.inbox.post(.drain) }
        for await _ in emptied {}
        for owner in await users.all { await owner.flush() }
        do throws(StorageError) {
            // What was sent may wait for the disk.
            try await environment.journal.durable()
        } catch {
            environment.logger.warning("clients are not told all", metadata: [LogKey.error: "\(error.label)"])
        }
    }

    /// Runs the loop of an owner, then removes the owner from its directory.
    private func serve(_ owner: OwnerLoop) async {
        switch owner {
        case .registration(let owner):
            await owner.run()
            // One that was cut off is still the user's.
            if owner.hasRetired.load(ordering: .acquiring) { await users.remove(owner) }
        case .application(let owner):
            await owner.run(asking: self)
            owners.remove(owner)
        case .connector(let owner): await owner.run(asking: self)
        case .call(let owner):
            await owner.run()
            await calls.remove(owner.id)
        }
    }

    /// Counts the subscriptions of networks as they are found or end.
    private func countNetworks() async {
        for await change in environment.networkChanges.messages { await users.note(change) }
    }

    /// Passes the events of the media plane on to the owners of their calls.
    private func passOnMediaEvents() async {
        for await message in mediaEvents.inbox.messages {
            let isRead = owners.call(message.call)?.inbox.post(.media(message.event)) ?? false
            guard !isRead, case .played(let list, let leg) = message.event else { continue }
            _ = environment.tellLate(list, of: LegAddress(call: message.call, leg: leg))
        }
    }
}
