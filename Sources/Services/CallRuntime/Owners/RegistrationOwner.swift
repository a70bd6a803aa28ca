import CallControl
import Logging
import Observability
import Primitives
import Registration
import Synchronization

/// Owns one user's `Registration`. Every input is decided and carried out without suspending in between.
///
/// An owner that has nothing left to own retires: it accepts no new state, and the directory makes another owner.
actor RegistrationOwner {
    /// An input that is posted to the loop.
    enum Message: Sendable {
        /// A call tells the endpoint something.
        case sent(EndpointMessage)
        /// A client has received everything that was sent on the channel up to a number.
        case confirmed(ChannelID, through: UInt64)
        /// It is this time, for which the alarm was set.
        case alarm(MonotonicTime)
        /// The gateway is going to stop: the user's clients should reconnect elsewhere as soon as no call keeps them
        /// here.
        case leave
        /// The sender waits until everything that was posted before has been handled and sent.
        case barrier(AsyncStream<Never>.Continuation)
    }

    nonisolated let user: UserAddress
    /// The network that the user, a guest, comes from; `nil`: unknown, or the user has an account.
    nonisolated let network: SourceNetwork?
    nonisolated let inbox = Inbox<Message>()
    let environment: RuntimeEnvironment
    private let logger: Logger
    var registration: Registration
    /// The calls that the user has a leg of.
    var calls: Set<CallID> = [] {
        didSet { callHint.store(calls.first?.rawValue ?? 0, ordering: .relaxed) }
    }
    /// One of those calls, which any thread may read; 0: none.
    nonisolated let callHint = Atomic<UInt64>(0)
    /// The requests that started the user's calls.
    var dialled = StartRequests()
    /// The user's display name; empty: none is stored.
    var displayName = ""
    private var alarm = Alarm()
    /// The owner accepts no new state, because it had nothing left to own.
    private(set) var isRetired = false
    /// The same for any thread.
    nonisolated let hasRetired = Atomic(false)
    /// Once the gateway is going to stop: the sockets that have been closed for that reason; `nil` before.
    private var sentAway: Set<SocketID>?
    /// A message is being handled, behind which the alarm is set.
    private var isHandling = false
    /// The callers of `flush` that wait until no notification is held back any more.
    private var waiting: [AsyncStream<Never>.Continuation] = []

    init(_ user: UserAddress, _ environment: RuntimeEnvironment, network: SourceNetwork?) {
        self.user = user
        self.network = network
        self.environment = environment
        logger = environment.logger
        var random = environment.random.generator
        registration = Registration(
            user: user, configuration: environment.configuration.registration(of: user),
            firstRequest: random.next() >> 1)
    }

    /// Handles messages and deadlines until the owner retires or the task is cancelled.
    func run() async {
        for await message in inbox.messages {
            isHandling = true
            let mayMoveDeadline = handle(message)
            isHandling = false
            if mayMoveDeadline, !isRetired { arm() }
        }
        alarm.cancel()
    }

    private func arm() {
        alarm.arm(for: registration.nextDeadline?.time, by: environment.clock) { [inbox] in inbox.post(.alarm($0)) }
    }

    /// - Returns: whether the next deadline may be another one than before. To look for it takes a look at each
    ///   subscription.
    private func handle(_ message: Message) -> Bool {
        switch message {
        case .sent(let message): handle(message)
        case .confirmed(let channel, let number):
            guard let actions = registration.confirmed(channel, through: number, at: environment.clock.moment) else {
                return false
            }
            perform(actions, after: "confirmed")
        case .alarm(let time):
            alarm.rang(time)
            perform(registration.timeout(at: environment.clock.moment), after: "timeout")
        case .leave:
            sentAway = sentAway ?? []
            settle()
        case .barrier(let continuation):
            waiting.append(continuation)
            settle()
        }
        return true
    }

    private func handle(_ message: EndpointMessage) {
        switch message {
        case .tell(let entry, _):
            perform(
                registration.notify(entry.event.audience?.devices ?? [], .call(entry), at: environment.clock.moment),
                after: "tell")
        case .detach(let session):
            let call = registration.attachment(of: session)?.call
            let actions = registration.detach(session)
            dialled.remove(session)
            forget(call)
            perform(actions, after: "detach")
        case .answered(let session):
            registration.answered(session)
        case .established(let session):
            perform(registration.established(session), after: "established")
        case .move(let session, let leg):
            guard let former = registration.attachment(of: session)?.call else { break }
            // The user may have lost the last device meanwhile; the former call has been told of that.
            guard case .contact = attach(session, leg, as: .own) else { break }
            forget(former)
        case .service(let owed): tell(owed)
        case .streamAsks, .endedLate: break  // users have no streams, and play no lists
        }
    }
}

