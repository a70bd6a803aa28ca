package import CallControl
package import Primitives

/// One user's subscriptions, the sockets that listen to them, and the user's legs of calls.
///
///                 subscribe                       unsubscribe, forceLogOut,
///                     │                           replaced by its correlator
///                     ▼      extend
///     ┌──────────▶ active ──────────┐        ┌──────────────────────────▶ ending ──▶ removed
///     │               │  ▲──────────┘        │                              ▲
///     └── extend ── expired (grace) ─────────┴──── grace is over: `gone` ───┘
///
/// An ending subscription takes no requests. It stays until its last notifications have been sent and its socket is
/// closed. The table is in docs/call-states.md.
package struct Registration: Equatable, Sendable {
    /// Why the registration set a timer.
    package enum Timer: Hashable, Sendable {
        /// The life time of a subscription and its grace are over.
        case expiry
        /// A client is to be told that it should extend its subscription.
        case reminder
        /// A request has taken too long, and holds back no notifications any more.
        case requestPatience
        /// A client has had time to digest an answer.
        case digestion
        /// The socket of a deleted subscription is to be closed.
        case closing
        /// Notifications have become too old to be replayed.
        case replayAge
        /// The user's call rate has recovered: the user may start as many calls as if it had started none.
        case callRate
        /// The user's devices may be woken as often as if they had never been.
        case wakes
        /// The user may send as many messages as if it had sent none.
        case messageRate
        /// Messages were kept for long enough.
        case keptMessages
        /// A watch or a subscription to events was not renewed.
        case interests
        /// The time of a user who watches this one is over.
        case watchers
    }

    /// The user whose registration it is.
    package let user: UserAddress
    /// The services, limits and times.
    let configuration: Configuration
    /// The account whose registration it is; `nil`: a guest has none, or it is not known yet.
    package internal(set) var account: AccountIdentity?
    /// The subscriptions, in the order in which they started.
    var subscriptions: [Subscription] = []
    /// Finds those of channels.
    var places = ChannelPlaces()
    /// The requests in flight, which hold back notifications.
    var gate: RequestGate
    /// Whether the calls have been told that a client listens.
    var wasReachable = false
    /// What the calls have been told of `qualityReceivers`.
    private var toldQualityReceivers: [SubscriptionID] = []
    /// The user's legs of calls.
    var sessions = SessionTable()
    /// How often the user has started calls of late.
    private var starts = RateAllowance()
    /// How often calls have woken the user's devices of late.
    var wakes = WakeAllowance()
    /// Messages, presence, and what the user watches.
    var services: ServiceState
    /// The successors of subscriptions that were replaced while the user had legs; they get what is on its way to the
    /// subscriptions that they replaced.
    var successors: [SubscriptionID: SubscriptionID] = [:]

    /// Makes a registration without subscriptions.
    ///
    /// - Parameter firstRequest: the number of the first request ticket; random.
    package init(user: UserAddress, configuration: Configuration = Configuration(), firstRequest: UInt64) {
        self.user = user
        self.configuration = configuration
        services = ServiceState(configuration)
        gate = RequestGate(
            firstNumber: firstRequest, patience: configuration.requestPatience, answerTime: configuration.answerTime,
            sessionTime: configuration.sessionTime)
    }
}

// MARK: - Subscriptions

