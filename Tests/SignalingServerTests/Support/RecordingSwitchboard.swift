import CallControl
import CallRuntime
import Primitives
import Registration

/// Notes what it is asked and answers as told.
actor RecordingSwitchboard: Switchboard, Registrar, CallRecords {
    enum Event: Equatable, Sendable {
        case subscribe(UserAddress, SubscriptionRequest)
        case extend(UserAddress, SubscriptionID, SubscriptionRequest)
        case unsubscribe(UserAddress, SubscriptionID)
        case admit(SubscriptionRequest, toCall: UserAddress)
        case opened(UserAddress, ChannelID, since: UInt64? = nil)
        case confirmed(UserAddress, ChannelID, through: UInt64)
        case closed(UserAddress, ChannelID)
        case started(UserAddress)
        case answered(UserAddress)
        case request(UserAddress, CallRequest)
        case state(UserAddress, SessionID)
        case calls(UserAddress)
        case log(UserAddress, from: Int, count: Int)
        case record(UserAddress, SessionID)
        case removeRecord(UserAddress, SessionID)
        case clearLog(UserAddress)
        case statistics(UserAddress, SessionID)
        case send(UserAddress, MessageRequest)
        case presence(UserAddress, Presence)
        case watch(UserAddress, [UserAddress])
        case stopWatching(UserAddress, [UserAddress])
        case getPresence(UserAddress, [UserAddress])
        case subscribeToEvents(UserAddress, EventPackage, [UserAddress], Duration?)
        case extendEvents(UserAddress, String, [UserAddress], Duration?)
        case unsubscribeFromEvents(UserAddress, String)
    }

    private(set) var events: [Event] = []
    /// What requests about calls called the device they are from.
    private(set) var named: [SubscriptionID?] = []
    private var waiting: [(isMet: @Sendable ([Event]) -> Bool, resume: CheckedContinuation<Void, Never>)] = []
    private var lastTicket: UInt64 = 0

    var callError: CallError?
    var registrationError: RegistrationError?
    var serviceRefusal: ServiceRefusal?
    var voicemail = VoicemailCount.empty
    var grant = SubscriptionGrant(
        subscription: SubscriptionID("5f2c"), channel: ChannelID("ws-7d0e"), expires: .seconds(3600),
        services: ["call"], isPartial: false)
    private var guests: [GuestID: UserAddress] = [:]
    var channelsExist = true
    private var endedSubscriptions = false
    var channelsOpen = true
    /// The socket that was opened last.
    private(set) var socket: SocketID?
    /// Run before a request is answered.
    private var onRequest: (@Sendable () async -> Void)?

    func set(callError: CallError?) { self.callError = callError }
    func set(registrationError: RegistrationError?) { self.registrationError = registrationError }
    func set(serviceRefusal: ServiceRefusal?) { self.serviceRefusal = serviceRefusal }
    func set(voicemail: VoicemailCount) { self.voicemail = voicemail }
    func set(channelsExist: Bool) { self.channelsExist = channelsExist }
    func set(channelsOpen: Bool) { self.channelsOpen = channelsOpen }
    func set(isPartial: Bool) { grant.isPartial = isPartial }
    func set(onRequest: (@Sendable () async -> Void)?) { self.onRequest = onRequest }

    /// Returns once the events so far satisfy the condition.
    func wait(until isMet: @escaping @Sendable ([Event]) -> Bool) async {
        if isMet(events) { return }
        await withCheckedContinuation { waiting.append((isMet, $0)) }
    }

    func subscribe(_ user: UserAddress, _ request: SubscriptionRequest) async throws(RegistrationError)
        -> SubscriptionGrant
    {
        await note(.subscribe(user, request))
        if let registrationError { throw registrationError }
        return grant
    }

    func extend(
        _ user: UserAddress, _ subscription: SubscriptionID, _ request: SubscriptionRequest
    ) async throws(RegistrationError) -> SubscriptionGrant {
        await note(.extend(user, subscription, request))
        if let registrationError { throw registrationError }
        return grant
    }

    nonisolated var services: [String] { ["call", "quality"] }

    func subscription(of user: UserAddress, correlator: String) async -> SubscriptionID? {
        correlator == "device-7" ? grant.subscription : nil
    }

    func subscriptionExists(_ user: UserAddress, _ subscription: SubscriptionID) async -> Bool {
        subscription == grant.subscription && !endedSubscriptions
    }

    /// From now on no subscription exists.
    func endSubscriptions() { endedSubscriptions = true }

    func unsubscribe(_ user: UserAddress, _ subscription: SubscriptionID) async throws(RegistrationError) {
        await note(.unsubscribe(user, subscription))
        if let registrationError { throw registrationError }
    }

    func admit(
        _ request: SubscriptionRequest, toCall account: UserAddress, from network: SourceNetwork?
    ) async throws(RegistrationError) -> SubscriptionGrant {
        await note(.admit(request, toCall: account))
        if let registrationError { throw registrationError }
        return grant
    }

    func account(of guest: GuestID) async -> UserAddress? { guests[guest] }

    func set(guest: GuestID, account: UserAddress) { guests[guest] = account }

    func channelExists(_ user: UserAddress, _ channel: ChannelID) async -> Bool { channelsExist }

    func channelOpened(
        _ user: UserAddress, _ channel: ChannelID, on socket: SocketID, since latest: UInt64?
    ) async -> Bool {
        self.socket = socket
        append(.opened(user, channel, since: latest))
        return channelsOpen
    }

    nonisolated func channelConfirmed(_ user: UserAddress, _ channel: ChannelID, through number: UInt64) {
        Task { await append(.confirmed(user, channel, through: number)) }
    }

    func channelClosed(_ user: UserAddress, _ channel: ChannelID, on socket: SocketID) async {
        append(.closed(user, channel))
    }

    func requestStarted(_ user: UserAddress, about session: SessionID?) async -> RequestTicket {
        append(.started(user))
        lastTicket += 1
        return RequestTicket(user: user, number: lastTicket)
    }

    func requestAnswered(_ ticket: RequestTicket) async { append(.answered(ticket.user)) }

    func perform(
        _ request: CallRequest, by user: UserAddress, from device: SubscriptionID?, outlivesCall: Bool
    ) async throws(CallError) -> SessionID {
        named.append(device)
        try await noteCall(.request(user, request))
        return switch request {
        case .start: SessionID("A1")
        case .connect: SessionID("B1")
        case .join: SessionID("A3")
        case .forward(let session, _), .transfer(let session, _, _), .command(let session, _): session
        }
    }

    func callSession(_ user: UserAddress, _ session: SessionID) async throws(CallError) -> CallSession {
        try await noteCall(.state(user, session))
        return Self.session
    }

    static let session = CallSession(
        session: SessionID("A1"), progress: .ringing, state: .dialing, isIncoming: false, isAnchored: true,
        isConference: false, startedAt: 1_000,
        members: [
            CallSession.Member(
                side: .own, name: "Alice", address: "alice@example.com", isCalled: false, state: .dialing, holds: false,
                path: .waiting, media: [])
        ], startParameters: [], answerParameters: [], timeline: [])

    static let record = CallLogRecord(
        id: SessionID("A1"), user: UserAddress(parsing: "alice@example.com")!, direction: .outgoing, startedAt: 1_000,
        answeredAt: 2_000, endedAt: 33_999,
        caller: .user(DisplayName(name: "Alice", number: "alice@example.com")),
        callee: .user(DisplayName(name: "Bob", number: "bob@example.com")),
        parties: [], ending: CallEnding(.ended(.completed(by: .caller, reasonText: nil))), endedBy: .own, timeline: [])

    func callSessions(_ user: UserAddress) async -> [CallSession] {
        await note(.calls(user))
        return [Self.session]
    }

    func callRecords(_ user: UserAddress, from start: Int, count: Int) async -> [CallLogRecord] {
        await note(.log(user, from: start, count: count))
        return [Self.record]
    }

    func callRecord(_ user: UserAddress, _ id: SessionID) async -> CallLogRecord? {
        await note(.record(user, id))
        return id == Self.record.id ? Self.record : nil
    }

    func removeCallRecord(_ user: UserAddress, _ id: SessionID) async -> Bool {
        await note(.removeRecord(user, id))
        return id == Self.record.id
    }

    func removeCallRecords(_ user: UserAddress) async { await note(.clearLog(user)) }

    func statistics(
        _ user: UserAddress, _ session: SessionID
    ) async throws(CallError) -> (own: LegID, statistics: CallMediaStatistics) {
        try await noteCall(.statistics(user, session))
        var line = LineMediaStatistics(mid: "0", kind: "audio", source: .relayed)
        line.inbound.packets = 7
        let legs = [LegID.caller, .callee].map {
            LegMediaStatistics(leg: $0, lines: [line], drops: ["malformed": 1, "ended": 0])
        }
        return (.callee, CallMediaStatistics(legs: legs))
    }

    private func noteCall(_ event: Event) async throws(CallError) {
        await note(event)
        if let callError { throw callError }
    }

    func note(_ event: Event) async {
        append(event)
        await onRequest?()
    }

    private func append(_ event: Event) {
        events.append(event)
        let met = waiting.filter { $0.isMet(events) }
        waiting.removeAll { $0.isMet(events) }
        for waiter in met { waiter.resume.resume() }
    }
}
