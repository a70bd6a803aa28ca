import CallControl
import EventAPI
import Logging
import Observability
import Primitives

/// What an application asks for, and what happens if it does not.
///
/// The requests about one leg are decided one after the other. What the call says is the last word: it may have changed
/// since the application looked.
extension ApplicationOwner {
    /// Starts a call.
    ///
    /// - Throws: `ApplicationRefusal`.
    func start(
        _ request: ApplicationCallRequest, streaming order: StreamOrder?, asking switchboard: LocalSwitchboard
    ) async throws(ApplicationRefusal) -> ApplicationCall {
        guard owns(request.from) else { throw .notOwner(request.from) }
        if request.record != nil, !environment.recordings.areProvided { throw .recordingNotProvided }
        guard !environment.newWork.isRefused else { throw .unavailable }
        if order != nil, let obstacle = obstacleToOneMoreStream { throw .limited(obstacle, retryAfter: nil) }
        if let refusal = refusal ?? charge() { throw ApplicationRefusal(refusal) }
        let call: CallID
        openingCount += 1
        do throws(CallError) {
            call = try await switchboard.openCall(near: [request.to])
            openingCount -= 1
        } catch {
            openingCount -= 1
            throw ApplicationRefusal(starting: error)
        }
        // The application may have changed meanwhile.
        guard !isRetired, owns(request.from) else {
            await switchboard.discard(call)
            throw isRetired ? .unavailable : .notOwner(request.from)
        }
        if order != nil, let obstacle = obstacleToOneMoreStream {
            await switchboard.discard(call)
            throw .limited(obstacle, retryAfter: nil)
        }
        let session = switchboard.newSession()
        insert(
            ApplicationLeg(
                starting: request, by: application, as: session, at: LegAddress(call: call, leg: .caller),
                time: environment.clock.epochMilliseconds),
            as: session)
        if let order { awaitedStreams[session] = order }
        do throws(CallError) {
            try await switchboard.place(request, by: application, in: call, as: session)
        } catch {
            remove(session)
            throw ApplicationRefusal(starting: error)
        }
        if let leg = legs[session], !leg.isOver, !mayHave(leg) {
            await perform(.end(reasonText: nil), in: session, asking: switchboard)
        }
        guard let view = await look(at: session, asking: switchboard) else { throw .noSuchCall }
        return view
    }

    /// A call as it is now.
    ///
    /// - Throws: `noSuchCall`.
    func call(_ session: SessionID, asking switchboard: LocalSwitchboard) async throws(ApplicationRefusal)
        -> ApplicationCall
    {
        guard let view = await look(at: session, asking: switchboard) else { throw .noSuchCall }
        return view
    }

    /// Calls as they are now, in the order of their starts. A call is asked for its state only if it may be one of
    /// those; and a call that arrives is one of them once it is known who calls.
    func calls(
        _ filter: ApplicationCallFilter, after place: ApplicationCallPlace?, limit: Int,
        asking switchboard: LocalSwitchboard
    ) async -> [ApplicationCall] {
        let candidates = legs.values
            .filter { $0.view.isIntroduced && filter.mayInclude($0.view, isOver: $0.isOver) }
            .map { (place: ApplicationCallPlace(of: $0.view), session: $0.view.id) }
            .filter { candidate in place.map { $0 < candidate.place } ?? true }
            .sorted { $0.place < $1.place }
        var found: [ApplicationCall] = []
        for candidate in candidates where found.count < limit {
            let view = await look(at: candidate.session, asking: switchboard)
            if let view, filter.includes(view) { found.append(view) }
        }
        return found
    }

    /// Carries out a command.
    ///
    /// - Parameters:
    ///   - isDecision: it is carried out only as the first decision about an incoming call.
    ///   - trace: the trace of a new call that the command makes; `nil`: that of the call.
    /// - Throws: `ApplicationRefusal`.
    func perform(
        _ command: ApplicationCommand, in session: SessionID, expecting version: UInt64?, isDecision: Bool = false,
        tracing trace: TraceContext? = nil, asking switchboard: LocalSwitchboard
    ) async throws(ApplicationRefusal) -> ApplicationCall {
        guard let leg = legs[session] else { throw .noSuchCall }
        if isDecision, let obstacle = leg.obstacle(toDecidingBy: command) { throw .notAllowed(leg.view, obstacle) }
        // What the state does not allow is refused before a file is read or fetched.
        if let list = command.list, !list.files.isEmpty || !list.urls.isEmpty {
            _ = try await check(command, in: session, expecting: version, asking: switchboard)
            do throws(MediaFileError) {
                try await load(list)
            } catch {
                throw .invalid(.unplayable(error))
            }
        }
        if let bridging = command.bridging {
            return try await perform(
                command, bridging, in: session, expecting: version, tracing: trace, asking: switchboard)
        }
        await turn(of: session)
        defer { pass(session) }
        let before = try await check(command, in: session, expecting: version, asking: switchboard)
        // Another decision may have been made while a file was loaded, or this one has waited for its turn.
        if isDecision, let obstacle = legs[session]?.obstacle(toDecidingBy: command) {
            throw .notAllowed(before, obstacle)
        }
        let recording = try await openRecording(for: command, in: session)
        do throws(CallError) {
            try await decide(command, in: session, asking: switchboard)
        } catch {
            if let recording { await environment.recordings.discard(recording) }
            let after = try await call(session, asking: switchboard)
            throw ApplicationRefusal(error, in: after)
        }
        return try await call(session, asking: switchboard)
    }