extension Registration {
    /// Makes a subscription (spidr-wire §3.1). It replaces the one with the same correlator, and all others if the
    /// request says so.
    ///
    /// - Returns: what was granted.
    /// - Throws: `unsupportedServices` if none of the services is offered, or `limitOfSubscriptions`.
    package mutating func subscribe(
        _ request: SubscriptionRequest, as identity: SubscriptionIdentity, at now: Moment
    ) throws(RegistrationError) -> (grant: SubscriptionGrant, actions: [RegistrationAction]) {
        let services = try granted(request)
        let former = former(of: request)
        let leaving = request.forceLogOut ? active.map(\.id) : former.map { [$0.id] } ?? []
        guard active.count - leaving.count < configuration.maximumSubscriptions else {
            throw .limitOfSubscriptions(configuration.maximumSubscriptions)
        }
        let expires = lifeTime(for: request)
        let subscription = Subscription(
            id: identity.subscription, channel: identity.channel, clientCorrelator: request.clientCorrelator,
            sendsRingingFeedback: request.sendsRingingFeedback, deviceService: configuration.deviceService,
            services: services, network: request.network,
            expiry: now.monotonic + expires, reminder: reminder(for: expires, from: now.monotonic),
            callDeadline: configuration.firstCallTime.map { now.monotonic + $0 },
            queue: NotificationQueue(
                user: user, channel: identity.channel, firstEventID: identity.firstEventID,
                configuration: configuration.queue))
        subscriptions.append(subscription)

        // The new device comes before the old ones go, so that no call finds the user without a device in between.
        var stored = subscription.stored(of: user, account, at: now)
        stored.replaced = former?.id
        var actions: [RegistrationAction] = [.store(.subscribed(stored)), .subscriptionsChanged(by: 1)]
        if let device = subscription.device {
            actions += inform(
                .joined(
                    device, replacing: former?.device?.subscription, clientCorrelator: request.clientCorrelator))
            if let former, former.device != nil { succeed(former.id, by: device.subscription) }
        }
        for id in leaving {
            let isReplaced = id == former?.id && subscription.device != nil
            actions += end(id, saying: id == former?.id ? .overridden : .gone, informing: !isReplaced, at: now)
        }
        return (
            grant(for: subscription, expires: expires, requested: request.services),
            actions + qualityReporting() + pump(at: now.monotonic)
        )
    }

    /// Extends the life time of a subscription, and changes its services if the request names any (spidr-wire §3.2).
    ///
    /// - Throws: `noSuchSubscription`, or `unsupportedServices` if none of the services named is offered.
    package mutating func extend(
        _ id: SubscriptionID, _ request: SubscriptionRequest, at now: Moment
    ) throws(RegistrationError) -> (grant: SubscriptionGrant, actions: [RegistrationAction]) {
        guard let index = activeIndex(of: id) else { throw .noSuchSubscription }
        var wanted = request
        if wanted.services.isEmpty { wanted.services = subscriptions[index].services }
        let services = try granted(wanted)
        let expires = lifeTime(for: request)
        let former = subscriptions[index].device
        subscriptions[index].services = services
        subscriptions[index].expiry = now.monotonic + expires
        subscriptions[index].reminder = reminder(for: expires, from: now.monotonic)

        var actions: [RegistrationAction] = [
            .store(.subscribed(subscriptions[index].stored(of: user, account, at: now)))
        ]
        if let network = request.network, subscriptions[index].network == nil {
            actions.append(.networkChanged(.found(network)))
            subscriptions[index].network = network
        }
        switch (former, subscriptions[index].device) {
        case (nil, let device?):
            let correlator = subscriptions[index].clientCorrelator
            actions += inform(.joined(device, replacing: nil, clientCorrelator: correlator))
        case (.some, nil): actions += inform(.left(id, othersRemain: false))
        case (nil, nil), (.some, .some): break
        }
        return (
            grant(for: subscriptions[index], expires: expires, requested: request.services),
            actions + qualityReporting() + deliverKept(at: now)
        )
    }

    /// Ends a subscription at its client's request. Its socket stays open for `closeDelay`.
    ///
    /// - Throws: `noSuchSubscription`.
    package mutating func unsubscribe(_ id: SubscriptionID, at now: Moment) throws(RegistrationError)
        -> [RegistrationAction]
    {
        guard let index = activeIndex(of: id) else { throw .noSuchSubscription }
        let actions = end(id, saying: nil, informing: true, at: now)
        if configuration.closeDelay > .zero, subscriptions[index].socket != nil {
            subscriptions[index].closing = now.monotonic + configuration.closeDelay
        }
        return actions + noteAbsence() + qualityReporting() + pump(at: now.monotonic)
    }
}

// MARK: - The user's legs

extension Registration {
    /// The devices that ring when the user is called.
    package var devices: [Device] { subscriptions.compactMap(\.device) }

