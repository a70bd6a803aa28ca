import AudioStreams
import CallControl
import Logging
import Observability
import Primitives

/// The streams of an application's calls.
extension ApplicationOwner {
    /// Lets a socket carry the audio of a call.
    ///
    /// - Throws: `ApplicationRefusal`.
    func open(
        _ link: StreamLink, _ terms: StreamTerms, in session: SessionID, asking switchboard: LocalSwitchboard
    ) async throws(ApplicationRefusal) -> StreamID {
        guard legs[session] != nil else { throw .noSuchCall }
        await turn(of: session)
        defer { pass(session) }
        let before = try await call(session, asking: switchboard)
        guard let leg = legs[session] else { throw .noSuchCall }
        let listens = terms.listens != nil
        if let obstacle = listens ? leg.obstacleToListener : leg.view.obstacleToStream {
            throw .notAllowed(before, obstacle)
        }
        // A program that comes back has its place.
        if listens || !leg.view.awaitsProgram, let obstacle = obstacleToOneMoreStream {
            throw .limited(obstacle, retryAfter: nil)
        }
        let stream = announce(link, terms, of: before)
        guard let command = edit(session, { listens ? $0.listen(stream) : $0.open(stream) }) else {
            environment.media.remove(stream)
            throw .noSuchCall
        }
        if listens {
            listeners[session, default: [:]][stream] = link
        } else {
            links[session] = link
        }
        let former = incoming[session]
        if !listens { opened(terms, in: session) }
        do throws(CallError) {
            try await switchboard.perform(command, in: session, by: leg.place)
            if !listens { edit(session) { $0.dropFallback() } }
        } catch {
            environment.media.remove(stream)
            refused(stream, in: session, former)
            throw ApplicationRefusal(error, in: try await call(session, asking: switchboard))
        }
        return stream
    }

    /// Makes a stream known to the media plane.
    ///
    /// - Parameters:
    ///   - call: the call, with the trace that the stream is part of.
    ///   - ordered: the stream, if the gateway opens it; `nil`: its program has opened it.
    /// - Returns: its name.
    func announce(
        _ link: StreamLink, _ terms: StreamTerms, of call: ApplicationCall, as ordered: OutgoingStream? = nil
    ) -> StreamID {
        var random = environment.random.generator
        let stream = StreamID(random.next())
        let start = StreamStart(
            stream: "\(stream)", call: call.id.rawValue, application: identity.name.description, context: call.context,
            parameters: call.streamParameters(of: ordered?.order), from: call.from.text, to: call.to.text,
            format: terms.format, traceparent: call.trace?.description)
        environment.media.add(MediaStream(link: link, terms: terms, start: start, order: ordered?.number), as: stream)
        return stream
    }

    /// The socket of a stream is gone.
    func closed(_ stream: StreamID, in session: SessionID, because loss: StreamLoss) {
        forget(stream, in: session)
        // A socket that was gone before has no say about the one that the call has now.
        guard let leg = legs[session], leg.stream == stream, !leg.isOver,
            incoming[session]?.absence.lost(loss, at: environment.clock.now) == true
        else {
            if legs[session]?.stream == stream { incoming[session] = nil }
            _ = edit(session) { $0.close(stream) }
            return
        }
        edit(session) { $0.awaitProgram(of: stream) }
        arm(for: deadline(of: session))
    }

    /// The call has refused a stream. A program that was waited for is waited for as before.
    private func refused(_ stream: StreamID, in session: SessionID, _ former: IncomingStream?) {
        forget(stream, in: session)
        guard legs[session]?.stream == stream else {
            _ = edit(session) { $0.close(stream) }
            return
        }
        incoming[session] = former
        edit(session) { leg in
            if former == nil { leg.close(stream) } else { leg.awaitProgram(of: stream) }
        }
    }

    /// The queues of a stream are not used any more.
    private func forget(_ stream: StreamID, in session: SessionID) {
        listeners[session]?[stream] = nil
        if listeners[session]?.isEmpty == true { listeners[session] = nil }
        if legs[session]?.stream == stream { links[session] = nil }
    }

    /// A program has opened the stream of a leg.
    private func opened(_ terms: StreamTerms, in session: SessionID) {
        let now = environment.clock.now
        var program =
            incoming[session] ?? IncomingStream(terms.fallback, ProgramAbsence(openedAt: now, terms.waiting))
        program.fallback = terms.fallback
        program.absence.opened(at: now, terms.waiting)
        incoming[session] = program
    }

    /// Gives up the programs for which it was waited long enough.
    func giveUpPrograms(at now: MonotonicTime) {
        for session in Array(incoming.keys) where incoming[session]?.absence.timeout(at: now) == true {
            guard let program = incoming.removeValue(forKey: session) else { continue }
            edit(session) { $0.endStream() }
            let call = legs[session].map { "\($0.place.call)" } ?? ""
            environment.logger.notice(
                "the program of a stream has not come back", metadata: [LogKey.call: "\(call)"])
            if program.fallback != .none { streamSteps.append((session, .fallBack(program.fallback))) }
        }
    }

    /// Tells a program on the stream of a leg of a key, as the application is told.
    func tellStream(of session: SessionID, _ fact: CallEvent.Fact) {
        guard case .keyPressed(let key, let milliseconds, _) = fact, let digit = key.rawValue.first else { return }
        links[session]?.press(digit, milliseconds: milliseconds)
        for link in listeners[session, default: [:]].values { link.press(digit, milliseconds: milliseconds) }
    }
}

extension ApplicationCall {
    /// What the program of a stream is told, values by names: the parameters of the call, and those of the order, which
    /// win. Of two of the call with one name the first counts.
    ///
    /// - Parameter order: what the application asked for; `nil`: the program has opened the stream.
    fileprivate func streamParameters(of order: StreamOrder?) -> [String: String] {
        let own = Dictionary(parameters.map { ($0.name, $0.value) }) { first, _ in first }
        return own.merging(order?.parameters ?? [:]) { _, ordered in ordered }
    }
}
