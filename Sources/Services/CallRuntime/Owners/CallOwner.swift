import CallControl
import Logging
import Observability
import Primitives
import SDP

/// Owns one `Call`: every input decides and acts without suspending in between.
actor CallOwner {
    enum Message: Sendable {
        case deviceChanged(Leg, DeviceChange)
        case media(MediaEvent)
        case drain
        case alarm(MonotonicTime)
        /// An input from outside the loop may have moved the deadline.
        case rearm
    }

    nonisolated let id: CallID
    nonisolated let inbox = Inbox<Message>()
    private let environment: RuntimeEnvironment
    private let logger: Logger
    /// `nil` until the call has started: what is posted before waits in the inbox, whose loop starts afterwards.
    private var call: Call?
    private var registrations = PerLeg<RegistrationOwner?>(caller: nil, callee: nil)
    private var alarm = Alarm()

    init(_ id: CallID, _ environment: RuntimeEnvironment) {
        self.id = id
        self.environment = environment
        logger = environment.logger
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

    private func arm(in group: inout DiscardingTaskGroup) {
        guard let time = alarm.arm(for: call?.nextDeadline?.time) else { return }
        group.addTask { [clock = environment.clock, inbox] in
            // Only fails when cancelled, which means that nobody wants to be woken any more.
            do { try await clock.sleep(until: time) } catch { return }
            inbox.post(.alarm(time))
        }
    }

    private func handle(_ message: Message) {
        let now = environment.clock.now
        switch message {
        case .deviceChanged(let leg, let change): event("deviceChanged", leg) { $0.deviceChanged(leg, change, at: now) }
        case .media(let mediaEvent): handle(mediaEvent, at: now)
        case .drain: event("drain") { $0.drain(at: now) }
        case .alarm(let time):
            alarm.rang(time)
            event("timeout") { $0.timeout(at: now) }
        case .rearm: break
        }
    }

    private func handle(_ mediaEvent: MediaEvent, at now: MonotonicTime) {
        switch mediaEvent {
        case .iceConnected(let leg): advance(leg, to: .checked)
        case .dtlsConnected(let leg): advance(leg, to: .secured)
        case .mediaReceived(let leg): advance(leg, to: .flowing)
        case .playbackEnded(let number, let leg): event("playbackEnded", leg) { $0.playbackEnded(number, for: leg) }
        case .qualityMeasured(let quality, let leg): event("qualityMeasured", leg) { $0.qualityMeasured(quality, for: leg) }
        case .failed(let leg, let failure): event("mediaFailed", leg) { $0.mediaFailed(leg, MediaFault(failure), at: now) }
        }
    }

    private func advance(_ leg: Leg, to step: MediaProgress) {
        event("mediaAdvanced", leg) { call in
            call.mediaAdvanced(leg, to: step)
            return []
        }
    }
}

// MARK: - Requests

extension CallOwner {
    /// - Parameter unreachable: why the callee has no devices, if it has none.
    func start(
        _ request: CallStartRequest, parties: PerLeg<CallParty>, registrations: PerLeg<RegistrationOwner?>,
        unreachable: CallEndCause.Unreachable?
    ) throws(CallError) {
        var call = Call(id: id, parties: parties, configuration: environment.configuration.call)
        let now = environment.clock.now
        let actions: [CallAction]
        if let unreachable {
            actions = call.calleeUnreachable(unreachable, at: now)
        } else {
            let media = try reserveMedia()
            var random = environment.random.generator
            do throws(CallError) {
                actions = try call.start(request, media: media, at: now, random: &random)
            } catch {
                // Gives the reservation back.
                if media != .direct { environment.media.send(.release, for: id) }
                throw error
            }
        }
        self.call = call
        self.registrations = registrations
        environment.observer.callStarted()
        perform(actions, after: "start", .caller)
    }

    func ringing(by leg: Leg) throws(CallError) {
        try command("ringing", leg) { call throws(CallError) in try call.ringing(by: leg) }
    }

    func answer(by leg: Leg, _ request: CallAnswerRequest) throws(CallError) {
        var random = environment.random.generator
        let now = environment.clock.now
        try command("answer", leg) { call throws(CallError) in try call.answer(by: leg, request, at: now, random: &random) }
    }

    func reject(by leg: Leg) throws(CallError) {
        let now = environment.clock.now
        try command("reject", leg) { call throws(CallError) in try call.reject(by: leg, at: now) }
    }

    func end(by leg: Leg, reasonText: String?) throws(CallError) {
        let now = environment.clock.now
        try command("end", leg) { call throws(CallError) in try call.end(by: leg, reasonText: reasonText, at: now) }
    }

    func play(_ playback: Playback, to target: MediaTarget, by leg: Leg) throws(CallError) {
        try command("play", leg) { call throws(CallError) in try call.play(playback, to: target, by: leg) }
    }

    func stopPlaying(to target: MediaTarget, by leg: Leg) throws(CallError) {
        try command("stopPlaying", leg) { call throws(CallError) in try call.stopPlaying(to: target, by: leg) }
    }

    func sendDigits(_ digits: DigitSequence, to target: MediaTarget, by leg: Leg) throws(CallError) {
        try command("sendDigits", leg) { call throws(CallError) in try call.sendDigits(digits, to: target, by: leg) }
    }

    func progress() throws(CallError) -> CallProgress {
        guard let call else { throw .noSuchCall }
        return try call.progress()
    }

    func audit() throws(CallError) {
        guard let call else { throw .noSuchCall }
        try call.audit()
    }

    /// What the legs of this call write into their descriptions.
    private func reserveMedia() throws(CallError) -> MediaMode {
        guard environment.configuration.media == .anchored else { return .direct }
        let reservation: MediaReservation
        do throws(MediaUnavailable) {
            reservation = try environment.media.reserve(id)
        } catch {
            throw .limitOfCalls
        }
        return .anchored(PerLeg(caller: identity(reservation), callee: identity(reservation)))
    }

    /// Lengths: RFC 8839 §5.4 asks for 24 bits of randomness in the ufrag and 128 in the password; the session id of
    /// `o=` has to fit in 63 bits (RFC 3264 §5).
    private func identity(_ reservation: MediaReservation) -> LegIdentity {
        var random = environment.random.generator
        return LegIdentity(
            sessionID: random.next() >> 1, canonicalName: id.canonicalName, streamID: random.nextToken(16, alphabet: .url),
            credentials: ICECredentials(
                ufrag: random.nextToken(8, alphabet: .ice), password: random.nextToken(24, alphabet: .ice)),
            fingerprint: reservation.fingerprint, candidates: reservation.candidates)
    }
}

// MARK: - Acting

extension CallOwner {
    /// A request: it may be refused, which leaves the call as it was.
    private func command(
        _ input: String, _ leg: Leg, _ decide: (inout Call) throws(CallError) -> [CallAction]
    ) throws(CallError) {
        guard var call else { throw .noSuchCall }
        let actions = try decide(&call)
        self.call = call
        perform(actions, after: input, leg)
    }

    private func event(_ input: String, _ leg: Leg? = nil, _ decide: (inout Call) -> [CallAction]) {
        guard var call else { return }
        let actions = decide(&call)
        self.call = call
        perform(actions, after: input, leg)
    }

    private func perform(_ actions: [CallAction], after input: String, _ leg: Leg?) {
        logger.debug(
            "call input",
            metadata: [
                LogKey.call: "\(id)", LogKey.input: "\(input)", LogKey.leg: "\(leg.map { "\($0)" } ?? "-")",
                LogKey.action: "\(actions.map(\.label))",
            ])
        for action in actions {
            switch action {
            case .notify(let leg, let receivers, let notification):
                registrations[leg]?.inbox.post(.notify(receivers, notification))
            case .prepareMedia(let leg, let credentials):
                environment.media.send(.prepare(leg, credentials), for: id)
            case .connectMedia(let leg, let negotiated):
                environment.media.send(.connect(leg, negotiated), for: id)
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
            case .answered(let setup):
                environment.observer.callAnswered(setup: setup)
            case .ended(let record):
                finish(record)
            }
        }
        if alarm.needsArming(for: call?.nextDeadline?.time) { inbox.post(.rearm) }
    }

    /// The call is over: nobody finds it any more, and the loop ends.
    private func finish(_ record: CallRecord) {
        for leg in Leg.allCases {
            guard let party = call?.parties[leg] else { continue }
            registrations[leg]?.inbox.post(.detach(party.session))
        }
        inbox.finish()
        environment.observer.callEnded(record)
    }
}

extension MediaFault {
    /// 408: the peer did not show up; 488: its description promised what it did not keep (RFC 3261 §21.4).
    init(_ failure: MediaFailure) {
        let statusCode =
            switch failure {
            case .neverConnected, .consentExpired: 408
            case .handshakeFailed, .fingerprintMismatch: 488
            }
        self.init(statusCode: statusCode, reasonText: failure.rawValue)
    }
}