    /// Gives the user a leg of a call.
    ///
    /// - Parameter wakes: the call wakes devices of the user that are asleep.
    /// - Returns: the devices that the leg may ring or notify. From now on the call is informed of every change. If
    ///   there is a `refusal`, nothing is attached and the result is empty.
    package mutating func attach(
        _ session: SessionID, to attachment: LegAddress, as role: LegRole = .own, waking wakes: Bool = false
    ) -> [Device] {
        guard refusal(of: session, as: role, waking: wakes) == nil else { return [] }
        for index in subscriptions.indices { subscriptions[index].callDeadline = nil }
        switch role {
        case .own: sessions.insert(session, attachment)
        case .rung(let caller): sessions.insert(session, attachment, ringingBy: Ringer(caller))
        }
        return devices
    }

    /// Why the user cannot have one more leg; `nil`: it can. A leg that the user already has can always move to another
    /// call.
    ///
    /// - Parameters:
    ///   - session: the session of the leg; `nil`: it has none yet.
    ///   - wakes: the call wakes devices of the user that are asleep.
    package func refusal(
        of session: SessionID? = nil, as role: LegRole, waking wakes: Bool = false
    ) -> LegRefusal? {
        if devices.isEmpty, !wakes { return .noDevice }
        if let session, sessions[session] != nil { return nil }
        if sessions.count >= configuration.maximumLegs { return .limitOfLegs }
        switch role {
        case .own: return nil
        case .rung(let caller):
            let share = (configuration.maximumRinging + 1) / 2
            let isFull =
                sessions.ringingCount >= configuration.maximumRinging
                || sessions.ringingCount(by: Ringer(caller)) >= share
            return isFull ? .limitOfRinging : nil
        }
    }

    /// Whether the user has a leg that rings.
    package var isRung: Bool { sessions.ringingCount > 0 }

    /// The leg was answered, and does not ring any more.
    package mutating func answered(_ session: SessionID) { sessions.silence(session) }

    /// Counts a call that the user is about to start, forward or transfer.
    ///
    /// - Throws: `tooOften`.
    package mutating func chargeCall(at now: MonotonicTime) throws(LegRefusal) {
        if let wait = starts.charge(configuration.callRate, at: now) { throw .tooOften(retryAfter: wait) }
    }

    /// The user's device that a request comes from; `nil` if that is unknown. A request that names no device comes from
    /// the only device that never named itself, if there is exactly one.
    ///
    /// - Parameter name: the device that the request names; `nil`: none. A name that is not of a device of this user
    ///   means that the request comes from none of them.
    package mutating func device(naming name: SubscriptionID?) -> Device? {
        if let name {
            guard let index = activeIndex(of: name), let device = subscriptions[index].device else { return nil }
            subscriptions[index].namesItself = true
            return device
        }
        let silent = active.filter { $0.device != nil && !$0.namesItself }
        return silent.count == 1 ? silent[0].device : nil
    }

    /// The session is over, and the user has this leg no more. Without another leg that is established, the user is not
    /// on the phone any more.
    @discardableResult
    package mutating func detach(_ session: SessionID) -> [RegistrationAction] {
        sessions.remove(session)
        if sessions.isEmpty { successors = [:] }
        return tellPresence()
    }

    /// Whether the user has a leg of this call.
    package func isAttached(to call: CallID) -> Bool { sessions.contains(call) }

    /// The user's legs, in the order in which they were attached.
    package var attachments: [LegAddress] { sessions.attachments }

    /// Whether the user has a leg of any other call.
    package func isEngaged(besides call: CallID) -> Bool { sessions.contains(otherThan: call) }

    /// The leg that a session names; `nil`: none of this user.
    package func attachment(of session: SessionID) -> LegAddress? { sessions[session] }

    /// The subscriptions that ask for reports on the quality of the user's calls.
    package var qualityReceivers: [SubscriptionID] {
        receivers(of: Configuration.qualityService)
    }

    /// Notifies those of the subscriptions that still exist, and the successors of those that were replaced.
    package mutating func notify(_ receivers: [SubscriptionID], _ notice: Notice, at now: Moment)
        -> [RegistrationAction]
    {
        gate.timeout(at: now.monotonic)
        var actions: [RegistrationAction] = []
        for index in indices(of: successors.isEmpty ? receivers : receivers.map { successors[$0] ?? $0 }) {
            actions += tellLoss(at: index, at: now)
            append(notice, to: index, at: now, &actions)
        }
        actions += pump(at: now.monotonic)
        return actions
    }
}

// MARK: - Requests and time

