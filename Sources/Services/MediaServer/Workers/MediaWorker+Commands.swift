internal import AudioStreams
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
    func carryOut(_ command: MediaCommand, for id: CallID, _ context: inout WorkerContext) {
        switch command {
        case .prepare(let leg, let credentials): prepare(leg, credentials, for: id, &context)
        case .prepareHeadless(let leg, let source): prepareHeadless(leg, source, for: id, &context)
        case .connect(let leg, let negotiated): connect(leg, negotiated, for: id, &context)
        case .route(let leg, let route): self.route(leg, route, in: id, &context)
        case .adopt(_, _, let name): adopt(name, in: id, &context)
        case .releaseLeg(let leg): release(leg, of: id, &context)
        case .play(let playback, let number, let leg):
            play(playback, number: number, to: leg, in: id, &context)
        case .stopPlaying(let leg): stopPlaying(to: leg, in: id, &context)
        case .say(let leg, let speech): say(speech, by: leg, in: id, &context)
        case .sendDigits(let digits, let leg): sendDigits(digits, to: leg, in: id, at: context.now)
        case .release: release(id, &context)
        }
    }

    private func connect(
        _ leg: LegID, _ negotiated: NegotiatedLeg, for id: CallID, _ context: inout WorkerContext
    ) {
        guard let call = calls[id], let media = call.leg(leg) else { return }
        call.bridge.configure(media.index, negotiated, random: &random, at: context.now)
        media.principal = negotiated.principalTransport
        perform(media.session.connect(negotiated.transport, at: context.now), for: media, &context)
        routeChecks(to: media)
        connectFurtherTransports(of: media, negotiated, &context)
        refreshAudio(of: call, at: context.now)
        sendControl(of: call, &context)
        rearm(call)
    }

    /// Routes checks with any local fragment of the leg to it. During an ICE restart it has two fragments.
    func routeChecks(to leg: MediaLeg) {
        for fragment in leg.session.localFragments {
            legsByFragment[fragment] = leg
            tellFormerWorkers(of: leg, .named(fragment))
        }
    }

    /// Ends all legs with RTCP BYE and the closing alert of DTLS, and forgets the call.
    func release(_ id: CallID, _ context: inout WorkerContext) {
        guard let call = calls.removeValue(forKey: id) else { return }
        endpoint.setCallCount(calls.count)
        call.bridge.end(at: context.now)
        sendControl(of: call, &context)
        for leg in call.legs { part(with: leg, &context) }
        for leg in call.headlessLegs { end(leg.voice, of: leg.name, in: id, isStopping ? .shutdown : .callEnded) }
        deadlines.set(nil, for: id.rawValue)
    }

    func forget(_ leg: MediaLeg, _ context: inout WorkerContext) {
        reassignHandshake(of: leg)
        forgetSources(of: leg)
        for fragment in leg.session.localFragments where legsByFragment[fragment] === leg {
            legsByFragment[fragment] = nil
        }
        let paths = leg.session.validatedPaths
        tellFormerWorkers(of: leg, .withdrawn(leg.number, fragments: leg.session.localFragments, paths: paths))
        tellFormerWorkers(of: leg, .forgotten(leg.number, leg.sources.all))
        for path in paths { forget(path, of: leg, &context) }
        environment.metrics.mediaSessionsActive.decrement()
    }

    /// Withdraws the leg's claim to a path, which other claimants then hold. A TCP connection whose path has no
    /// claimant any more is closed.
    private func forget(_ path: Path, of leg: MediaLeg, _ context: inout WorkerContext) {
        if paths.withdraw(path, by: leg.number) { context.transport.release(path) }
    }

    // MARK: Sessions

    func perform(
        _ actions: [SessionAction], for leg: MediaLeg, _ context: inout WorkerContext
    ) {
        leg.followSession()
        for action in actions {
            switch action {
            case .transmit(let bytes, let path): context.transport.queue(copying: bytes.span, over: path)
            case .pathValidated: break  // claimed with every valid check, the first among them
            case .pathForgotten(let path):
                tellFormerWorkers(of: leg, .withdrawn(leg.number, fragments: [], paths: [path]))
                forget(path, of: leg, &context)
            case .fragmentRetired(let fragment):
                if legsByFragment[fragment] === leg { legsByFragment[fragment] = nil }
                tellFormerWorkers(of: leg, .withdrawn(leg.number, fragments: [fragment], paths: []))
            case .refused(let refusal): environment.metrics.stunRefused[STUNRefusal(refusal)].increment()
            case .startHandshake(let role): startHandshake(of: leg, as: role, &context)
            case .event(let event): tell(event, of: leg)
            }
        }
    }

    /// Handles a valid check of the leg over a path. Former workers are told of a new path at once, and are reminded of
    /// one path per second.
    func admit(_ path: Path, of leg: MediaLeg, isNew: Bool, _ context: inout WorkerContext) {
        paths.claim(path, by: leg.number, at: .here(leg))
        context.transport.prove(path)
        guard !leg.formerWorkers.isEmpty, isNew || context.now >= leg.nextReminder else { return }
        leg.nextReminder = context.now + .seconds(1)
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

    private func tell(_ event: SessionEvent, of leg: MediaLeg) {
        environment.logger.debug(
            "media event",
            metadata: [
                LogKey.call: "\(leg.call.id)", LogKey.leg: "\(leg.name)", LogKey.transport: "\(leg.transport.rawValue)",
                LogKey.event: "\(event)",
            ])
        if case .failed(let failure) = event {
            environment.metrics.mediaSessionsFailed[MediaSessionFailure(failure)].increment()
            reassignHandshake(of: leg)
        }
        if isPrincipal(leg) { environment.events(leg.call.id, MediaEvent(event, leg.name)) }
    }
}
