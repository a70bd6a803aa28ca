import CallControl
import EventAPI
import Logging
import Observability
import Primitives
import SDP

/// Owns one `Call`. Every input is decided and carried out without suspending in between.
actor CallOwner {
    /// An input that is posted to the loop.
    enum Message: Sendable {
        /// Another owner tells the call something.
        case sent(CallMessage)
        /// An event of the media plane.
        case media(MediaEvent)
        /// The gateway is stopping.
        case drain
        /// It is this time, for which the alarm was set.
        case alarm(MonotonicTime)
    }

    nonisolated let id: CallID
    nonisolated let inbox = Inbox<Message>()
    let environment: RuntimeEnvironment
    private let logger: Logger
    /// The call; `nil` until it has started. Messages that are posted before that wait in the inbox, whose loop starts
    /// afterwards.
    var call: Call?
    /// The history of the call, which makes the records of its users.
    var history: CallHistory
    /// How many events the call has had.
    private var loggedEvents = 0
    /// The endpoints of the legs, whose owners are told of events.
    var endpoints: [LegID: EndpointAddress] = [:]
    /// The legs whose endpoints know that they are established.
    var established: Set<LegID> = []
    /// The other calls from which this call has asked for legs. The value is the leg, in the other call, of the user
    /// who made the request.
    var keepers: [CallID: LegID] = [:]
    /// While a handover is being decided: the parties of the legs that were offered.
    var offered: [CallID: [LegID: CallParty]] = [:]
    /// The legs that were taken from other calls, which have not been told yet.
    var taken: [(CallID, [HandedOverLeg], HandoverPurpose)] = []
    /// Legs that other calls have taken, and where they are.
    var given: [LegID: LegAddress] = [:]
    /// Whose those legs are, and under which names.
    var givenOwners: [LegID: (session: SessionID, endpoint: EndpointAddress)] = [:]
    /// Requests that wait until a handover is decided.
    var undecided: [CheckedContinuation<Void, Never>] = []
    private var alarm = Alarm()
    /// The requests whose outcome is not known yet, and the repetitions of each that wait for it.
    var unsettled: [UnsettledRequest: [CheckedContinuation<Result<Void, CallError>, Never>]] = [.start: []]
    /// Why the call is not started; `nil`: it is, or this is not decided.
    private var refusal: CallError?

    init(_ id: CallID, _ environment: RuntimeEnvironment) {
        self.id = id
        self.environment = environment
        logger = environment.logger
        history = CallHistory(origin: environment.clock.moment)
    }

    /// Handles messages and deadlines until the call is over or the task is cancelled.
    func run() async {
        for await message in inbox.messages { handle(message) }
        alarm.cancel()
    }

    /// Never inlined: otherwise the task would contain its copies of the call for as long as the call lasts.
    @inline(never)
    private func handle(_ message: Message) {
        let now = environment.clock.now
        switch message {
        case .sent(.deviceChanged(let leg, let change)):
            event("deviceChanged", leg) { $0.deviceChanged(leg, change, at: now) }
        case .sent(.peerCall(let message)): handle(message, at: now)
        case .media(let mediaEvent): handle(mediaEvent, at: now)
        case .drain: event("drain") { $0.drain(at: now) }
        case .alarm(let time):
            alarm.rang(time)
            var random = environment.random.generator
            event("timeout") { $0.timeout(at: now, random: &random) }
        }
    }

    private func handle(_ mediaEvent: MediaEvent, at now: MonotonicTime) {
        switch mediaEvent {
        case .pathChecked(let leg):
            advance(leg, to: .checked)
            // A client that started anew has not lost its path.
            event("pathConnected", leg) { $0.mediaPathChanged(leg, isLost: false) }
        case .pathSecured(let leg): advance(leg, to: .secured)
        case .mediaReceived(let leg): advance(leg, to: .flowing)
        case .pathLost(let leg): event("pathLost", leg) { $0.mediaPathChanged(leg, isLost: true) }
        case .pathRecovered(let leg): event("pathRecovered", leg) { $0.mediaPathChanged(leg, isLost: false) }
        case .playbackEnded(let number, let leg): event("playbackEnded", leg) { $0.playbackEnded(number, for: leg) }
        case .played(let list, let leg):
            guard !environment.tellLate(list, of: LegAddress(call: id, leg: leg)) else { break }
            event("played", leg) { $0.played(list, by: leg) }
        case .streamAsks(let wish, let leg):
            // The owner of the leg asks for it, as for everything that it wants of a call.
            guard let owner = owner(of: leg) else { break }
            environment.router.post(.streamAsks(wish, owner.session), to: owner.endpoint)
        case .keyPressed(let key, let milliseconds, let leg):
            event("keyPressed", leg) { $0.keyPressed(key, milliseconds: milliseconds, by: leg) }
        case .qualityMeasured(let quality, let leg):
            event("qualityMeasured", leg) { $0.qualityMeasured(quality, for: leg) }
        case .failed(let leg, let failure):
            event("mediaFailed", leg) { $0.mediaFailed(leg, failure, at: now) }
        }
    }

    private func advance(_ leg: LegID, to step: MediaProgress) {
        event("mediaAdvanced", leg) { $0.mediaAdvanced(leg, to: step) }
    }
}