// MARK: - Subscriptions

extension RegistrationOwner {
    /// Makes a subscription; `nil` if the owner has retired, in which case the directory has another one.
    ///
    /// - Parameter account: the account that asks; `nil`: a guest, or unknown.
    func subscribe(
        _ request: SubscriptionRequest, displayName: String, account: AccountIdentity? = nil
    ) throws(RegistrationError) -> SubscriptionGrant? {
        guard !isRetired else { return nil }
        defer { settle() }
        let ended = registration.belongs(to: account, at: environment.clock.moment)
        if !ended.isEmpty { perform(ended, after: "account") }
        // With the former account, everything that it owned may have gone.
        guard !isRetired else { return nil }
        var random = environment.random.generator
        let (grant, actions) = try registration.subscribe(
            request, as: SubscriptionIdentity(random: &random, prefix: user.resourcePrefix),
            at: environment.clock.moment)
        self.displayName = displayName
        perform(actions, after: "subscribe")
        return grant
    }

    /// Takes over the user's subscriptions from a process that has ended. To be called before the loop runs.
    func restore(_ subscriptions: [RestoredSubscription], displayName: String) {
        self.displayName = displayName
        for subscription in subscriptions {
            perform(registration.restore(subscription, at: environment.clock.moment), after: "restore")
        }
    }

    /// Tells the user's devices an event of a call whose process has ended. To be called before the loop runs.
    func tellRestored(_ entry: LoggedEvent) {
        perform(
            registration.notify(entry.event.audience?.devices ?? [], .call(entry), at: environment.clock.moment),
            after: "tellRestored")
    }

    /// Extends a subscription, and changes its services if the request names any.
    ///
    /// - Throws: `noSuchSubscription`, or `unsupportedServices`.
    func extend(_ subscription: SubscriptionID, _ request: SubscriptionRequest) throws(RegistrationError)
        -> SubscriptionGrant
    {
        let (grant, actions) = try registration.extend(subscription, request, at: environment.clock.moment)
        perform(actions, after: "extend")
        return grant
    }

    /// The subscription of the device of this name; `nil`: there is none.
    func subscription(correlator: String) -> SubscriptionID? { registration.subscription(correlator: correlator) }

    /// Whether a call rings, or wakes devices: one that subscribes now can answer it.
    var isRung: Bool { registration.isRung }

    /// Whether a subscription that is asked for takes the place of another one.
    func replaces(_ request: SubscriptionRequest) -> Bool { registration.replaces(request) }

    /// Whether there is a subscription of this name that has not ended.
    func subscriptionExists(_ subscription: SubscriptionID) -> Bool { registration.subscriptionExists(subscription) }

    /// The account whose registration it is; `nil`: unknown.
    var account: AccountIdentity? { registration.account }

    /// An account was removed: everything of it ends, unless the registration belongs to another one already.
    ///
    /// - Parameter account: what `account` was when the account was there; `nil`: unknown.
    func dismiss(_ account: AccountIdentity?) {
        guard account == registration.account else { return }
        perform(registration.dismiss(at: environment.clock.moment), after: "dismiss")
    }

    /// An operator ends a subscription; `false` if there is none of that name.
    func dismiss(_ subscription: SubscriptionID) -> Bool {
        guard let actions = registration.dismiss(subscription, at: environment.clock.moment) else { return false }
        perform(actions, after: "dismissSubscription")
        return true
    }

    /// Ends a subscription at its client's request.
    ///
    /// - Throws: `noSuchSubscription`.
    func unsubscribe(_ subscription: SubscriptionID) throws(RegistrationError) {
        perform(try registration.unsubscribe(subscription, at: environment.clock.moment), after: "unsubscribe")
    }
}

// MARK: - Channel and requests

extension RegistrationOwner {
    /// Whether the channel belongs to a subscription that has not ended.
    func channelExists(_ channel: ChannelID) -> Bool { registration.channelExists(channel) }

    /// A socket has opened on the channel; `false` if the channel has ended.
    func channelOpened(_ channel: ChannelID, on socket: SocketID, since latest: UInt64?) -> Bool {
        do throws(RegistrationError) {
            perform(
                try registration.channelOpened(channel, on: socket, since: latest, at: environment.clock.moment),
                after: "channelOpened")
            return true
        } catch {
            return false
        }
    }

    /// A socket has closed. One that had been replaced before is ignored.
    func channelClosed(_ channel: ChannelID, on socket: SocketID) {
        perform(registration.channelClosed(channel, on: socket, at: environment.clock.now), after: "channelClosed")
    }

