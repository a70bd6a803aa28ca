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
/// An ending subscription takes no request any more; it stays until its last notifications are out and its socket
/// is closed. See docs/call-states.md for the table.
package struct Registration: Equatable, Sendable {
    package struct Configuration: Equatable, Sendable {
        /// Services a subscription can be granted, lower case.
        package var services: Set<String>
        /// The one among them that calls need.
        package var deviceService: String
        /// Bounds of the life time of a subscription, and what is granted to those who ask for none.
        package var minimumExpires: Duration
        package var maximumExpires: Duration
        package var defaultExpires: Duration
        /// How long an expired subscription can still be extended before it is `gone` (spidr-wire §3.4).
        package var grace: Duration
        /// Subscriptions one user may have, 1 or more.
        package var maximumSubscriptions: Int
        /// A subscription is gone if the user is part of no call within this time; `nil`: it need not call.
        package var firstCallTime: Duration?
        /// Legs of calls the user may have at a time, 1 or more.
        package var maximumLegs: Int
        /// Of these, legs that ring and that nobody has answered, 1 or more. One caller has half of them at most, so that nobody
        /// shuts out all others.
        package var maximumRinging: Int
        /// How often the user may begin a call, or send one to somebody else.
        package var callRate: RateAllowance.Rate
        /// How long notifications wait at most for a request to be answered.
        package var requestPatience: Duration
        /// How long a client hears nothing of a session after the answer to its own request about it (spidr-wire §12.1): before
        /// that it may not know yet that the request has succeeded. Zero: it hears at once.
        package var answerTime: Duration
        /// The same after an answer that names a new session. The client's first request about the session ends it.
        package var sessionTime: Duration
        /// How long the socket of a subscription stays open after its client has deleted it. A client that loses the socket before
        /// it has read the answer takes it for a lost connection (spidr-wire §12.1).
        package var closeDelay: Duration
        package var queue: NotificationQueue.Configuration

        package init(
            services: Set<String> = ["call", "quality"], deviceService: String = "call",
            minimumExpires: Duration = .seconds(60),
            maximumExpires: Duration = .seconds(86_400),
            defaultExpires: Duration = .seconds(3_600), grace: Duration = .seconds(5), maximumSubscriptions: Int = 10,
            firstCallTime: Duration? = nil, maximumLegs: Int = 20, maximumRinging: Int = 10,
            callRate: RateAllowance.Rate = .init(burst: 20, interval: .seconds(1)),
            requestPatience: Duration = .seconds(10),
            answerTime: Duration = .milliseconds(100), sessionTime: Duration = .milliseconds(250),
            closeDelay: Duration = .seconds(1),
            queue: NotificationQueue.Configuration = .init()
        ) {
            self.services = services
            self.deviceService = deviceService
            self.minimumExpires = minimumExpires
            self.maximumExpires = maximumExpires
            self.defaultExpires = defaultExpires
            self.grace = grace
            self.maximumSubscriptions = maximumSubscriptions
            self.firstCallTime = firstCallTime
            self.maximumLegs = maximumLegs
            self.maximumRinging = maximumRinging
            self.callRate = callRate
            self.requestPatience = requestPatience
            self.answerTime = answerTime
            self.sessionTime = sessionTime
            self.closeDelay = closeDelay
            self.queue = queue
        }

        /// What of it holds for callers without an account: one subscription, for `callMe` and nothing else, and one call at a time.
        ///
        /// - Parameters:
        ///   - maximumExpires: replaces a larger one.
        ///   - firstCallTime: within which a guest has to call.
        package func forGuests(maximumExpires: Duration, firstCallTime: Duration? = nil) -> Configuration {
            var guests = self
            guests.firstCallTime = firstCallTime
            guests.services = ["callme"]
            guests.deviceService = "callme"
            guests.maximumExpires = min(self.maximumExpires, maximumExpires)
            guests.defaultExpires = guests.maximumExpires
            guests.minimumExpires = min(minimumExpires, guests.maximumExpires)
            guests.maximumSubscriptions = 1
            guests.maximumLegs = 1
            return guests
        }
    }

    /// Why the registration wants to be woken.
    package enum Timer: Hashable, Sendable {
        /// A subscription and its grace are over.
        case expiry
        /// A request has had its time to be answered.
        case requestPatience
        /// A client has digested an answer.
        case digestion
        /// The socket of a deleted subscription is closed.
        case closing
        /// Notifications are too old to be replayed.
        case replayAge
        /// The user may begin calls as though it had begun none.
        case callRate
    }

    /// Which leg of which call a session is.
    package struct Attachment: Equatable, Sendable {
        package var call: CallID
        package var leg: Leg

        package init(call: CallID, leg: Leg) {
            self.call = call
            self.leg = leg
        }
    }

    package let user: UserAddress
    let configuration: Configuration
    /// In the order they began.
    var subscriptions: [Subscription] = []
    var gate: RequestGate
    /// Whether the calls believe that a device listens.
    var wasReachable = false
    private var sessions = SessionTable()
    private var starts = RateAllowance()
    /// Subscriptions that were replaced while the user had legs: what is on its way to them is for their successors.
    private var successors: [SubscriptionID: SubscriptionID] = [:]

    /// - Parameter firstRequest: the number of the first request ticket, random.
    package init(user: UserAddress, configuration: Configuration = Configuration(), firstRequest: UInt64) {
        self.user = user
        self.configuration = configuration
        gate = RequestGate(
            firstNumber: firstRequest, patience: configuration.requestPatience, answerTime: configuration.answerTime,
            sessionTime: configuration.sessionTime)
    }
}

