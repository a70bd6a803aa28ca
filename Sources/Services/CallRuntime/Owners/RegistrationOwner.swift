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
        /// The sleep until this time has ended.
        case alarm(MonotonicTime)
        /// The gateway is going to stop: the user's clients should reconnect elsewhere as soon as no call keeps them
        /// here.
        case leave
        /// An input from outside the loop may have changed the deadline.
        case rearm
        /// The sender waits until everything that was posted before has been handled and sent.
        case barrier(AsyncStream<Never>.Continuation)
    }

    nonisolated let user: UserAddress
    nonisolated let inbox = Inbox<Message>()
    private let environment: RuntimeEnvironment
    private let logger: Logger
    private var registration: Registration
    /// The calls that the user has a leg of.
    private var calls: Set<CallID> = [] {
        didSet { callHint.store(calls.first?.rawValue ?? 0, ordering: .relaxed) }
    }
    /// One of those calls, which any thread may read; 0: none.
    private nonisolated let callHint = Atomic<UInt64>(0)
    /// The requests that started the user's calls.
    private var dialled = StartRequests()
    /// The user's display name; empty: none is stored.
    private var displayName = ""
    private var alarm = Alarm()
    /// The owner accepts no new state, because it had nothing left to own.
    private var isRetired = false
    /// Once the gateway is going to stop: the sockets that have been closed for that reason; `nil` before.
    private var sentAway: Set<SocketID>?
    /// The callers of `flush` that wait until no notification is held back any more.
    private var waiting: [AsyncStream<Never>.Continuation] = []

    init(_ user: UserAddress, _ environment: RuntimeEnvironment) {
        self.user = user
        self.environment = environment
        logger = environment.logger
        var random = environment.random.generator
        registration = Registration(
            user: user, configuration: environment.configuration.registration(of: user),
            firstRequest: random.next() >> 1)
    }

    /// Handles messages and deadlines until the owner retires or the task is cancelled.
    func run() async {
        await withDiscardingTaskGroup { group in
            for await message in inbox.messages {
                handle(message)
                guard let time = alarm.arm(for: registration.nextDeadline?.time) else { continue }
                group.addTask { [clock = environment.clock, inbox] in
                    // Fails only if it is cancelled, and then the owner need not be woken any more.
                    do { try await clock.sleep(until: time) } catch { return }
                    inbox.post(.alarm(time))
                }
            }
            group.cancelAll()
        }
    }

    private func handle(_ message: Message) {
        switch message {
        case .sent(let message): handle(message)
        case .confirmed(let channel, let number):
            perform(
                registration.confirmed(channel, through: number, at: environment.clock.moment), after: "confirmed")
        case .alarm(let time):
            alarm.rang(time)
            perform(registration.timeout(at: environment.clock.moment), after: "timeout")
        case .leave:
            sentAway = sentAway ?? []
            settle()
        case .rearm:
            break
        case .barrier(let continuation):
            waiting.append(continuation)
            settle()
        }
    }

    private func handle(_ message: EndpointMessage) {
        switch message {
        case .tell(let entry):
            perform(
                registration.notify(entry.event.audience?.devices ?? [], .call(entry), at: environment.clock.moment),
                after: "tell")
        case .detach(let session):
            let call = registration.attachment(of: session)?.call
            registration.detach(session)
            dialled.remove(session)
            forget(call)
            perform([], after: "detach")
        case .answered(let session):
            registration.answered(session)
        case .move(let session, let leg):
            guard let former = registration.attachment(of: session)?.call else { break }
            // The user may have lost the last device meanwhile; the former call has been told of that.
            guard case .contact = attach(session, leg, as: .own) else { break }
            forget(former)
        }
    }
}

// MARK: - Subscriptions

