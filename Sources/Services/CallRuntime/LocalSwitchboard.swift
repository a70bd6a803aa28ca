package import CallControl
package import Logging
package import Primitives
import Synchronization

/// The switchboard of one process: one owner per user, one per call, and a way to each.
///
/// Nothing moves unless `run()` runs.
package final class LocalSwitchboard: Switchboard {
    package struct Configuration: Equatable, Sendable {
        package enum Media: String, Equatable, Sendable {
            /// The gateway terminates media.
            case anchored
            /// Descriptions pass untouched, media goes from peer to peer.
            case direct
        }

        package var media: Media
        /// What becomes of a call to a user who has a call already, dialled, ringing or answered.
        package enum BusyPolicy: String, Equatable, Sendable, CaseIterable {
            /// All devices ring: call waiting.
            case ring
            /// The caller is told that the user is busy (486), and nothing rings.
            case reject
        }

        /// Calls at a time, 1 or more; the media plane may allow fewer.
        package var maximumCalls: Int
        package var busy: BusyPolicy
        package var call: Call.Configuration
        package var registration: Registration.Configuration
        package var guests: GuestBook.Configuration
        /// The longest life time of a guest's subscription that is not extended.
        package var maximumGuestExpires: Duration
        /// A guest that is part of no call within this time is gone.
        package var guestFirstCallTime: Duration

        package init(
            media: Media = .anchored, maximumCalls: Int = 20_000, busy: BusyPolicy = .ring,
            call: Call.Configuration = .init(),
            registration: Registration.Configuration = .init(), guests: GuestBook.Configuration = .init(),
            maximumGuestExpires: Duration = .seconds(300), guestFirstCallTime: Duration = .seconds(30)
        ) {
            self.media = media
            self.maximumCalls = maximumCalls
            self.busy = busy
            self.call = call
            self.registration = registration
            self.guests = guests
            self.maximumGuestExpires = maximumGuestExpires
            self.guestFirstCallTime = guestFirstCallTime
        }

        func registration(of user: UserAddress) -> Registration.Configuration {
            user.guest == nil
                ? registration
                : registration.forGuests(maximumExpires: maximumGuestExpires, firstCallTime: guestFirstCallTime)
        }
    }

    let environment: RuntimeEnvironment
    let repository: any UserRepository
    let users: UserDirectory
    let calls: CallDirectory
    let newcomers = Inbox<OwnerLoop>()
    private let mediaEvents: MediaEventInbox
    private let executors: [any TaskExecutor]
    let isDraining = Atomic<Bool>(false)

    /// - Parameters:
    ///   - mediaEvents: what the media plane was given to post its events into.
    ///   - log: where records of calls go.
    ///   - random: unpredictable; identifiers, channel secrets and ICE credentials come from it.
    ///   - executors: what owners run on, in turns; best those that requests are served on, so that the way from a request to a
    ///     notification need not change threads. Without any, wherever Swift runs tasks.
    package init(
        configuration: Configuration, users repository: any UserRepository, media: any MediaPort,
        mediaEvents: MediaEventInbox,
        channels: any ChannelPort, log: any CallLog = MemoryCallLog(), clock: any RuntimeClock,
        random: some RandomSource, observer: any RuntimeObserver = SilentObserver(),
        executors: [any TaskExecutor] = [], logger: Logger
    ) {
        environment = RuntimeEnvironment(
            configuration: configuration, media: media, channels: channels, log: log, clock: clock,
            random: SharedRandomSource(random),
            observer: observer, logger: logger)
        self.repository = repository
        self.mediaEvents = mediaEvents
        self.executors = executors
        users = UserDirectory(environment, newcomers: newcomers)
        calls = CallDirectory(maximumCalls: configuration.maximumCalls)
    }

    /// Serves until the task is cancelled; to be called once. Cancel it after `drain()`.
    package func run() async {
        await withTaskExecutorPreference(executors.first) { await runOwners() }
    }

    private func runOwners() async {
        await withDiscardingTaskGroup { group in
            group.addTask { await self.forwardMediaEvents() }
            var turn = 0
            for await owner in newcomers.messages {
                let executor = executors.isEmpty ? nil : executors[turn % executors.count]
                turn += 1
                group.addTask(executorPreference: executor) { await self.serve(owner) }
            }
            group.cancelAll()
        }
    }

    /// Refuses new subscriptions and calls from now on, sends away who has no call, and returns when the last call has ended by itself.
    /// Whoever has a call can do with it what was possible before, but for joining it with another one.
    package func drainPatiently() async {
        isDraining.store(true, ordering: .releasing)
        let (_, emptied) = await calls.beginDraining()
        for owner in await users.all { owner.inbox.post(.leave) }
        for await _ in emptied {}
    }

    /// Refuses new subscriptions and calls, ends the calls there are, and returns when everybody who listens has been told.
    /// Subscriptions stay as they are.
    package func drain() async {
        isDraining.store(true, ordering: .releasing)
        let (remaining, emptied) = await calls.beginDraining()
        for owner in remaining { owner.inbox.post(.drain) }
        for await _ in emptied {}
        for owner in await users.all { await owner.flush() }
    }

    private func serve(_ owner: OwnerLoop) async {
        switch owner {
        case .registration(let owner):
            await owner.run()
            await users.remove(owner)
        case .call(let owner):
            await owner.run()
            await calls.remove(owner.id)
        }
    }

    private func forwardMediaEvents() async {
        for await message in mediaEvents.inbox.messages {
            await calls.owner(of: message.call)?.inbox.post(.media(message.event))
        }
    }
}
