internal import CallControl
internal import CallRuntime
internal import Logging
internal import MediaPlane
internal import Observability
internal import Primitives

/// Headless legs: made, given something to say, and moved to another call (docs/adr/0009).
extension MediaWorker {
    /// Makes a headless leg. An existing one says something else from now on.
    func prepareHeadless(_ name: LegID, _ source: HeadlessSource, for id: CallID, _ context: inout WorkerContext) {
        let call = openCall(id)
        if let leg = call.headlessLeg(name) {
            leg.voice = voice(of: source)
            call.audio?.setVoice(leg.voice, of: leg.index)
        } else {
            guard let index = call.bridge.addHeadlessLeg(random: &random, at: context.now) else {
                return environment.logger.error("no room for another leg", metadata: [LogKey.call: "\(id)"])
            }
            install(HeadlessLeg(name: name, index: index, voice: voice(of: source)), in: call)
        }
        refreshAudio(of: call, at: context.now)
        sendControl(of: call, &context)
        rearm(call)
    }

    /// Adds a headless leg that has a place in the call's bridge.
    func install(_ leg: HeadlessLeg, in call: MediaCall) {
        call.install(leg)
        call.audio?.setVoice(leg.voice, of: leg.index)
    }

    /// Takes a headless leg out of the call's tables. It must have left the bridge, or be about to.
    func withdraw(_ leg: HeadlessLeg, from call: MediaCall) {
        call.remove(leg)
        call.audio?.setVoice(nil, of: leg.index)
    }

    /// The worker's part of a call, which is made if it does not exist.
    func openCall(_ id: CallID) -> MediaCall {
        if let call = calls[id] { return call }
        let call = MediaCall(id: id, bridge: Bridge(cname: id.canonicalName, wallClock: wallClock))
        calls[id] = call
        endpoint.setCallCount(calls.count)
        return call
    }

    private func voice(of source: HeadlessSource) -> any HeadlessVoice {
        switch source {
        case .silence: PlayingVoice(nil)
        case .echo(let delay): EchoVoice(delay: delay)
        // A file that has been removed from the cache since it was loaded is silence.
        case .playback(let playback): PlayingVoice(player(for: playback))
        }
    }
}
