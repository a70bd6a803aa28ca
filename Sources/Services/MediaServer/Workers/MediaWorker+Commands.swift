internal import CallControl
internal import CallRuntime
internal import DTLS
internal import ICE
internal import Logging
internal import MediaPlane
internal import Observability
internal import Primitives
internal import SDP
internal import Sockets

/// What call handling asks for, and what sessions and handshakes answer.
extension MediaWorker {
    func carryOut(_ command: MediaCommand, for id: CallID, _ transport: inout PacketTransport, at now: MonotonicTime) {
        switch command {
        case .prepare(let leg, let credentials): prepare(leg, credentials, for: id, &transport, at: now)
        case .connect(let leg, let negotiated): connect(leg, negotiated, for: id, &transport, at: now)
        case .route(let leg, let route): self.route(leg, route, in: id, &transport, at: now)
        case .adopt(_, _, let name): adopt(name, in: id, &transport, at: now)
        case .releaseLeg(let leg): release(leg, of: id, &transport, at: now)
        case .play(let playback, let number, let leg): play(playback, number: number, to: leg, in: id, &transport, at: now)
        case .stopPlaying(let leg): stopPlaying(to: leg, in: id, &transport, at: now)
        case .sendDigits(let digits, let leg): sendDigits(digits, to: leg, in: id, at: now)
        case .release: release(id, &transport, at: now)
        }
    }

    private func connect(_ leg: Leg, _ negotiated: NegotiatedLeg, for id: CallID, _ transport: inout PacketTransport, at now: MonotonicTime) {
        guard let call = calls[id], let media = call.leg(leg) else { return }
        call.bridge.configure(media.index, negotiated, random: &random, at: now)
        perform(media.session.connect(negotiated.transport, at: now), for: media, &transport, at: now)
        routeChecks(to: media)
        refreshAudio(of: call, at: now)
        sendControl(of: call, &transport)
        rearm(call)
    }

    /// Starts ICE over on a live leg (RFC 8445 §9); the call notices nothing of it. `remote` is `nil` while the peer's answer to an
    /// offer of ours is still to come.
    func restart(
        _ leg: Leg, local: ICECredentials, remote: ICECredentials?, for id: CallID, _ transport: inout PacketTransport, at now: MonotonicTime
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
        for fragment in leg.session.localFragments where legsByFragment[fragment] === leg { legsByFragment[fragment] = nil }
        tellFormerWorkers(of: leg, .withdrawn(fragments: leg.session.localFragments, paths: leg.session.validatedPaths))
        for path in leg.session.validatedPaths { forget(path, of: leg, &transport) }
        environment.metrics.mediaSessionsActive.decrement()
    }

    /// A connection that carries nobody's path any more is closed.
    private func forget(_ path: Path, of leg: MediaLeg, _ transport: inout PacketTransport) {
        guard legsByPath[path] === leg else { return }
        legsByPath[path] = nil
        transport.release(path)
    }

    // MARK: Sessions

    func perform(_ actions: [SessionAction], for leg: MediaLeg, _ transport: inout PacketTransport, at now: MonotonicTime) {
        leg.destination = leg.session.selectedPath
        // First, because the answer, which may leave from another worker, lets the peer go on.
        for case .pathValidated(let path) in actions { admit(path, of: leg, &transport) }
        for action in actions {
            switch action {
            case .transmit(let bytes, let path): transport.queue(copying: bytes.span, over: path)
            case .pathValidated: break
            case .pathForgotten(let path):
                tellFormerWorkers(of: leg, .withdrawn(fragments: [], paths: [path]))
                forget(path, of: leg, &transport)
            case .fragmentRetired(let fragment):
                if legsByFragment[fragment] === leg { legsByFragment[fragment] = nil }
                tellFormerWorkers(of: leg, .withdrawn(fragments: [fragment], paths: []))
            case .refused(let refusal): environment.metrics.stunRefused[STUNRefusal(refusal)].increment()
            case .startHandshake(let role): startHandshake(of: leg, as: role, &transport, at: now)
            case .event(let event): tell(event, of: leg, &transport, at: now)
            }
        }
    }