extension RegistrationOwner {
    /// Makes a subscription; `nil` if the owner has retired, in which case the directory has another one.
    func subscribe(_ request: SubscriptionRequest, displayName: String) throws(RegistrationError) -> SubscriptionGrant?
    {
        guard !isRetired else { return nil }
        defer { settle() }
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

    /// The account was removed: everything of it ends.
    func dismiss() { perform(registration.dismiss(at: environment.clock.moment), after: "dismiss") }

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

// MARK: - Calls

extension RegistrationOwner {
    /// Answers a question of a placement.
    func reply(to question: UserQuestion) -> PlacementReply {
        switch question {
        case .dial(let session, let leg, let request, let device):
            dial(session, leg, with: request, naming: device)
        case .attach(let session, let leg, let role): attach(session, leg, as: role)
        case .contact(let call, let role): contact(besides: call, as: role)
        case .charge: charge()
        case .recall(let request): recall(request)
        case .forget(let session): forgetRequest(of: session)
        case .locate(let session): .address(registration.attachment(of: session))
        case .identify(let session, let name): identify(session, naming: name)
        case .awaitsEnd(let session, let name): .endAwaited(awaitsEnd(of: session, naming: name))
        }
    }

    /// What a call would learn about the user now: `contact`, or `refused` if the user cannot have one more leg.
    private func contact(besides call: CallID, as role: LegRole) -> PlacementReply {
        if let refusal = registration.refusal(as: role) { return .refused(refusal) }
        return .contact(
            Contact(
                endpoint: .devices(registration.devices), displayName: displayName,
                isEngaged: registration.isEngaged(besides: call)))
    }

    /// Makes the user part of a call. From now on the call is told when devices come and go.
    ///
    /// - Returns: `contact`, or `refused` if the user cannot have one more leg.
    private func attach(_ session: SessionID, _ leg: LegAddress, as role: LegRole) -> PlacementReply {
        if let refusal = registration.refusal(of: session, as: role) { return .refused(refusal) }
        let devices = registration.attach(session, to: leg, as: role)
        calls.insert(leg.call)
        if !registration.isReachable { inform(leg, .channelsOpen(false)) }
        reportQuality(of: leg)
        return .contact(
            Contact(
                endpoint: .devices(devices), displayName: displayName,
                isEngaged: registration.isEngaged(besides: leg.call)))
    }

    /// Tells a call which subscriptions of the user ask for quality reports, if any does.
    private func reportQuality(of leg: LegAddress) {
        let receivers = registration.qualityReceivers
        guard !receivers.isEmpty else { return }
        inform(leg, .qualityReporting(to: receivers))
    }

    /// Tells a call of a change of the user's devices.
    private func inform(_ leg: LegAddress, _ change: DeviceChange) {
        environment.router.post(.deviceChanged(leg.leg, change), to: leg.call)
    }

    /// The same for a call that the user starts. The request may have come before, and its answer may have been lost:
    /// then the reply is `repeats`.
    ///
    /// - Parameter name: the name that the request gives to the device it comes from; `nil`: none.
    private func dial(
        _ session: SessionID, _ leg: LegAddress, with request: RequestDigest?, naming name: SubscriptionID?
    ) -> PlacementReply {
        _ = registration.device(naming: name)
        if case let known = recall(request), known != .absent { return known }
        if let refusal = registration.refusal(of: session, as: .own) { return .refused(refusal) }
        if case let charged = charge(), charged != .done { return charged }
        let attached = attach(session, leg, as: .own)
        if case .contact = attached, let request { dialled.insert(request, of: session) }
        return attached
    }

    /// Counts a call that the user is about to start, forward or transfer: `done`, or `refused`.
    private func charge() -> PlacementReply {
        do throws(LegRefusal) {
            try registration.chargeCall(at: environment.clock.now)
            return .done
        } catch {
            return .refused(error)
        }
    }

    /// Forgets the request that started a call, so that the next request like it starts another call: `done`.
    private func forgetRequest(of session: SessionID) -> PlacementReply {
        dialled.remove(session)
        return .done
    }

    /// The call that the same request has started, as long as it lasts: `repeats`, or `absent`.
    private func recall(_ request: RequestDigest?) -> PlacementReply {
        guard let request, let known = dialled[request], let leg = registration.attachment(of: known) else {
            return .absent
        }
        return .repeats(known, leg.call)
    }

    /// The user's legs, in the order in which they were attached.
    var legs: [LegAddress] { registration.attachments }

    /// One of the user's calls, if there was one a moment ago. It is good enough for choosing a worker, not for
    /// decisions.
    nonisolated var anyCall: CallID? {
        let hint = callHint.load(ordering: .relaxed)
        return hint == 0 ? nil : CallID(hint)
    }

    /// Forgets a call that the user has no leg of any more: it need not be told of devices.
    private func forget(_ call: CallID?) {
        guard let call, !registration.isAttached(to: call) else { return }
        calls.remove(call)
    }

    /// The user's leg that this session names, and the device that asks: `requester`.
    private func identify(_ session: SessionID, naming name: SubscriptionID?) -> PlacementReply {
        guard let leg = registration.attachment(of: session) else { return .requester(nil, nil) }
        return .requester(leg, registration.device(naming: name))
    }

    /// Whether a device may not know yet that the session, which names no leg any more, is over.
    ///
    /// - Parameter name: the name that the request gives to the device that asks; `nil`: none.
    private func awaitsEnd(of session: SessionID, naming name: SubscriptionID?) -> Bool {
        // A call that ends posts the news before it takes the session away.
        registration.attachment(of: session) != nil
            || registration.awaitsEnd(of: session, on: name, at: environment.clock.now)
    }

    /// Returns once everything that was posted before has been handled, and sent to the clients that listen. A request
    /// that is not answered delays this no longer than its patience.
    nonisolated func flush() async {
        let (stream, continuation) = AsyncStream.makeStream(of: Never.self)
        guard inbox.post(.barrier(continuation)) else { return }
        for await _ in stream {}
    }
}

// MARK: - Acting

extension RegistrationOwner {
    /// Carries out the actions of one input, in order. What outlives the process comes first, and as one.
    private func perform(_ actions: [RegistrationAction], after input: String) {
        logger.debug(
            "registration input",
            metadata: [
                LogKey.user: "\(Redacted(user))", LogKey.input: "\(input)", LogKey.action: "\(actions.map(\.label))",
            ])
        environment.journal.append(
            actions.compactMap { if case .store(let change) = $0 { .registration(change) } else { nil } })
        for action in actions {
            switch action {
            case .store: break
            case .transmit(let frame, let socket):
                transmit(frame, to: socket)
                environment.observer.notificationSent()
            case .replay(let frame, let socket):
                transmit(frame, to: socket)
                environment.observer.notificationReplayed()
            case .close(let socket, let closure):
                close(socket, ChannelCloseCode(closure))
            case .inform(let call, let leg, let change):
                inform(LegAddress(call: call, leg: leg), change)
            case .discarded(let count, _):
                environment.observer.notificationsDiscarded(count)
            case .subscriptionsChanged(let difference):
                environment.subscriptions.change(by: difference)
                environment.observer.subscriptionsChanged(by: difference)
            }
        }
        settle()
    }

    /// Sends a frame as soon as everything up to now is durable.
    private func transmit(_ frame: NotificationFrame, to socket: SocketID) {
        environment.journal.whenDurable(environment.channels.transmission(of: frame, to: socket))
    }

    /// Closes a socket behind the frames that were sent to it.
    private func close(_ socket: SocketID, _ code: ChannelCloseCode) {
        environment.journal.whenDurable { [channels = environment.channels] in channels.close(socket, code) }
    }

    /// To be called after every input: retires, or sets the timer and wakes callers of `flush`.
    private func settle() {
        if let sentAway, calls.isEmpty, registration.hasToldAll {
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
            inbox.finish()
        } else if alarm.needsArming(for: registration.nextDeadline?.time) {
            inbox.post(.rearm)
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
