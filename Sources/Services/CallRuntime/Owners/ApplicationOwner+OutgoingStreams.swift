import AudioStreams
import CallControl
import Logging
import Observability
import Primitives

/// The streams that the gateway opens. `StreamDialing` decides when a program is tried; this connects, and asks the
/// call to let the socket carry the audio of the leg, in the turn of the leg.
extension ApplicationOwner {
    /// Opens the stream of a call, or ends it.
    ///
    /// - Throws: `ApplicationRefusal`.
    func stream(
        _ request: StreamRequest, in session: SessionID, expecting version: UInt64?,
        asking switchboard: LocalSwitchboard
    ) async throws(ApplicationRefusal) -> ApplicationCall {
        guard legs[session] != nil else { throw .noSuchCall }
        await turn(of: session)
        defer { pass(session) }
        let before = try await call(session, asking: switchboard)
        if let version, version != before.version { throw .versionMismatch(before) }
        guard let leg = legs[session] else { throw .noSuchCall }
        switch request {
        case .connect(let order):
            if let obstacle = leg.view.obstacleToStream { throw .notAllowed(before, obstacle) }
            // It takes the place of a program that is waited for.
            if !leg.view.awaitsProgram, let obstacle = obstacleToOneMoreStream {
                throw .limited(obstacle, retryAfter: nil)
            }
            startStream(order, in: session)
        case .stop:
            guard let stream = outgoing.removeValue(forKey: session) else {
                throw .notAllowed(before, .noStreamOfGateway)
            }
            end(stream, in: session)
        }
        return try await call(session, asking: switchboard)
    }

    /// Opens the stream that the call was to have from its start, now that the leg hears something.
    func openAwaitedStream(of session: SessionID) {
        guard let order = awaitedStreams.removeValue(forKey: session), let leg = legs[session], !leg.isOver,
            leg.stream == nil
        else { return }
        startStream(order, in: session)
    }

    /// Starts to connect to the program of a stream. The leg must have none.
    func startStream(_ order: StreamOrder, in session: SessionID) {
        var random = environment.random.generator
        let number = random.next()
        edit(session) { $0.connect(StreamID(number)) }
        incoming[session] = nil
        outgoing[session] = OutgoingStream(
            number: number, order: order, dialing: StreamDialing(at: environment.clock.now, order.dialing))
        connect(session)
    }

    /// The application wants the stream no more.
    private func end(_ stream: OutgoingStream, in session: SessionID) {
        links[session] = nil
        if stream.name == nil { stream.cancel() } else { stream.link.stop() }
        edit(session) { leg in
            leg.endStream()
            leg.dropFallback()
        }
    }

    /// Connects, for the first time or again.
    private func connect(_ session: SessionID) {
        guard var stream = outgoing[session] else { return }
        stream.socket = nextSocket()
        stream.link = StreamLink()
        stream.name = nil
        let (socket, order) = (stream.socket, stream.order)
        let destination = order.destination.tracing(order.trace ?? legs[session]?.view.trace)
        // News come by the inbox, so that none is handled before this is done.
        stream.cancel = environment.streams.connect(
            stream.link, to: destination, subprotocol: order.terms.dialect.subprotocol
        ) { [self] news in
            streamNews(news, of: socket, in: session)
        }
        outgoing[session] = stream
    }

    /// No two sockets of the application have the same number, so that the news of one are not taken for another's.
    private func nextSocket() -> Int {
        lastSocket += 1
        return lastSocket
    }

    /// Something has become of a socket.
    func take(_ news: StreamNews, of socket: Int, in session: SessionID, at now: MonotonicTime) {
        guard outgoing[session]?.socket == socket else { return }
        switch news {
        case .opened:
            outgoing[session]?.dialing.opened(at: now)
            streamSteps.append((session, .attach))
        case .lost(let loss, let reason): lost(loss, because: reason, in: session, at: now)
        }
    }

    private func lost(_ loss: StreamLoss, because reason: String, in session: SessionID, at now: MonotonicTime) {
        guard var stream = outgoing[session] else { return }
        links[session] = nil
        if let name = stream.name { environment.media.remove(name) }
        var random = environment.random.generator
        let action = stream.dialing.lost(loss, at: now, random: &random)
        switch action {
        case .wait:
            outgoing[session] = stream
            edit(session) { $0.lostStream() }
        case .end, .giveUp:
            outgoing[session] = nil
            edit(session) { leg in
                leg.endStream()
                if action == .end { leg.dropFallback() }
            }
        }
        let call = legs[session].map { "\($0.place.call)" } ?? ""
        let metadata: Logger.Metadata = [LogKey.call: "\(call)", LogKey.reason: "\(reason)"]
        guard action == .giveUp else {
            return environment.logger.debug("the socket of a stream is gone", metadata: metadata)
        }
        environment.logger.notice("the program of a stream cannot be reached", metadata: metadata)
        if stream.order.fallback != .none {
            streamSteps.append((session, .fallBack(stream.order.fallback)))
        } else if legs[session]?.awaitsFallback == true {
            // The stream did not come about that was to take the place of the fallback of another one.
            streamSteps.append((session, .fallBackLate))
        }
    }