// MARK: - Subscriptions

extension Registration {
    package mutating func subscribe(
        _ request: SubscriptionRequest, as identity: SubscriptionIdentity, at now: Moment
    ) throws(RegistrationError) -> (grant: SubscriptionGrant, actions: [RegistrationAction]) {
        let services = try granted(request.services)
        let former = request.clientCorrelator.flatMap { correlator in active.first { $0.clientCorrelator == correlator }
        }
        let leaving = request.forceLogOut ? active.map(\.id) : former.map { [$0.id] } ?? []
        guard active.count - leaving.count < configuration.maximumSubscriptions else {
            throw .limitOfSubscriptions(configuration.maximumSubscriptions)
        }
        let expires = clamped(request.expires)
        let subscription = Subscription(
            id: identity.subscription, channel: identity.channel, clientCorrelator: request.clientCorrelator,
            sendsRingingFeedback: request.sendsRingingFeedback, deviceService: configuration.deviceService,
            services: services,
            expiry: now.monotonic + expires, callDeadline: configuration.firstCallTime.map { now.monotonic + $0 },
            queue: NotificationQueue(
                user: user, channel: identity.channel, firstEventID: identity.firstEventID,
                configuration: configuration.queue))
        subscriptions.append(subscription)

        // The new device comes before the old ones go: a call must not find the user without any in between.
        var actions: [RegistrationAction] = [.subscriptionsChanged(by: 1)]
        if let device = subscription.device {
            actions += inform(.joined(device, replacing: former?.device?.subscription))
            if let former, former.device != nil { succeed(former.id, by: device.subscription) }
        }
        for id in leaving {
            let isReplaced = id == former?.id && subscription.device != nil
            actions += end(id, saying: id == former?.id ? .websocketOverridden : .gone, informing: !isReplaced, at: now)
        }
        return (grant(for: subscription, expires: expires, requested: request.services), actions + pump())
    }

    /// Extends the life time, and changes the services if the request names any (spidr-wire §3.2).
    package mutating func extend(
        _ id: SubscriptionID, _ request: SubscriptionRequest, at now: Moment
    ) throws(RegistrationError) -> (grant: SubscriptionGrant, actions: [RegistrationAction]) {
        guard let index = activeIndex(of: id) else { throw .noSuchSubscription }
        let services = request.services.isEmpty ? subscriptions[index].services : try granted(request.services)
        let expires = clamped(request.expires)
        let former = subscriptions[index].device
        subscriptions[index].services = services
        subscriptions[index].expiry = now.monotonic + expires

        var actions: [RegistrationAction] = []
        switch (former, subscriptions[index].device) {
        case (nil, let device?): actions = inform(.joined(device, replacing: nil))
        case (.some, nil): actions = inform(.left(id, othersRemain: false))
        case (nil, nil), (.some, .some): break
        }
        return (grant(for: subscriptions[index], expires: expires, requested: request.services), actions)
    }