    /// A request of the user has started; `nil` if the owner has retired, in which case the directory has another one.
    ///
    /// - Parameter session: the session that the request is about; `nil`: it names none.
    func requestStarted(about session: SessionID?) -> RequestTicket? {
        guard !isRetired else { return nil }
        if let session {
            perform(registration.sessionMentioned(session, at: environment.clock.now), after: "sessionMentioned")
        }
        defer { settle() }
        return RequestTicket(user: user, number: registration.requestStarted(at: environment.clock.now))
    }

    /// A request has been answered: notifications that it held back are sent.
    func requestAnswered(_ ticket: RequestTicket) {
        perform(
            registration.requestAnswered(ticket.number, ticket.answer, at: environment.clock.now),
            after: "requestAnswered")
    }
}

// MARK: - Acting

extension RegistrationOwner {
    /// Carries out the actions of one input, in order. What outlives the process comes first, and as one; other
    /// registrations are told at the same time.
    ///
    /// - Parameter settled: the number of the owed message that is the input; `nil`: the input is another one.
    func perform(_ actions: [RegistrationAction], after input: String, settling settled: UInt64? = nil) {
        logger.debug(
            "registration input",
            metadata: [
                LogKey.user: "\(Redacted(user))", LogKey.input: "\(input)", LogKey.action: "\(actions.map(\.label))",
            ])
        var entries = actions.compactMap { action -> JournalEntry? in
            if case .store(let change) = action { .registration(change) } else { nil }
        }
        if let settled { entries.append(.registration(.service(.settled([settled])))) }
        environment.append(
            entries,
            telling: actions.compactMap { if case .tell(let user, let message) = $0 { (user, message) } else { nil } },
            owing: actions.flatMap { action -> [OwedPush] in
                guard case .push(let push) = action else { return [] }
                return environment.pushes(owedBy: push, to: user, account: registration.account, message: settled)
            })
        var frames: [AddressedFrame] = []
        for action in actions {
            switch action {
            case .store, .tell, .push: break
            case .transmit(let frame, let socket):
                frames.append(AddressedFrame(frame, to: socket))
                environment.observer.notificationSent()
            case .replay(let frame, let socket):
                frames.append(AddressedFrame(frame, to: socket))
                environment.observer.notificationReplayed()
            case .close(let socket, let closure):
                transmit(&frames)
                close(socket, ChannelCloseCode(closure))
            case .inform(let call, let leg, let change):
                inform(LegAddress(call: call, leg: leg), change)
            case .keptMessagesChanged(let difference):
                environment.keptMessages.change(by: difference)
            case .discarded(let count, _):
                environment.observer.notificationsDiscarded(count)
            case .subscriptionsChanged(let difference):
                environment.subscriptions.change(by: difference)
                environment.observer.subscriptionsChanged(by: difference)
            case .networkChanged(let change):
                environment.networkChanges.post(change)
            }
        }
        transmit(&frames)
        settle()
    }

    /// Sends frames as soon as everything up to now is durable, and takes them out.
    private func transmit(_ frames: inout [AddressedFrame]) {
        guard !frames.isEmpty else { return }
        environment.journal.whenDurable(environment.channels.transmission(of: frames))
        frames = []
    }

    /// Closes a socket behind the frames that were sent to it.
    private func close(_ socket: SocketID, _ code: ChannelCloseCode) {
        environment.journal.whenDurable { [channels = environment.channels] in channels.close(socket, code) }
    }

    /// To be called after every input: retires, or sets the alarm and wakes callers of `flush`.
    private func settle() {
        if let sentAway, environment.newWork.isRefused, calls.isEmpty, registration.hasToldAll {
            let sockets = registration.sockets.filter { !sentAway.contains($0) }
            self.sentAway?.formUnion(sockets)
            for socket in sockets { close(socket, .goingAway) }
        }
        if !waiting.isEmpty, registration.hasToldAll {
            for continuation in waiting { continuation.finish() }
            waiting = []
        }
        guard !isRetired else { return }
        if registration.isIdle {
            isRetired = true
            hasRetired.store(true, ordering: .releasing)
            inbox.finish()
        } else if !isHandling {
            arm()
        }
    }
}

extension ChannelCloseCode {
    /// 1000 only if the subscription is really over: a client does not come back after it (spidr-wire §4.4).
    init(_ closure: ChannelClosure) {
        switch closure {
        case .subscriptionEnded: self = .normal
        case .replaced: self = .policyViolation
        }
    }
}
