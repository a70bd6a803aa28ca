import CallControl
import Logging
import Observability
import Primitives
import SDP

/// Owns one `Call`. Every input is decided and carried out without suspending in between.
actor CallOwner {
    /// An input that is posted to the loop.
    enum Message: Sendable {
        case deviceChanged(Leg, DeviceChange)
        case media(MediaEvent)
        case neighbour(NeighbourMessage)
        case drain
        /// The sleep until this time has ended.
        case alarm(MonotonicTime)
        /// An input from outside the loop may have changed the deadline.
        case rearm
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
    var registrations: [Leg: RegistrationOwner] = [:]
    /// Calls that ends are to come from or to go to, and the leg there of the user who wants it.
    var neighbours: [CallID: Neighbour] = [:]
    /// While a handover is being decided: who the users of its ends are.
    var offeredRegistrations: [CallID: [Leg: RegistrationOwner]] = [:]
    /// Ends that were taken from other calls, which are yet to be told.
    var taken: [(CallID, [HandedLeg], HandoverPurpose)] = []
    private var alarm = Alarm()
    /// What came of the request that began it, once that is known, and who asked for the same meanwhile.
    private var beginning: Result<Void, CallError>?
    private var waiting: [CheckedContinuation<Void, Never>] = []

    init(_ id: CallID, _ environment: RuntimeEnvironment) {
        self.id = id
        self.environment = environment
        logger = environment.logger
        history = CallHistory(origin: environment.clock.moment)
    }

    /// Handles messages and deadlines until the call is over or the task is cancelled.
    func run() async {
        await withDiscardingTaskGroup { group in
            arm(in: &group)
            for await message in inbox.messages {
                handle(message)
                arm(in: &group)
            }
            group.cancelAll()
        }
    }

    /// Starts a sleep until the call's deadline, if none of the running ones ends by then.
    private func arm(in group: inout DiscardingTaskGroup) {
        guard let time = alarm.arm(for: call?.nextDeadline?.time) else { return }
        group.addTask { [clock = environment.clock, inbox] in
            // Fails only if it is cancelled, and then the owner need not be woken any more.
            do { try await clock.sleep(until: time) } catch { return }
            inbox.post(.alarm(time))
        }
    }

    /// Never inlined: otherwise the task would contain its copies of the call for as long as the call lasts.
    @inline(never)
    private func handle(_ message: Message) {
        let now = environment.clock.now
        switch message {
        case .deviceChanged(let leg, let change):
            history.deviceChanged(leg, change)
            event("deviceChanged", leg) { $0.deviceChanged(leg, change, at: now) }
        case .media(let mediaEvent): handle(mediaEvent, at: now)
        case .neighbour(let message): handle(message, at: now)
        case .drain: event("drain") { $0.drain(at: now) }
        case .alarm(let time):
            alarm.rang(time)
            var random = environment.random.generator
            event("timeout") { $0.timeout(at: now, random: &random) }
        case .rearm: break
        }
    }

    private func handle(_ mediaEvent: MediaEvent, at now: MonotonicTime) {
        switch mediaEvent {
        case .iceConnected(let leg):
            advance(leg, to: .checked)
            // A client that started anew has not lost its path.
            event("pathConnected", leg) { $0.mediaPathChanged(leg, isLost: false) }
        case .dtlsConnected(let leg): advance(leg, to: .secured)
        case .mediaReceived(let leg): advance(leg, to: .flowing)
        case .pathLost(let leg): event("pathLost", leg) { $0.mediaPathChanged(leg, isLost: true) }
        case .pathRecovered(let leg): event("pathRecovered", leg) { $0.mediaPathChanged(leg, isLost: false) }
        case .playbackEnded(let number, let leg): event("playbackEnded", leg) { $0.playbackEnded(number, for: leg) }
        case .qualityMeasured(let quality, let leg):
            event("qualityMeasured", leg) { $0.qualityMeasured(quality, for: leg) }
        case .failed(let leg, let failure):
            event("mediaFailed", leg) { $0.mediaFailed(leg, MediaFault(failure), at: now) }
        }
    }

    private func advance(_ leg: Leg, to step: MediaProgress) {
        event("mediaAdvanced", leg) { call in
            call.mediaAdvanced(leg, to: step)
            return []
        }
    }
}

// MARK: - Starting

extension CallOwner {
    /// Waits until the request that begins the call has been decided, and throws what it was refused with.
    func begun() async throws(CallError) {
        if beginning == nil { await withCheckedContinuation { waiting.append($0) } }
        try beginning?.get()
    }

    /// Whether a request that looks like the one that began the call is the same one, come again.
    func isBegun(by request: CallStartRequest) -> Bool { call?.isBegun(by: request) == true }

    /// The call does not come about.
    func refuse(_ error: CallError) { settle(.failure(error)) }

    /// Records the result of the request that starts the call, and wakes its repetitions.
    private func settle(_ outcome: Result<Void, CallError>) {
        beginning = outcome
        for continuation in waiting { continuation.resume() }
        waiting = []
    }

    /// Starts the call.
    ///
    /// - Parameter unreachable: why the callee has no device to ring; `nil`: it has one.
    func start(
        _ request: CallStartRequest, parties: PerLeg<CallParty>, registrations: [Leg: RegistrationOwner],
        unreachable: CallEndCause.Unreachable?
    ) throws(CallError) {
        let call = Call(id: id, parties: parties, configuration: environment.configuration.call)
        let now = environment.clock.now
        if let unreachable {
            try begin(call, registrations) { $0.calleeUnreachable(unreachable, at: now) }
        } else {
            let media = try reserveMedia()
            var random = environment.random.generator
            try begin(call, registrations) { call throws(CallError) in
                try call.start(request, media: media, at: now, random: &random)
            }
        }
    }

    /// Starts this call as the conference that two other calls become.
    func join(
        _ joined: [Neighbour], _ request: CallUpdateRequest, joiner: CallParty, registration: RegistrationOwner
    ) throws(CallError) {
        guard let identity = try reserveLeg() else {
            throw .unsupported("Calls whose media goes from peer to peer cannot be joined.")
        }
        for neighbour in joined { neighbours[neighbour.owner.id] = neighbour }
        let call = Call(id: id, joiner: joiner, configuration: environment.configuration.call)
        let now = environment.clock.now
        var random = environment.random.generator
        try begin(call, [.caller: registration]) { call throws(CallError) in
            try call.join(joined.map(\.owner.id), request, identity: identity, at: now, random: &random)
        }
    }

    private func begin(
        _ call: Call, _ registrations: [Leg: RegistrationOwner],
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
        self.registrations = registrations
        settle(.success(()))
        environment.observer.callStarted()
        perform(actions, after: "start", .caller)
    }
}

// MARK: - Acting

extension CallOwner {
    /// Handles a request. It may be refused, which leaves the call as it was.
    func command(
        _ input: String, _ leg: Leg, _ device: Device? = nil, _ decide: (inout Call) throws(CallError) -> [CallAction]
    ) throws(CallError) {
        guard var call else { throw .noSuchCall }
        call.heard(from: leg, at: environment.clock.now)
        self.call = call
        let actions = try decide(&call)
        self.call = call
        perform(actions, after: input, leg, device)
    }

    func event(_ input: String, _ leg: Leg? = nil, _ decide: (inout Call) -> [CallAction]) {
        guard call != nil else { return }
        // The call is changed in place: with a copy of it, every array in it would have to be copied before it is
        // changed.
        let actions = decide(&call!)
        perform(actions, after: input, leg)
    }

    private func perform(_ actions: [CallAction], after input: String, _ leg: Leg?, _ device: Device? = nil) {
        logger.debug(
            "call input",
            metadata: [
                LogKey.call: "\(id)", LogKey.input: "\(input)", LogKey.leg: "\(leg.map { "\($0)" } ?? "-")",
                LogKey.action: "\(actions.map(\.label))",
            ])
        if let call {
            let asker = device.flatMap { device in leg.map { CallHistory.Asker(leg: $0, device: device.subscription) } }
            for record in history.advance(to: call, doing: actions, for: asker, at: environment.clock.now) {
                environment.log.add(record)
            }
        }
        for action in actions {
            switch action {
            case .notify(let leg, let receivers, let notification):
                registrations[leg]?.inbox.post(.notify(receivers, notification))
            case .prepareMedia(let leg, let credentials):
                environment.media.send(.prepare(leg, credentials), for: id)
            case .connectMedia(let leg, let negotiated):
                environment.media.send(.connect(leg, negotiated), for: id)
            case .route(let leg, let route):
                environment.media.send(.route(leg, route), for: id)
            case .releaseLeg(let leg):
                environment.media.send(.releaseLeg(leg), for: id)
            case .releaseMedia:
                environment.media.send(.release, for: id)
            case .play(let playback, let number, let leg):
                environment.media.send(.play(playback, number: number, to: leg), for: id)
            case .stopPlaying(let leg):
                environment.media.send(.stopPlaying(to: leg), for: id)
            case .sendDigits(let digits, let leg):
                environment.media.send(.sendDigits(digits, to: leg), for: id)
            case .notifyQuality(let leg, let notification):
                registrations[leg]?.inbox.post(.notifyService("quality", notification))
            case .detach(let leg, let session):
                registrations.removeValue(forKey: leg)?.inbox.post(.detach(session))
            case .requestHandover, .offerHandover, .refuseHandover, .takeHandover, .declineHandover, .passOn:
                tellNeighbour(action)
            case .answered(let setup):
                environment.observer.callAnswered(setup: setup)
            case .ended(let record):
                finish(record)
            }
        }
        tellGivers()
        if alarm.needsArming(for: call?.nextDeadline?.time) { inbox.post(.rearm) }
    }

    /// The call is over: nobody finds it any more, and the loop ends.
    private func finish(_ record: CallRecord) {
        for leg in call?.legs ?? [] { registrations[leg.id]?.inbox.post(.detach(leg.party.session)) }
        inbox.finish()
        environment.observer.callEnded(record)
    }
}

extension MediaFault {
    /// The status code is 408 if no packets came from the peer, 488 if the peer does not do what its description says
    /// (RFC 3261 §21.4), and 503 if the gateway itself is at fault (§21.5.4).
    init(_ failure: MediaFailure) {
        let statusCode =
            switch failure {
            case .neverConnected, .consentExpired: 408
            case .handshakeFailed, .fingerprintMismatch: 488
            case .overloaded: 503
            }
        self.init(statusCode: statusCode, reasonText: failure.rawValue)
    }
}