    /// The call as it is before a command that it allows.
    ///
    /// - Throws: `noSuchCall`, `versionMismatch`, or `notAllowed`.
    func check(
        _ command: ApplicationCommand, in session: SessionID, expecting version: UInt64?,
        asking switchboard: LocalSwitchboard
    ) async throws(ApplicationRefusal) -> ApplicationCall {
        let before = try await call(session, asking: switchboard)
        if let version, version != before.version { throw .versionMismatch(before) }
        guard before.allowed.contains(command.name) else {
            throw .notAllowed(before, before.obstacle(to: command.name))
        }
        if let obstacle = legs[session]?.obstacle(to: command) { throw .notAllowed(before, obstacle) }
        return before
    }

    func load(_ list: PlayList) async throws(MediaFileError) {
        for file in list.files { try await environment.media.load(file: file) }
        let urls = list.urls
        if !urls.isEmpty { try await environment.media.load(urls: urls, for: identity.name) }
    }

    /// Has the call carry out a command.
    ///
    /// - Throws: what the call says.
    func decide(
        _ command: ApplicationCommand, in session: SessionID, asking switchboard: LocalSwitchboard
    ) async throws(CallError) {
        guard let before = legs[session] else { throw .noSuchCall }
        let now = environment.clock.now
        let requests = edit(session) { $0.take(command, at: now) } ?? []
        do throws(CallError) {
            if case .transfer(let target) = command {
                let retargeting = before.view.state.phase.retargeting
                try await switchboard.retarget(
                    retargeting, session, before.place, for: before.own, to: target)
            }
            for request in requests { try await switchboard.perform(request, in: session, by: before.place) }
        } catch {
            let now = environment.clock.now
            _ = edit(session) { $0.withdraw(command, before: before, at: now) }
            throw error
        }
        _ = edit(session) { $0.finish(command) }
    }

    /// Carries out what follows from a fact. A call that does not allow it any more goes without.
    func perform(_ command: CallCommand, in session: SessionID, asking switchboard: LocalSwitchboard) async {
        guard let place = legs[session]?.place else { return }
        do throws(CallError) {
            try await switchboard.perform(command, in: session, by: place)
        } catch {
            // The keys are told all the same.
            if case .headless(.gathered(let keys)) = command { publish(.gatheringEnded(keys, of: place), of: session) }
            environment.logger.debug("application's step is refused", metadata: [LogKey.call: "\(place.call)"])
        }
    }

    /// Nobody has decided about the call in time.
    func fallBack(_ session: SessionID, asking switchboard: LocalSwitchboard) async {
        let fallback = application.fallback
        if case .announce(let list) = fallback { await loadAnnouncement(list) }
        await turn(of: session)
        defer { pass(session) }
        _ = await look(at: session, asking: switchboard)
        guard let leg = legs[session], !leg.isOver, !leg.isDecided else { return }
        await fallBackUndecided(leg, to: fallback, in: session, asking: switchboard)
    }

    /// What is configured happens to a call whose caller waits for an answer. It must be the turn of the leg.
    func fallBackUndecided(
        _ leg: ApplicationLeg, to fallback: ApplicationFallback, in session: SessionID,
        asking switchboard: LocalSwitchboard
    ) async {
        do throws(CallError) {
            switch fallback {
            case .reject(let cause): try await decide(.reject(cause), in: session, asking: switchboard)
            case .forward(let target): try await decide(.transfer(to: target), in: session, asking: switchboard)
            case .answer(let source):
                try await switchboard.perform(.headless(.become(source)), in: session, by: leg.place)
                try await decide(.answer(CustomContent()), in: session, asking: switchboard)
            case .announce(let list):
                try await decide(.answer(CustomContent()), in: session, asking: switchboard)
                await announce(list, in: session, asking: switchboard)
            }
        } catch {
            // The caller has hung up meanwhile, or offers nothing that the gateway can decode; or the other address
            // cannot be rung.
            environment.logger.debug("fallback is refused", metadata: [LogKey.call: "\(leg.place.call)"])
            await perform(.reject(replacement: false), in: session, asking: switchboard)
        }
    }