    package mutating func unsubscribe(_ id: SubscriptionID, at now: Moment) throws(RegistrationError)
        -> [RegistrationAction]
    {
        guard let index = activeIndex(of: id) else { throw .noSuchSubscription }
        let actions = end(id, saying: nil, informing: true, at: now)
        if configuration.closeDelay > .zero, subscriptions[index].socket != nil {
            subscriptions[index].closing = now.monotonic + configuration.closeDelay
        }
        return actions + pump()
    }
}

// MARK: - The user's legs

extension Registration {
    /// What rings when the user is called.
    package var devices: [Device] { active.compactMap(\.device) }

    /// A call has made a leg for this user.
    ///
    /// - Returns: the devices the leg may ring or notify; from now on it hears of every change. Empty, and nothing
    ///   is attached, if there is a `refusal`.
    package mutating func attach(_ session: SessionID, to attachment: Attachment, as role: LegRole = .own) -> [Device] {
        guard refusal(of: session, as: role) == nil else { return [] }
        for index in subscriptions.indices { subscriptions[index].callDeadline = nil }
        switch role {
        case .own: sessions.insert(session, attachment)
        case .rung(let caller): sessions.insert(session, attachment, ringingBy: Ringer(caller))
        }
        return devices
    }

    /// Why the user cannot have one more leg; a leg that the user has already can always go to another call.
    ///
    /// - Parameter session: of the leg; `nil`: it has none yet.
    package func refusal(of session: SessionID? = nil, as role: LegRole) -> LegRefusal? {
        if devices.isEmpty { return .noDevice }
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

    /// The leg was answered.
    package mutating func answered(_ session: SessionID) { sessions.silence(session) }

    /// Counts a call that the user is about to begin, or to send to somebody else.
    package mutating func chargeCall(at now: MonotonicTime) throws(LegRefusal) {
        if let wait = starts.charge(configuration.callRate, at: now) { throw .tooOften(retryAfter: wait) }
    }

    /// Which of the user's devices a request is from; `nil` if that is not known. One that names none is from the only device that never
    /// named itself, if there is just one.
    ///
    /// - Parameter name: what the request says; one of no device of the user says that it is from none.
    package mutating func device(naming name: SubscriptionID?) -> Device? {
        if let name {
            guard let index = activeIndex(of: name), let device = subscriptions[index].device else { return nil }
            subscriptions[index].namesItself = true
            return device
        }
        let silent = active.filter { $0.device != nil && !$0.namesItself }
        return silent.count == 1 ? silent[0].device : nil
    }

    /// The leg is over.
    package mutating func detach(_ session: SessionID) {
        sessions.remove(session)
        if sessions.isEmpty { successors = [:] }
    }

    /// Whether the user has a leg of this call.
    package func isAttached(to call: CallID) -> Bool { sessions.contains(call) }

    /// In the order in which they were made.
    package var attachments: [Attachment] { sessions.attachments }

    /// Whether the user has a leg of another call than this one.
    package func isEngaged(besides call: CallID) -> Bool { sessions.contains(otherThan: call) }

    package func attachment(of session: SessionID) -> Attachment? { sessions[session] }

    /// The subscriptions that were granted a service, written in lower case.
    package func subscriptions(granted service: String) -> [SubscriptionID] {
        active.filter { $0.services.contains { $0.lowercased() == service } }.map(\.id)
    }

    /// Tells the subscriptions among `receivers` that still exist, or what took their place.
    package mutating func notify(_ receivers: [SubscriptionID], _ notification: Notification, at now: Moment)
        -> [RegistrationAction]
    {
        gate.timeout(at: now.monotonic)
        var actions: [RegistrationAction] = []
        var told: Set<SubscriptionID> = []
        for id in receivers.map({ successors[$0] ?? $0 }) {
            guard let index = activeIndex(of: id), told.insert(id).inserted else { continue }
            actions += append(notification, to: index, at: now)
        }
        return actions + pump()
    }
}

// MARK: - Requests and time

extension Registration {
    /// A request of the user has begun; what is notified from now on waits until it is answered.
    package mutating func requestBegan(at now: MonotonicTime) -> UInt64 { gate.begin(at: now) }