    /// Packets from this path are the leg's from now on.
    private func admit(_ path: Path, of leg: MediaLeg, _ transport: inout PacketTransport) {
        legsByPath[path] = leg
        forwarding.remove(paths: [path])
        transport.prove(path)
        tellFormerWorkers(of: leg, .validated(path))
    }

    private func tell(_ event: SessionEvent, of leg: MediaLeg, _ transport: inout PacketTransport, at now: MonotonicTime) {
        environment.logger.debug(
            "media event",
            metadata: [LogKey.call: "\(leg.call.id)", LogKey.leg: "\(leg.name)", LogKey.event: "\(event)"])
        if case .failed(let failure) = event { environment.metrics.mediaSessionsFailed[MediaSessionFailure(failure)].increment() }
        environment.events(leg.call.id, MediaEvent(event, leg.name))
    }

    // MARK: Handshakes

    private func startHandshake(of leg: MediaLeg, as role: DTLSRole, _ transport: inout PacketTransport, at now: MonotonicTime) {
        do {
            let dtls = try DTLSTransport(context: environment.context, role: DTLSTransport.Role(role))
            leg.dtls = dtls
            dtls.start()
            continueHandshake(of: leg, dtls, &transport, at: now)
        } catch {
            environment.logger.error("no DTLS endpoint", metadata: [LogKey.call: "\(leg.call.id)", LogKey.error: "\(error)"])
            perform(leg.session.handshakeFailed(), for: leg, &transport, at: now)
        }
    }

    /// Something went into the handshake: sends what came out, and acts when it is over.
    func continueHandshake(of leg: MediaLeg, _ dtls: DTLSTransport, _ transport: inout PacketTransport, at now: MonotonicTime) {
        sendHandshake(of: leg, dtls, &transport)
        leg.retransmission = dtls.timeout.map { now + $0 }
        switch dtls.state {
        case .handshaking, .closed: break
        case .established: if leg.inbound == nil { protect(leg, dtls, &transport, at: now) }
        case .failed(let reason):
            environment.logger.debug("handshake failed", metadata: [LogKey.call: "\(leg.call.id)", LogKey.reason: "\(reason)"])
            environment.metrics.dtlsHandshakes[.failed].increment()
            perform(leg.session.handshakeFailed(), for: leg, &transport, at: now)
        }
        rearm(leg.call)
    }

    func sendHandshake(of leg: MediaLeg, _ dtls: DTLSTransport, _ transport: inout PacketTransport) {
        while let datagram = dtls.nextDatagram() {
            guard let path = leg.destination else { continue }
            transport.queue(copying: datagram.span, over: path)
        }
    }

    private func protect(_ leg: MediaLeg, _ dtls: DTLSTransport, _ transport: inout PacketTransport, at now: MonotonicTime) {
        let actions = leg.session.handshakeCompleted { dtls.peerCertificateDigest(.init($0)) }
        guard leg.session.isEstablished else {
            environment.metrics.dtlsHandshakes[.fingerprintMismatch].increment()
            return perform(actions, for: leg, &transport, at: now)
        }
        do {
            guard try leg.installKeys(from: dtls) else {
                // The peer did not offer use_srtp with a profile of ours.
                environment.metrics.dtlsHandshakes[.failed].increment()
                environment.events(leg.call.id, .failed(leg.name, .handshakeFailed))
                return
            }
        } catch {
            environment.logger.error("no SRTP session", metadata: [LogKey.call: "\(leg.call.id)", LogKey.error: "\(error)"])
            environment.events(leg.call.id, .failed(leg.name, .handshakeFailed))
            return
        }
        environment.metrics.dtlsHandshakes[.completed].increment()
        leg.call.bridge.peerReady(leg.index, at: now)
        if leg.call.nextMeasurement == nil { leg.call.nextMeasurement = now + QualityWatch.interval }
        refreshAudio(of: leg.call, at: now)
        perform(actions, for: leg, &transport, at: now)
        sendControl(of: leg.call, &transport)
    }
}
