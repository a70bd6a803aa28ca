internal import Audio
internal import AudioStreams
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
            leg.voice.setBase(voice(of: source))
        } else {
            guard let index = call.bridge.addHeadlessLeg(random: &random, at: context.now) else {
                return environment.logger.error("no room for another leg", metadata: [LogKey.call: "\(id)"])
            }
            install(HeadlessLeg(name: name, index: index, voice: SpeakingVoice(voice(of: source))), in: call)
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
        startedCalls &+= 1
        endpoint.setCallCount(calls.count)
        return call
    }

    // MARK: Saying

    /// Does something with the audio of a headless leg.
    func say(_ speech: Speech, by name: LegID, in id: CallID, _ context: inout WorkerContext) {
        guard let call = calls[id], let leg = call.headlessLeg(name) else {
            return environment.refuse(speech, of: name, in: id)
        }
        switch speech {
        case .play(let list, let number, let tag, let mode):
            leg.voice.play(list, resolved(list), number: number, tag: tag, replacing: mode == .replace)
        case .stop: leg.voice.stop()
        case .stopList(let number): leg.voice.stop(number)
        case .mute(let isMuted): leg.voice.isMuted = isMuted
        case .pause(let isPaused): leg.voice.isPaused = isPaused
        case .stream(let stream): attach(stream, to: leg, in: call, at: context.now)
        case .record(let order): leg.voice.record(order, with: environment.recorder)
        }
        report(leg, in: call)
        rearm(call)
    }

    /// Tells which lists of a headless leg are over.
    func report(_ leg: HeadlessLeg, in call: MediaCall) { report(leg.voice, of: leg.name, in: call.id) }

    private func report(_ voice: SpeakingVoice, of name: LegID, in id: CallID) {
        for list in voice.takePlayed() { environment.events(id, .played(list, name)) }
    }

    /// Ends what a leg plays that is over, and its streams.
    func end(_ voice: SpeakingVoice, of name: LegID, in id: CallID, _ reason: StreamEnd) {
        voice.cutOff()
        report(voice, of: name, in: id)
        voice.endStream(reason)
    }

    /// Makes what the items of a list are played from; `nil` if a file has been removed from the cache since it was
    /// loaded.
    private func resolved(_ list: PlayList) -> [SpokenItem]? {
        var items: [SpokenItem] = []
        for item in list.items {
            switch item {
            // A file has no slash in its name, and a URL has some.
            case .file(let name), .url(let name):
                guard let sound = environment.library.sound(of: name) else { return nil }
                items.append(SpokenItem(.sound(sound), length: nil))
            case .tone(let tone, let length):
                let cadence = ToneCadence(ToneCadence.Kind(tone), in: environment.toneRegion)
                items.append(SpokenItem(.tone(cadence), length: length))
            case .silence(let length): items.append(SpokenItem(.silence, length: length))
            case .music(let length): items.append(SpokenItem(.music, length: length))
            }
        }
        return items
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
