internal import CallControl
internal import CallRuntime
internal import DTLS
internal import ICE
internal import Logging
internal import MediaPlane
internal import Observability
internal import Primitives
internal import SDP

/// Creates and removes legs, and sets what they hear and see.
extension MediaWorker {
    /// Makes a leg, or replaces it because its peer has changed. A replaced leg continues the streams that it sends.
    func prepare(
        _ name: Leg, _ credentials: ICECredentials, for id: CallID, _ transport: inout PacketTransport,
        at now: MonotonicTime
    ) {
        let call = calls[id] ?? MediaCall(id: id, bridge: Bridge(cname: id.canonicalName, wallClock: wallClock))
        calls[id] = call
        endpoint.setCallCount(calls.count)
        let previous = call.leg(name)
        if let previous { part(with: previous, &transport) }
        guard let index = previous?.index ?? call.bridge.addLeg(random: &random) else {
            return environment.logger.error("no room for another leg", metadata: [LogKey.call: "\(id)"])
        }
        let session = session(with: credentials)
        let prepared = MediaLeg(number: nextLegNumber(), call: call, name: name, index: index, session: session)
        if let previous { prepared.takeSources(of: previous) }
        call.install(prepared)
        legsByFragment[credentials.ufrag] = prepared
        environment.metrics.mediaSessionsActive.increment()
    }

    func session(with credentials: ICECredentials) -> PeerSession {
        let ice = ICELiteAgent.Configuration(consentTimeout: environment.consentTimeout)
        return PeerSession(local: credentials, configuration: PeerSession.Configuration(ice: ice))
    }

    /// Sets what a leg hears while nothing is played to it, and what it sees. In a mix the audio engine chooses what
    /// it sees.
    func route(
        _ name: Leg, _ route: MediaRoute, in id: CallID, _ transport: inout PacketTransport, at now: MonotonicTime
    ) {
        guard let call = calls[id], let leg = call.leg(name) else { return }
        let (audio, video): (MediaSource, MediaSource?) =
            switch route {
            case .silence: (.silence, .silence)
            case .mix: (.mix, leg.usualSource == .mix ? nil : .silence)
            case .leg(let other): call.leg(other).map { (.leg($0.index), .leg($0.index)) } ?? (.silence, .silence)
            }
        leg.usualSource = audio
        if leg.played == nil, !leg.isInterrupted { call.bridge.setSource(audio, of: .audio, for: leg.index, at: now) }
        if let video { call.bridge.setSource(video, of: .video, for: leg.index, at: now) }
        refreshAudio(of: call, at: now)
        sendControl(of: call, &transport)
        rearm(call)
    }

    /// One leg says good-bye, the others stay.
    func release(_ name: Leg, of id: CallID, _ transport: inout PacketTransport, at now: MonotonicTime) {
        guard let call = calls[id], let leg = call.leg(name) else { return }
        call.bridge.removeLeg(leg.index, at: now)
        sendControl(of: call, &transport)
        part(with: leg, &transport)
        call.remove(leg)
        refreshAudio(of: call, at: now)
        // Whoever saw it may see another one now.
        sendControl(of: call, &transport)
        rearm(call)
    }

    /// Ends a leg's DTLS associations and forgets where its packets came from.
    func part(with leg: MediaLeg, _ transport: inout PacketTransport) {
        for other in leg.further { part(with: other, &transport) }
        if let dtls = leg.dtls, !bequeathHandshake(of: leg) {
            dtls.close()
            sendHandshake(of: leg, dtls, &transport)
        }
        forget(leg, &transport)
    }
}