// MARK: - Starting

extension CallOwner {
    /// Waits until the request that starts the call has been decided, and throws the error if it was refused.
    ///
    /// - Parameter request: a request that looks the same; `nil`: it is the same for certain.
    /// - Returns: whether the request is a repetition of the one that started the call.
    func started(by request: CallStartRequest?) async throws(CallError) -> Bool {
        try await outcome(of: .start)?.get()
        if let refusal { throw refusal }
        return request.map { call?.isRepeated(by: $0) == true } ?? true
    }

    /// The call is not started.
    func refuse(_ error: CallError) {
        refusal = error
        settle(.start, .failure(error))
    }

    /// Starts the call.
    ///
    /// - Parameter unreachable: why the callee has no device to ring; `nil`: it has one.
    func start(
        _ request: CallStartRequest, _ parties: PerLeg<CallParty>, unreachable: CallEndCause.Unreachable?
    ) throws(CallError) {
        let endpoints = [LegID.caller: parties.caller, .callee: parties.callee].mapValues(EndpointAddress.init(of:))
        let call = Call(id: id, parties: parties, configuration: environment.configuration.call)
        let now = environment.clock.now
        if let unreachable {
            try open(call, endpoints, by: .start) { $0.calleeUnreachable(unreachable, at: now) }
        } else {
            let media = try reserveMedia(of: parties)
            var random = environment.random.generator
            try open(call, endpoints, by: .start) { call throws(CallError) in
                try call.start(request, media: media, at: now, random: &random)
            }
        }
    }

    /// Starts this call as the conference that other calls become.
    ///
    /// - Parameter keepers: the addresses of the legs that are not of the user who joins, by call.
    func join(
        _ joined: [LegAddress], _ request: CallUpdateRequest, from device: SubscriptionID?, joiner: CallParty,
        keepers: [CallID: UserAddress]
    ) throws(CallError) {
        guard environment.configuration.media == .anchored else { throw .unsupported(.joinOfDirectMedia) }
        let identity = try reserveLeg(of: joiner)
        for leg in joined { self.keepers[leg.call] = leg.leg }
        let call = Call(id: id, joiner: joiner, configuration: environment.configuration.call)
        let now = environment.clock.now
        var random = environment.random.generator
        try open(call, [.caller: EndpointAddress(of: joiner)], by: .join) { call throws(CallError) in
            try call.join(
                joined.map(\.call), request, keepers: keepers, from: device, identity: identity, at: now,
                random: &random)
        }
    }

    /// Starts the call with the decided actions; if it is refused, the call stays as if it had never been made.
    private func open(
        _ call: Call, _ endpoints: [LegID: EndpointAddress], by request: CallRequest.Kind,
        _ decide: (inout Call) throws(CallError) -> [CallAction]
    ) throws(CallError) {
        var call = call
        let actions: [CallAction]
        do throws(CallError) {
            actions = try decide(&call)
        } catch {
            // Gives the media reservation back.
            if environment.configuration.media == .anchored { environment.media.send(.release, for: id) }
            throw error
        }
        self.call = call
        self.endpoints = endpoints
        settle(.start, .success(()))
        perform(actions, after: request.rawValue, .caller)
    }
}

// MARK: - Acting

extension CallOwner {
    /// Handles a request. It may be refused, which leaves the call as it was.
    func command(
        _ request: CallRequest.Kind, _ leg: LegID, _ decide: (inout Call) throws(CallError) -> [CallAction]
    ) throws(CallError) {
        guard var call else { throw .noSuchCall }
        call.heard(from: leg, at: environment.clock.now)
        self.call = call
        let actions = try decide(&call)
        self.call = call
        perform(actions, after: request.rawValue, leg)
    }

