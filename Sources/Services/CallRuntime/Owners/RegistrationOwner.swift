import CallControl
import Logging
import Observability
import Primitives

/// Owns one user's `Registration`. Every input is decided and carried out without suspending in between.
///
/// An owner that has nothing left to own retires: it accepts no new state, and the directory makes another owner.
actor RegistrationOwner {
    /// An input that is posted to the loop.
    enum Message: Sendable {
        case notify([SubscriptionID], Notification)
        /// For all subscriptions that were granted a service.
        case notifyService(String, Notification)
        /// A leg of the user is over.
        case detach(SessionID)
        /// A leg of the user rings no more, and goes on.
        case answered(SessionID)
        /// A leg of the user is part of another call now.
        case move(SessionID, CallOwner, Leg)
        case alarm(MonotonicTime)
        /// The gateway is going to stop: the user's clients should reconnect elsewhere as soon as no call keeps them
        /// here.
        case leave
        /// An input from outside the loop may have changed the deadline.
        case rearm
        /// The sender waits until everything that was posted before has been handled and sent.
        case barrier(AsyncStream<Never>.Continuation)
    }

    /// What a call learns about a user it attaches to.
    struct Contact: Sendable {
        var devices: [Device]
        var displayName: String
        /// Has another call, dialled, ringing or answered.
        var isEngaged: Bool
    }

    enum Beginning: Sendable {
        case now(Contact)
        case before(SessionID, CallOwner)
    }

    nonisolated let user: UserAddress
    nonisolated let inbox = Inbox<Message>()
    private let environment: RuntimeEnvironment
    private let logger: Logger
    private var registration: Registration
    private var calls: [CallID: CallOwner] = [:]
    /// Which request each session began with that the user began, as long as it lasts.
    private var beginnings: [SessionID: RequestDigest] = [:]
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
        case .notify(let receivers, let notification):
            perform(registration.notify(receivers, notification, at: environment.clock.moment), after: "notify")
        case .notifyService(let service, let notification):
            let receivers = registration.subscriptions(granted: service)
            perform(registration.notify(receivers, notification, at: environment.clock.moment), after: "notifyService")
        case .detach(let session):
            let call = registration.attachment(of: session)?.call
            registration.detach(session)
            beginnings[session] = nil
            forget(call)
            perform([], after: "detach")
        case .answered(let session):
            registration.answered(session)
        case .move(let session, let call, let leg):
            guard let former = registration.attachment(of: session)?.call else { break }
            // The user may have lost the last device meanwhile, of which the former call has been told.
            do throws(LegRefusal) { _ = try attach(session, leg, of: call, as: .own) } catch { break }
            forget(former)
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
    func channelOpened(_ channel: ChannelID, on socket: SocketID) -> Bool {
        do throws(RegistrationError) {
            perform(
                try registration.channelOpened(channel, on: socket, at: environment.clock.moment),
                after: "channelOpened")
            return true
        } catch {
            return false
        }
    }

    /// A socket has closed. One that had been replaced before is ignored.
    func channelClosed(_ channel: ChannelID, on socket: SocketID) {
        perform(registration.channelClosed(channel, on: socket), after: "channelClosed")
    }

    /// A request of the user has started; `nil` if the owner has retired, in which case the directory has another one.
    ///
    /// - Parameter session: the session that the request is about.
    func requestBegan(about session: SessionID?) -> RequestTicket? {
        guard !isRetired else { return nil }
        if let session { perform(registration.sessionMentioned(session), after: "sessionMentioned") }
        defer { settle() }
        return RequestTicket(user: user, number: registration.requestBegan(at: environment.clock.now))
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
    /// Whom a call could reach now.
    func contact(besides call: CallID, as role: LegRole) throws(LegRefusal) -> Contact {
        if let refusal = registration.refusal(as: role) { throw refusal }
        return Contact(
            devices: registration.devices, displayName: displayName, isEngaged: registration.isEngaged(besides: call))
    }

    /// Makes the user part of a call, which from now on is told when devices come and go.
    func attach(_ session: SessionID, _ leg: Leg, of call: CallOwner, as role: LegRole) throws(LegRefusal) -> Contact {
        if let refusal = registration.refusal(of: session, as: role) { throw refusal }
        let devices = registration.attach(session, to: Registration.Attachment(call: call.id, leg: leg), as: role)
        calls[call.id] = call
        if !registration.isReachable { call.inbox.post(.deviceChanged(leg, .channelsOpen(false))) }
        return Contact(devices: devices, displayName: displayName, isEngaged: registration.isEngaged(besides: call.id))
    }

    /// Makes the user part of a call. From now on the call is told when devices come and go.
    ///
    /// - Parameter name: what the request calls the device it is from.
    func begin(
        _ session: SessionID, of call: CallOwner, with request: RequestDigest?, naming name: SubscriptionID?
    ) throws(LegRefusal) -> Beginning {
        _ = registration.device(naming: name)
        if let (known, call) = earlier(request) { return .before(known, call) }
        if let refusal = registration.refusal(of: session, as: .own) { throw refusal }
        try chargeCall()
        let contact = try attach(session, .caller, of: call, as: .own)
        beginnings[session] = request
        return .now(contact)
    }

    /// Counts a call that the user is about to begin, or to send to somebody else.
    func chargeCall() throws(LegRefusal) { try registration.chargeCall(at: environment.clock.now) }

    /// The next request like the one that began it begins another call.
    func forgetBeginning(of session: SessionID) { beginnings[session] = nil }

    /// What the same request has begun, as long as it lasts.
    func earlier(_ request: RequestDigest?) -> (session: SessionID, call: CallOwner)? {
        guard let request, let known = beginnings.first(where: { $0.value == request })?.key,
            let (call, _) = leg(of: known)
        else { return nil }
        return (known, call)
    }

    /// The user's legs, in the order of their coming.
    var legs: [(call: CallOwner, leg: Leg)] {
        registration.attachments.compactMap { attachment in calls[attachment.call].map { ($0, attachment.leg) } }
    }

    /// One of the user's calls, if there are any.
    var anyCall: CallID? { calls.keys.first }

    /// Forgets a call that the user has no leg of any more: it need not be told of devices.
    private func forget(_ call: CallID?) {
        guard let call, !registration.isAttached(to: call) else { return }
        calls[call] = nil
    }

    /// The user's leg of that name; somebody else's is none.
    func leg(of session: SessionID) -> (call: CallOwner, leg: Leg)? {
        guard let attachment = registration.attachment(of: session), let call = calls[attachment.call] else {
            return nil
        }
        return (call, attachment.leg)
    }

    /// The same, with the device that asks.
    ///
    /// - Parameter name: what the request calls it.
    func leg(of session: SessionID, naming name: SubscriptionID?) -> (call: CallOwner, leg: Leg, device: Device?)? {
        leg(of: session).map { ($0.call, $0.leg, registration.device(naming: name)) }
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
    private func perform(_ actions: [RegistrationAction], after input: String) {
        logger.debug(
            "registration input",
            metadata: [
                LogKey.user: "\(Redacted(user))", LogKey.input: "\(input)", LogKey.action: "\(actions.map(\.label))",
            ])
        for action in actions {
            switch action {
            case .transmit(let frame, let socket):
                environment.channels.transmit(frame, to: socket)
                environment.observer.notificationSent()
            case .replay(let frame, let socket):
                environment.channels.transmit(frame, to: socket)
                environment.observer.notificationReplayed()
            case .close(let socket, let closure):
                environment.channels.close(socket, ChannelCloseCode(closure))
            case .inform(let call, let leg, let change):
                calls[call]?.inbox.post(.deviceChanged(leg, change))
            case .discarded(let count, _):
                environment.observer.notificationsDiscarded(count)
            case .subscriptionsChanged(let difference):
                environment.observer.subscriptionsChanged(by: difference)
            }
        }
        settle()
    }

    /// To be called after every input: retires, or sets the timer and wakes callers of `flush`.
    private func settle() {
        if let sentAway, calls.isEmpty, registration.hasToldAll {
            let sockets = registration.sockets.filter { !sentAway.contains($0) }
            self.sentAway?.formUnion(sockets)
            for socket in sockets { environment.channels.close(socket, .goingAway) }
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
