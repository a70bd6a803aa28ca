internal import CallControl
internal import CallRuntime
internal import ICE
internal import Logging
internal import MediaPlane
internal import Observability
internal import Primitives
internal import SDP
internal import Sockets

/// Carries out the commands of call handling, and the actions of sessions.
extension MediaWorker {
    func carryOut(_ command: MediaCommand, for id: CallID, _ transport: inout PacketTransport, at now: MonotonicTime) {
        switch command {
        case .prepare(let leg, let credentials): prepare(leg, credentials, for: id, &transport, at: now)
        case .connect(let leg, let negotiated): connect(leg, negotiated, for: id, &transport, at: now)
        case .route(let leg, let route): self.route(leg, route, in: id, &transport, at: now)
        case .adopt(_, _, let name): adopt(name, in: id, &transport, at: now)
        case .releaseLeg(let leg): release(leg, of: id, &transport, at: now)
        case .play(let playback, let number, let leg):
            play(playback, number: number, to: leg, in: id, &transport, at: now)
        case .stopPlaying(let leg): stopPlaying(to: leg, in: id, &transport, at: now)
        case .sendDigits(let digits, let leg): sendDigits(digits, to: leg, in: id, at: now)
        case .release: release(id, &transport, at: now)
        }
    }

    private func connect(
        _ leg: Leg, _ negotiated: NegotiatedLeg, for id: CallID, _ transport: inout PacketTransport,
        at now: MonotonicTime
    ) {
        guard let call = calls[id], let media = call.leg(leg) else { return }
        call.bridge.configure(media.index, negotiated, random: &random, at: now)
        media.principal = negotiated.principalTransport
        perform(media.session.connect(negotiated.transport, at: now), for: media, &transport, at: now)
        routeChecks(to: media)
        connectFurtherTransports(of: media, negotiated, &transport, at: now)
        refreshAudio(of: call, at: now)
        sendControl(of: call, &transport)
        rearm(call)
    }

    /// Starts ICE over on a live leg (RFC 8445 §9); the call notices nothing of it. `remote` is `nil` while the peer's answer to an
    /// offer of ours is still to come.
    func restart(
        _ leg: Leg, local: ICECredentials, remote: ICECredentials?, for id: CallID, _ transport: inout PacketTransport,
        at now: MonotonicTime
    ) {
        guard let call = calls[id], let media = call.leg(leg) else { return }
        perform(media.session.restart(local: local, remote: remote, at: now), for: media, &transport, at: now)
        routeChecks(to: media)
        rearm(call)
    }

    /// Checks that name any of the leg's fragments are the leg's: two of them during a restart.
    func routeChecks(to leg: MediaLeg) {
        for fragment in leg.session.localFragments {
            legsByFragment[fragment] = leg
            tellFormerWorkers(of: leg, .named(fragment))
        }
    }

    /// Says good-bye on every layer and forgets the call.
    func release(_ id: CallID, _ transport: inout PacketTransport, at now: MonotonicTime) {
        guard let call = calls.removeValue(forKey: id) else { return }
        endpoint.setCallCount(calls.count)
        call.bridge.end(at: now)
        sendControl(of: call, &transport)
        for leg in call.legs { part(with: leg, &transport) }
        deadlines.set(nil, for: id.rawValue)
    }

    func forget(_ leg: MediaLeg, _ transport: inout PacketTransport) {
        bequeathHandshake(of: leg)
        forgetSources(of: leg)
        for fragment in leg.session.localFragments where legsByFragment[fragment] === leg {
            legsByFragment[fragment] = nil
        }
        let paths = leg.session.validatedPaths
        tellFormerWorkers(of: leg, .withdrawn(leg.number, fragments: leg.session.localFragments, paths: paths))
        tellFormerWorkers(of: leg, .forgotten(leg.number, leg.sources.all))
        for path in paths { forget(path, of: leg, &transport) }
        environment.metrics.mediaSessionsActive.decrement()
    }

    /// Whoever else claims the path has it from now on. A connection that carries nobody's path any more is closed.
    private func forget(_ path: Path, of leg: MediaLeg, _ transport: inout PacketTransport) {
        if paths.withdraw(path, by: leg.number) { transport.release(path) }
    }

    // MARK: Sessions

    func perform(
        _ actions: [SessionAction], for leg: MediaLeg, _ transport: inout PacketTransport, at now: MonotonicTime
    ) {
        leg.followSession()
        for action in actions {
            switch action {
            case .transmit(let bytes, let path): transport.queue(copying: bytes.span, over: path)
            case .pathValidated: break  // claimed with every valid check, the first among them
            case .pathForgotten(let path):
                tellFormerWorkers(of: leg, .withdrawn(leg.number, fragments: [], paths: [path]))
                forget(path, of: leg, &transport)
            case .fragmentRetired(let fragment):
                if legsByFragment[fragment] === leg { legsByFragment[fragment] = nil }
                tellFormerWorkers(of: leg, .withdrawn(leg.number, fragments: [fragment], paths: []))
            case .refused(let refusal): environment.metrics.stunRefused[STUNRefusal(refusal)].increment()
            case .startHandshake(let role): startHandshake(of: leg, as: role, &transport, at: now)
            case .event(let event): tell(event, of: leg, &transport, at: now)
            }
        }
    }

    /// A valid check of the leg came over this path. Other workers are told of a new path at once, and reminded of one path a second.
    func admit(_ path: Path, of leg: MediaLeg, isNew: Bool, _ transport: inout PacketTransport, at now: MonotonicTime) {
        paths.claim(path, by: leg.number, at: .here(leg))
        transport.prove(path)
        guard !leg.formerWorkers.isEmpty, isNew || now >= leg.nextReminder else { return }
        leg.nextReminder = now + .seconds(1)
        tellFormerWorkers(of: leg, .validated(leg.number, path))
    }

    /// Handles a packet over a path that the keys of the leg have authenticated: the path belongs to the leg, and may
    /// be used for its media.
    func prove(_ path: Path, by leg: MediaLeg, bytes: Int) {
        guard leg.session.prove(path, by: bytes) else { return }
        paths.prove(path, by: leg.number)
        leg.followSession()
        tellFormerWorkers(of: leg, .proven(leg.number, path))
    }

    private func tell(
        _ event: SessionEvent, of leg: MediaLeg, _ transport: inout PacketTransport, at now: MonotonicTime
    ) {
        environment.logger.debug(
            "media event",
            metadata: [
                LogKey.call: "\(leg.call.id)", LogKey.leg: "\(leg.name)", LogKey.transport: "\(leg.transport.rawValue)",
                LogKey.event: "\(event)",
            ])
        if case .failed(let failure) = event {
            environment.metrics.mediaSessionsFailed[MediaSessionFailure(failure)].increment()
            bequeathHandshake(of: leg)
        }
        if isPrincipal(leg) { environment.events(leg.call.id, MediaEvent(event, leg.name)) }
    }
}
