internal import CallControl
internal import CallRuntime
internal import DTLS
internal import Logging
internal import MediaPlane
internal import Observability
internal import Primitives
internal import SDP

/// DTLS: one association per transport, from the first valid check to the keys.
extension MediaWorker {
    func startHandshake(of leg: MediaLeg, as role: DTLSRole, _ context: inout WorkerContext) {
        guard !takeAssociation(for: leg, as: role, &context) else { return }
        do {
            let dtls = try DTLSTransport(context: environment.context, role: DTLSTransport.Role(role))
            leg.dtls = dtls
            (leg.handshakeOrigin, leg.handshakePath, leg.pendingClientHello) = (nil, nil, nil)
            dtls.start()
            continueHandshake(of: leg, dtls, over: nil, &context)
            showEarlyFlight(of: leg, dtls, &context)
        } catch {
            environment.logger.error(
                "no DTLS endpoint", metadata: [LogKey.call: "\(leg.call.id)", LogKey.error: "\(error)"])
            perform(leg.session.handshakeFailed(), for: leg, &context)
        }
    }

    func receiveHandshake(_ slot: Int, over path: Path, _ context: inout WorkerContext) {
        switch paths.admission(over: path) {
        case .stray: tally.drop(.unknownAddress)
        case .contested: receiveContestedHandshake(slot, over: path, &context)
        case .elsewhere(let host): passOn(slot, over: path, to: host, context)
        case .here(let leg, _):
            if let reason = show(slot, over: path, to: leg, &context) { tally.drop(reason) }
        }
    }

    /// Gives a record to the association of a leg. Returns why it was not accepted; `nil` if it was.
    ///
    /// - Parameter isBinding: Whether answers are sent to where the record came from.
    func show(
        _ slot: Int, over path: Path, to leg: MediaLeg, isBinding: Bool = true, _ context: inout WorkerContext
    ) -> PacketDropReason? {
        guard let dtls = leg.dtls, leg.session.admitsHandshake(from: path) else {
            return keep(context.transport.datagram(slot), over: path, for: leg)
        }
        do {
            try HandshakeRecord.examine(context.transport.datagram(slot), expecting: dtls.expectation)
        } catch {
            return .malformed
        }
        leg.session.handshakeReceived(bytes: context.transport.count(slot), over: path)
        if isBinding {
            leg.handshakeOrigin = leg.handshakeOrigin ?? path
            leg.handshakePath = path
        }
        dtls.receive(context.transport.datagram(slot))
        continueHandshake(of: leg, dtls, over: path, &context)
        return nil
    }

    /// Handles the result of a record or a timeout: sends the flights that the association has made, and acts when the
    /// handshake has ended.
    ///
    /// - Parameter path: The path of the record; `nil` after a timeout.
    func continueHandshake(
        of leg: MediaLeg, _ dtls: DTLSTransport, over path: Path?, _ context: inout WorkerContext
    ) {
        sendHandshake(of: leg, dtls, &context)
        leg.retransmission = dtls.timeout.map { context.now + $0 }
        switch dtls.state {
        case .handshaking, .closed: break
        case .established: if leg.inbound == nil { conclude(dtls, of: leg, over: path, &context) }
        case .failed(let reason):
            environment.logger.debug(
                "handshake failed", metadata: [LogKey.call: "\(leg.call.id)", LogKey.reason: "\(reason)"])
            environment.metrics.dtlsHandshakes[.failed].increment()
            if leg.session.awaitsDescription { leg.dtls = nil }
            perform(leg.session.handshakeFailed(), for: leg, &context)
        }
        rearm(leg.call)
    }

    /// Sends the flights of an association. Answers to a record go over its path, and everything else over the path of
    /// media.
    func sendHandshake(of leg: MediaLeg, _ dtls: DTLSTransport, _ context: inout WorkerContext) {
        let destination = leg.pathOfHandshake
        var pathOfFlight: Path?
        defer { if let pathOfFlight { leg.flightSent(by: dtls, over: pathOfFlight) } }
        while let datagram = dtls.nextDatagram() {
            guard let path = destination, mayShakeHands(dtls, of: leg, over: path) else { continue }
            guard leg.session.maySend(bytes: datagram.count, over: path) else {
                tally.drop(.unprovenPath)
                continue
            }
            context.transport.queue(copying: datagram.span, over: path)
            pathOfFlight = path
        }
    }

    /// Handles a finished handshake. If several legs claim the path, a leg may have started the handshake with the peer
    /// of another leg, whose description was not known yet. The association is then given to that leg.
    private func conclude(
        _ dtls: DTLSTransport, of leg: MediaLeg, over path: Path?, _ context: inout WorkerContext
    ) {
        if let path { forgetEarlyFlights(over: path) }
        let matching = path.flatMap { matchingLeg(of: dtls, over: $0) }
        if let path, let matching, matching !== leg {
            let role = leg.session.handshakeRole
            give(dtls, of: leg, over: path, to: matching)
            protect(matching, dtls, over: path, &context)
            if let role { startHandshake(of: leg, as: role, &context) }
        } else if !leg.session.awaitsDescription {
            let isAnnounced = leg.session.awaits { dtls.peerCertificateDigest(.init($0)) }
            guard !isAnnounced, let role = leg.session.handshakeRole, reassignHandshake(of: leg) else {
                return protect(leg, dtls, over: path, &context)
            }
            startHandshake(of: leg, as: role, &context)
        }
    }

    func protect(
        _ leg: MediaLeg, _ dtls: DTLSTransport, over path: Path?, _ context: inout WorkerContext
    ) {
        let actions = leg.session.handshakeCompleted { dtls.peerCertificateDigest(.init($0)) }
        guard leg.session.isEstablished else {
            environment.metrics.dtlsHandshakes[.fingerprintMismatch].increment()
            return perform(actions, for: leg, &context)
        }
        do {
            guard try leg.installKeys(from: dtls) else {
                // The peer did not offer use_srtp with a profile that the gateway supports.
                environment.metrics.dtlsHandshakes[.failed].increment()
                if isPrincipal(leg) { environment.events(leg.call.id, .failed(leg.name, .handshakeFailed)) }
                return
            }
        } catch {
            environment.logger.error(
                "no SRTP session", metadata: [LogKey.call: "\(leg.call.id)", LogKey.error: "\(error)"])
            if isPrincipal(leg) { environment.events(leg.call.id, .failed(leg.name, .handshakeFailed)) }
            return
        }
        environment.metrics.dtlsHandshakes[.completed].increment()
        if let path { prove(path, by: leg, bytes: 0) }
        leg.call.bridge.peerReady(leg.index, over: leg.transport, at: context.now)
        if leg.call.nextMeasurement == nil { leg.call.nextMeasurement = context.now + QualityWatch.interval }
        refreshAudio(of: leg.call, at: context.now)
        perform(actions, for: leg, &context)
        sendControl(of: leg.call, &context)
    }
}
