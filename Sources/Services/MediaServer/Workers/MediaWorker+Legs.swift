internal import AudioStreams
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
        _ name: LegID, _ credentials: ICECredentials, for id: CallID, _ context: inout WorkerContext
    ) {
        let call = openCall(id)
        let previous = call.leg(name)
        if let previous { part(with: previous, &context) }
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
        _ name: LegID, _ route: MediaRoute, in id: CallID, _ context: inout WorkerContext
    ) {
        guard let call = calls[id], let leg = call.hearingLeg(name) else { return }
        let (audio, video): (MediaSource, MediaSource?) =
            switch route {
            case .silence: (.silence, .silence)
            case .mix: (.mix, leg.usualSource == .mix ? nil : .silence)
            case .leg(let other):
                call.hearingLeg(other).map { (.leg($0.index), .leg($0.index)) } ?? (.silence, .silence)
            }
        leg.usualSource = audio
        if leg.played == nil, !leg.isInterrupted {
            call.bridge.setSource(audio, of: .audio, for: leg.index, at: context.now)
        }
        if let video { call.bridge.setSource(video, of: .video, for: leg.index, at: context.now) }
        refreshAudio(of: call, at: context.now)
        sendControl(of: call, &context)
        rearm(call)
    }

    /// Removes one leg from a call, with RTCP BYE and the closing alert of DTLS.
    func release(_ name: LegID, of id: CallID, _ context: inout WorkerContext) {
        guard let call = calls[id], let leg = call.hearingLeg(name) else { return }
        call.bridge.removeLeg(leg.index, at: context.now)
        sendControl(of: call, &context)
        if let leg = call.leg(name) {
            part(with: leg, &context)
            call.remove(leg)
        }
        if let leg = call.headlessLeg(name) {
            withdraw(leg, from: call)
            end(leg.voice, of: name, in: id, .callEnded)
        }
        refreshAudio(of: call, at: context.now)
        // Legs that saw this leg may see another one now.
        sendControl(of: call, &context)
        rearm(call)
    }

    /// Ends the DTLS associations of a leg, and forgets the paths of its packets.
    func part(with leg: MediaLeg, _ context: inout WorkerContext) {
        for other in leg.further { part(with: other, &context) }
        if let dtls = leg.dtls, !reassignHandshake(of: leg) {
            dtls.close()
            sendHandshake(of: leg, dtls, &context)
        }
        forget(leg, &context)
    }
}