    /// Says the announcement that the call did not allow before.
    func announceLate(_ list: PlayList, in session: SessionID, asking switchboard: LocalSwitchboard) async {
        await turn(of: session)
        defer { pass(session) }
        await announce(list, in: session, asking: switchboard)
    }

    /// Says the announcement, after which the call ends. While the caller has not answered the first offer of the call
    /// (slow start) it has to wait. A call that cannot be told it ends at once.
    func announce(_ list: PlayList, in session: SessionID, asking switchboard: LocalSwitchboard) async {
        var isDue = true
        while isDue, let before = legs[session], !before.isOver {
            isDue = false
            guard let command = edit(session, { $0.announce(list) }) else { return }
            do throws(CallError) {
                try await switchboard.perform(command, in: session, by: before.place)
            } catch {
                guard case .pending = error else {
                    return await perform(.end(reasonText: nil), in: session, asking: switchboard)
                }
                isDue = edit(session) { $0.postpone(list, before: before) }?.isEmpty == false
            }
        }
    }

    func loadAnnouncement(_ list: PlayList) async {
        do throws(MediaFileError) {
            try await load(list)
        } catch {
            // The list fails, and the call ends.
            environment.logger.warning("announcement cannot be played", metadata: [LogKey.error: "\(error)"])
        }
    }

    /// A call as it is now; `nil`: the application has no such call.
    func look(at session: SessionID, asking switchboard: LocalSwitchboard) async -> ApplicationCall? {
        guard let leg = legs[session] else { return nil }
        if !leg.isOver {
            do throws(CallError) {
                let seen = try await switchboard.session(of: leg.place)
                _ = edit(session) { $0.see(seen) }
            } catch {
                // The call is over, and the application is about to be told; or the leg moves to another call.
            }
        }
        return legs[session]?.view
    }
}

extension ApplicationCallPhase {
    /// Whether a call that has come this far is forwarded or transferred to another address.
    fileprivate var retargeting: Retargeting {
        switch self {
        case .ringing, .progressing: .forward
        case .talking, .held, .ended: .transfer
        }
    }
}

extension ApplicationRefusal {
    fileprivate init(_ refusal: LegRefusal) {
        self =
            switch refusal {
            case .noDevice: .unavailable
            case .limitOfLegs, .limitOfRinging: .limited(.callsOfApplication, retryAfter: nil)
            case .tooOften(let wait): .limited(.startsOfApplication, retryAfter: wait)
            }
    }

    /// The refusal of a call that was to be started.
    init(starting error: CallError) {
        self =
            switch error {
            case .tooManyCalls(let wait): .limited(.startsOfParty, retryAfter: wait)
            case .limitOfLegs: .limited(.callsOfParty, retryAfter: nil)
            case .limitOfCalls, .storageUnavailable, .draining, .noSuchCall, .alreadyAnswered, .notAllowed,
                .unreachable,
                .pending, .malformedDescription, .descriptionTooLong, .unsupportedDescription, .descriptionMissing,
                .unplayable, .digitsWaiting, .notForGuests, .unsupported:
                .unavailable
            }
    }

    /// The refusal of a command that the call did not carry out.
    init(_ error: CallError, in call: ApplicationCall) {
        self =
            switch error {
            case .noSuchCall: .notAllowed(call, .ended)
            case .alreadyAnswered: .notAllowed(call, .answered)
            case .notAllowed(_, .noEarlyMedia): .notAllowed(call, .noEarlyMedia)
            case .notAllowed, .descriptionMissing: .notAllowed(call, .notNow)
            case .unreachable: .notAllowed(call, .unreachable)
            case .pending: .notAllowed(call, .pending)
            case .malformedDescription, .descriptionTooLong, .unsupportedDescription:
                .notAllowed(call, .noUsableAudio)
            case .unplayable(let error): .invalid(.unplayable(error))
            case .digitsWaiting(let limit, let wait): .limited(.waitingKeys(limit: limit), retryAfter: wait)
            case .unsupported(.forwards(let limit)): .notAllowed(call, .forwards(limit: limit))
            case .notForGuests, .unsupported: .notAllowed(call, .unsupported)
            case .tooManyCalls(let wait): .limited(.startsOfParty, retryAfter: wait)
            case .limitOfLegs: .limited(.callsOfParty, retryAfter: nil)
            case .limitOfCalls, .storageUnavailable, .draining: .unavailable
            }
    }
}