    /// Connects again where it is time.
    func redial(at now: MonotonicTime) {
        for session in outgoing.keys where outgoing[session]?.dialing.timeout(at: now) == true {
            edit(session) { leg in
                if let stream = leg.stream { leg.connect(stream) }
            }
            connect(session)
        }
    }

    // MARK: What takes a while

    /// What follows for streams since the last call.
    func takeStreamSteps() -> [(session: SessionID, step: OutgoingStream.Step)] {
        guard !streamSteps.isEmpty else { return [] }
        defer { streamSteps = [] }
        return streamSteps
    }

    /// Does what follows for a stream.
    func carryOut(_ step: OutgoingStream.Step, in session: SessionID, asking switchboard: LocalSwitchboard) async {
        if step.isOfApplication, case .announce(let list) = application.fallback { await loadAnnouncement(list) }
        await turn(of: session)
        defer { pass(session) }
        switch step {
        case .attach: await attach(session, asking: switchboard)
        case .fallBack(let fallback): await fallBack(to: fallback, in: session, asking: switchboard)
        case .fallBackLate:
            if legs[session]?.awaitsFallback == true {
                await fallBack(to: .application, in: session, asking: switchboard)
            }
        }
    }

    /// Lets the open socket carry the audio of the leg. A call that does not allow it now is asked again like a program
    /// that was lost: with the next socket.
    private func attach(_ session: SessionID, asking switchboard: LocalSwitchboard) async {
        guard let stream = outgoing[session], stream.dialing.isOpen, stream.name == nil, let leg = legs[session],
            !leg.isOver
        else { return }
        var call = leg.view
        call.trace = stream.order.trace ?? call.trace
        let name = announce(stream.link, stream.order.terms, of: call, as: stream)
        outgoing[session]?.name = name
        links[session] = stream.link
        guard let command = edit(session, { $0.open(name) }) else { return }
        do throws(CallError) {
            try await switchboard.perform(command, in: session, by: leg.place)
            edit(session) { $0.dropFallback() }
        } catch {
            environment.media.remove(name)
            stream.cancel()
            guard outgoing[session]?.socket == stream.socket else { return }
            // What the cancelled socket tells is old from here on.
            let next = nextSocket()
            outgoing[session]?.socket = next
            streamNews(.lost(.transient, "the call does not allow a stream now"), of: next, in: session)
        }
    }

    /// The program of the stream is given up.
    private func fallBack(
        to fallback: StreamOrder.Fallback, in session: SessionID, asking switchboard: LocalSwitchboard
    ) async {
        _ = await look(at: session, asking: switchboard)
        guard let leg = legs[session], !leg.isOver, leg.stream == nil else { return }
        switch fallback {
        case .none: break
        case .end: await perform(.end(reasonText: nil), in: session, asking: switchboard)
        case .application:
            let configured = application.fallback
            guard let outcome = edit(session, { $0.giveUpProgram(configured) }) else { return }
            switch outcome {
            case .likeUndecided: await fallBackUndecided(leg, to: configured, in: session, asking: switchboard)
            case .now: await fallBackAnswered(leg, to: configured, in: session, asking: switchboard)
            case .withAnswer: break
            }
        }
    }

    /// What happens to a call about which nobody decides happens to one that has nothing to wait for.
    private func fallBackAnswered(
        _ leg: ApplicationLeg, to fallback: ApplicationFallback, in session: SessionID,
        asking switchboard: LocalSwitchboard
    ) async {
        do throws(CallError) {
            switch fallback {
            case .reject: try await decide(.end(reasonText: nil), in: session, asking: switchboard)
            case .forward(let target): try await decide(.transfer(to: target), in: session, asking: switchboard)
            case .answer(let source):
                try await switchboard.perform(.headless(.become(source)), in: session, by: leg.place)
            case .announce(let list): await announce(list, in: session, asking: switchboard)
            }
        } catch {
            environment.logger.debug("fallback is refused", metadata: [LogKey.call: "\(leg.place.call)"])
            await perform(.end(reasonText: nil), in: session, asking: switchboard)
        }
    }

    // MARK: The end of a leg

    /// The leg is over: the media plane ends the streams that it has.
    func leaveStreams(of session: SessionID) {
        awaitedStreams[session] = nil
        incoming[session] = nil
        if let stream = outgoing.removeValue(forKey: session), stream.name == nil { stream.cancel() }
        edit(session) { $0.endStream() }
    }

    /// The leg is forgotten.
    func forgetStreams(of session: SessionID) {
        awaitedStreams[session] = nil
        links[session] = nil
        listeners[session] = nil
        incoming[session] = nil
        if let stream = outgoing.removeValue(forKey: session) { stream.cancel() }
    }
}