extension Registration {
    /// A request of the user has started. What is notified from now on waits until it is answered.
    ///
    /// - Returns: the number of the request ticket.
    package mutating func requestStarted(at now: MonotonicTime) -> UInt64 { gate.start(at: now) }

    /// A client makes a request about a session, and so knows it: what waited for that is sent.
    package mutating func sessionMentioned(_ session: SessionID, at now: MonotonicTime) -> [RegistrationAction] {
        gate.mention(session)
        return pump(at: now)
    }

    /// A request has been answered: what waited for that is sent.
    ///
    /// - Parameter answer: what the client has to digest before it is told more about it; `nil`: nothing.
    package mutating func requestAnswered(
        _ number: UInt64, _ answer: AnsweredRequest? = nil, at now: MonotonicTime
    ) -> [RegistrationAction] {
        gate.answer(number, answer, at: now)
        return pump(at: now)
    }

    /// A timer has fired. If the time of `nextDeadline` has not come, nothing happens.
    package mutating func timeout(at now: Moment) -> [RegistrationAction] {
        gate.timeout(at: now.monotonic)
        starts.timeout(at: now.monotonic)
        wakes.timeout(at: now.monotonic)
        services.sent.timeout(at: now.monotonic)
        var actions: [RegistrationAction] = []
        for subscription in active where subscription.end(after: configuration.grace) <= now.monotonic {
            actions += revoke(subscription.id, at: now)
        }
        for index in subscriptions.indices where subscriptions[index].isReminderDue(at: now.monotonic) {
            actions += remind(at: index, at: now)
        }
        for index in subscriptions.indices where subscriptions[index].closing.map({ $0 <= now.monotonic }) ?? false {
            subscriptions[index].closing = nil
        }
        actions += noteAbsence() + timeoutServices(at: now)
        return actions + qualityReporting() + pump(at: now.monotonic) + forgetOld(at: now.monotonic)
    }

    /// The earliest time at which `timeout` has something to do, and why; `nil`: never, as things stand.
    package var nextDeadline: Deadline<Timer>? {
        // Every input of every user asks for it, so that no list is made, and no subscription is copied.
        var earliest: Deadline<Timer>?
        func consider(_ time: MonotonicTime?, _ timer: Timer) {
            if let time { earliest = .earlier(earliest, Deadline(time, timer)) }
        }
        for index in subscriptions.indices {
            if !subscriptions[index].isEnding {
                consider(subscriptions[index].end(after: configuration.grace), .expiry)
                consider(subscriptions[index].reminder, .reminder)
            }
            consider(subscriptions[index].closing, .closing)
            consider(subscriptions[index].queue.nextDeadline, .replayAge)
        }
        consider(gate.patienceEnd, .requestPatience)
        // If no client waits for it, it is handled when something else happens.
        if !hasToldAll { consider(gate.digestionEnd, .digestion) }
        if let deadline = services.nextDeadline { consider(deadline.time, deadline.reason) }
        if isVacant {
            consider(starts.clearAt, .callRate)
            consider(wakes.clearAt, .wakes)
            consider(services.sent.clearAt, .messageRate)
        }
        return earliest
    }

    /// Whether the registration can be removed: no client could come back for anything in it, and it holds no rate
    /// limit that still binds the user.
    package var isIdle: Bool { isVacant && starts.clearAt == nil && wakes.clearAt == nil && services.isIdle }

    /// Whether there are neither subscriptions nor requests nor legs.
    private var isVacant: Bool { subscriptions.isEmpty && !gate.hasRequests && sessions.isEmpty }
}

// MARK: - Parts

extension Registration {
    /// Informs all legs of the user if other subscriptions than before ask for quality reports.
    mutating func qualityReporting() -> [RegistrationAction] {
        let receivers = qualityReceivers
        guard receivers != toldQualityReceivers else { return [] }
        toldQualityReceivers = receivers
        return inform(.qualityReporting(to: receivers))
    }

    /// Records the successor of a replaced subscription, and of those that it had succeeded.
    private mutating func succeed(_ former: SubscriptionID, by successor: SubscriptionID) {
        guard !sessions.isEmpty else { return }
        for (id, known) in successors where known == former { successors[id] = successor }
        successors[former] = successor
    }
}