    /// Handles an event, if the call has started.
    func event(_ input: String, _ leg: LegID? = nil, _ decide: (inout Call) -> [CallAction]) {
        guard call != nil else { return }
        // The call is changed in place: with a copy of it, every array in it would have to be copied before it is
        // changed.
        let actions = decide(&call!)
        perform(actions, after: input, leg)
    }

    /// Carries out the actions of one input, in order.
    private func perform(_ actions: [CallAction], after input: String, _ leg: LegID?) {
        logger.debug(
            "call input",
            metadata: [
                LogKey.call: "\(id)", LogKey.input: "\(input)", LogKey.leg: "\(leg.map { "\($0)" } ?? "-")",
                LogKey.action: "\(actions.map(\.label))",
            ])
        let now = environment.clock.now
        for action in actions {
            switch action {
            case .event(let event): publish(event, at: now)
            case .prepareMedia(let leg, let credentials):
                environment.media.send(.prepare(leg, credentials), for: id)
            case .prepareHeadless(let leg, let source):
                environment.media.send(.prepareHeadless(leg, source), for: id)
            case .connectMedia(let leg, let negotiated):
                environment.media.send(.connect(leg, negotiated), for: id)
            case .route(let leg, let route):
                environment.media.send(.route(leg, route), for: id)
            case .releaseLeg(let leg):
                noteDeparture(of: leg, at: now)
                environment.media.send(.releaseLeg(leg), for: id)
            case .releaseMedia:
                for leg in endpoints.keys { noteDeparture(of: leg, at: now) }
                environment.media.send(.release, for: id)
            case .play(let playback, let number, let leg):
                environment.media.send(.play(playback, number: number, to: leg), for: id)
            case .stopPlaying(let leg):
                environment.media.send(.stopPlaying(to: leg), for: id)
            case .sendDigits(let digits, let leg):
                environment.media.send(.sendDigits(digits, to: leg), for: id)
            case .say(let leg, let speech):
                environment.media.send(.say(leg, speech), for: id)
            case .detach(let leg, let session):
                noteDeparture(of: leg, at: now)
                if let endpoint = endpoints.removeValue(forKey: leg) {
                    environment.router.post(.detach(session), to: endpoint)
                }
            case .peerCall(let action): tellPeerCall(action)
            }
        }
        tellEstablished()
        tellGivers()
        settleHandover()
        alarm.arm(for: call?.nextDeadline?.time, by: environment.clock) { [inbox] in inbox.post(.alarm($0)) }
    }

    /// The media plane is about to release a leg, or the call has it no more: what is told of its lists from now on is
    /// for the application whose leg it is.
    private func noteDeparture(of leg: LegID, at now: MonotonicTime) {
        guard let endpoint = endpoints[leg], case .application = endpoint, let session = history.session(of: leg)
        else { return }
        environment.departed.add(
            LegAddress(call: id, leg: leg), DepartedLegs.Departed(session: session, endpoint: endpoint), at: now)
    }

    /// Passes a fact to the event log, to the history, to the metrics, and to the devices that are told.
    private func publish(_ event: CallEvent, at now: MonotonicTime) {
        loggedEvents += 1
        let entry = LoggedEvent(
            call: id, sequence: loggedEvents, startedAt: history.origin.epochMilliseconds,
            elapsed: now - history.origin.monotonic, event: event)
        environment.eventLog?.add(entry)
        // No end of the process comes between the event, the records, and the pushes.
        let records = history.record(event, at: now).compactMap { environment.log.add($0) }
        let user = event.leg.flatMap { history.user(of: $0) }
        let publication =
            Publication(entry, of: history.holders(seeing: event), trace: history.trace)
            .map { [JournalEntry.published($0)] } ?? []
        environment.keep([.event(entry)] + publication + records, owing: environment.pushes(owedBy: entry, to: user))
        environment.withdrawPushes(after: event.fact, of: event.leg.flatMap { history.session(of: $0) })
        if let endpoint = event.leg.flatMap({ endpoints[$0] }), event.audience != nil {
            environment.router.post(.tell(entry, history.trace), to: endpoint)
        }
        if case .ended = event.fact { finish() }
        if let measure = event.measure { environment.observer.callMeasured(measure) }
    }

    /// The call is over: it cannot be found any more, and the loop ends.
    private func finish() {
        for leg in call?.legs ?? [] {
            if let endpoint = endpoints[leg.id] { environment.router.post(.detach(leg.party.session), to: endpoint) }
        }
        abandonRequests()
        inbox.finish()
    }
}