    /// A client makes a request about a session: what waited until the client knows the session goes out.
    package mutating func sessionMentioned(_ session: SessionID) -> [RegistrationAction] {
        gate.mention(session)
        return pump()
    }

    /// - Parameter answer: What the client has to digest before it hears more of it; `nil` if nothing.
    package mutating func requestAnswered(
        _ number: UInt64, _ answer: AnsweredRequest? = nil, at now: MonotonicTime
    ) -> [RegistrationAction] {
        gate.answer(number, answer, at: now)
        return pump()
    }

    /// The time of `nextDeadline` has come; too early a call does nothing.
    package mutating func timeout(at now: Moment) -> [RegistrationAction] {
        gate.timeout(at: now.monotonic)
        starts.timeout(at: now.monotonic)
        var actions: [RegistrationAction] = []
        for subscription in active where subscription.end(after: configuration.grace) <= now.monotonic {
            let othersRemain = active.contains { $0.id != subscription.id && $0.device != nil }
            actions += end(subscription.id, saying: .gone, informing: true, othersRemain: othersRemain, at: now)
        }
        for index in subscriptions.indices where subscriptions[index].closing.map({ $0 <= now.monotonic }) ?? false {
            subscriptions[index].closing = nil
        }
        return actions + pump() + forgetOld(at: now.monotonic)
    }

    package var nextDeadline: Deadline<Timer>? {
        let deadlines: [(MonotonicTime?, Timer)] = [
            (active.map { $0.end(after: configuration.grace) }.min(), .expiry), (gate.patienceEnd, .requestPatience),
            // Where nobody waits for it, it is looked at when something else happens.
            (hasToldAll ? nil : gate.digestionEnd, .digestion), (subscriptions.compactMap(\.closing).min(), .closing),
            (subscriptions.compactMap(\.queue.nextDeadline).min(), .replayAge),
            (isVacant ? starts.clearAt : nil, .callRate),
        ]
        return deadlines.reduce(nil) { earliest, next in .earlier(earliest, next.0.map { Deadline($0, next.1) }) }
    }

    /// Nothing is left that anybody could come back for, and nothing that a user who comes back should not be rid of.
    package var isIdle: Bool { isVacant && starts.clearAt == nil }

    private var isVacant: Bool { subscriptions.isEmpty && !gate.hasRequests && sessions.isEmpty }
}

// MARK: - Parts

extension Registration {
    var active: [Subscription] { subscriptions.filter { !$0.isEnding } }

    func activeIndex(of id: SubscriptionID) -> Int? { subscriptions.firstIndex { $0.id == id && !$0.isEnding } }

    func inform(_ change: DeviceChange) -> [RegistrationAction] {
        sessions.attachments.map { .inform($0.call, $0.leg, change) }
    }

    private mutating func succeed(_ former: SubscriptionID, by successor: SubscriptionID) {
        guard !sessions.isEmpty else { return }
        for (id, known) in successors where known == former { successors[id] = successor }
        successors[former] = successor
    }

    private func clamped(_ expires: Duration?) -> Duration {
        min(max(expires ?? configuration.defaultExpires, configuration.minimumExpires), configuration.maximumExpires)
    }

    /// The services offered here among the requested ones, as the client spells them.
    private func granted(_ requested: [String]) throws(RegistrationError) -> [String] {
        var seen: Set<String> = []
        let granted = requested.filter {
            configuration.services.contains($0.lowercased()) && seen.insert($0.lowercased()).inserted
        }
        guard !granted.isEmpty else { throw .unsupportedServices(requested) }
        return granted
    }

    private func grant(for subscription: Subscription, expires: Duration, requested: [String]) -> SubscriptionGrant {
        SubscriptionGrant(
            subscription: subscription.id, channel: subscription.channel, expires: expires,
            services: subscription.services,
            isPartial: requested.contains { !configuration.services.contains($0.lowercased()) })
    }
}
