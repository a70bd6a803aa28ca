internal import Audio
internal import CallControl
internal import CallRuntime
internal import MediaPlane
internal import Observability
internal import Primitives
internal import SDP

/// Audio that the gateway plays, mixes and transcodes.
extension MediaWorker {
    /// Updates the audio engine after a change of sources, legs or codecs; makes it when it is needed, and removes it
    /// when it has nothing to do.
    func refreshAudio(of call: MediaCall, at now: MonotonicTime) {
        if call.audio == nil {
            let isNeeded = call.legs.contains { leg in
                guard let state = call.bridge.audio(of: leg.index) else { return false }
                return state.isDecoded || state.feed.isMadeHere
            }
            guard isNeeded else { return }
            let engine = AudioEngine(detectsInbandKeys: environment.detectsInbandKeys)
            // What was to be played to legs that had no way to hear it yet.
            for leg in call.legs {
                if case .player(let number) = leg.played, let player = leg.player {
                    engine.setPlayer(player, number: number)
                }
            }
            call.audio = engine
        }
        call.audio?.update(to: &call.bridge, at: now)
        if call.audio?.nextCycle == nil { call.audio = nil }
    }

    /// Runs the cycle that is due: 20 ms of everything that is made here.
    func runAudio(of call: MediaCall, _ transport: inout PacketTransport, at now: MonotonicTime) {
        guard let audio = call.audio, let due = audio.nextCycle, due <= now else { return }
        let ended = audio.beginCycle(at: now)
        while let output = audio.nextPacket(&call.bridge, at: now) { send(output, of: audio, in: call, &transport) }
        for number in ended {
            for leg in call.legs where call.bridge.audio(of: leg.index)?.source == .player(number) {
                environment.events(call.id, .playbackEnded(number, leg.name))
            }
        }
        countDroppedKeys(audio)
        for leg in call.legs { finishPressing(leg, in: call, at: now) }
        // Another speaker, or keys that are over, may want a key frame.
        sendControl(of: call, &transport)
    }

    private func send(
        _ output: AudioEngine.Output, of audio: AudioEngine, in call: MediaCall, _ transport: inout PacketTransport
    ) {
        guard let leg = call.leg(output.leg, over: output.transport), let outbound = leg.outbound,
            let path = leg.destination
        else { return }
        do {
            let count = try audio.protect(output.count, with: outbound)
            guard mayLeave(count, for: leg) else { return }
            let packet = audio.packet
            transport.queue(copying: packet.span.extracting(0..<count), over: path)
            tally.sent(bytes: count)
        } catch {
            countFailure(error)
        }
    }

    // MARK: Playing

    func play(
        _ playback: Playback, number: UInt32, to name: Leg, in id: CallID, _ transport: inout PacketTransport,
        at now: MonotonicTime
    ) {
        guard let call = calls[id], let leg = call.leg(name) else { return }
        guard let player = player(for: playback) else {
            // The file has been removed from the cache since it was loaded.
            return environment.events(id, .playbackEnded(number, name))
        }
        leg.played = .player(number)
        leg.player = player
        choose(leg.played ?? .silence, for: leg, in: call, at: now)
        call.audio?.setPlayer(player, number: number)
        sendControl(of: call, &transport)
        rearm(call)
    }

    func stopPlaying(to name: Leg, in id: CallID, _ transport: inout PacketTransport, at now: MonotonicTime) {
        guard let call = calls[id], let leg = call.leg(name), let played = leg.played else { return }
        if case .player(let number) = played { call.audio?.setPlayer(nil, number: number) }
        leg.played = nil
        leg.player = nil
        if call.audio?.isPressing(leg.index) == true {
            // The keys come first.
            interrupt(leg, in: call, at: now)
        } else {
            choose(leg.usualSource ?? .silence, for: leg, in: call, at: now)
        }
        sendControl(of: call, &transport)
        rearm(call)
    }

    private func player(for playback: Playback) -> (any AudioPlayer)? {
        switch playback.source {
        case .music: MusicPlayer()
        case .tone(let tone): TonePlayer(ToneCadence(ToneCadence.Kind(tone), in: environment.toneRegion))
        case .file(let name):
            environment.library.sound(of: name).map { sound in
                SamplePlayer(sound, from: playback.offset.wholeMilliseconds * 48, repeats: playback.repeats)
            }
        }
    }

    private func choose(_ source: MediaSource, for leg: MediaLeg, in call: MediaCall, at now: MonotonicTime) {
        call.bridge.setSource(source, of: .audio, for: leg.index, at: now)
        refreshAudio(of: call, at: now)
    }

    // MARK: DTMF digits

    /// A leg that hears another one as it is hears silence around the keys instead.
    func sendDigits(_ digits: DigitSequence, to name: Leg, in id: CallID, at now: MonotonicTime) {
        guard let call = calls[id], let leg = call.leg(name) else { return }
        let queue = DigitQueue(
            digits.digits, duration: digits.duration.wholeMilliseconds, gap: digits.gap.wholeMilliseconds)
        if call.audio?.press(queue, for: leg.index) != true {
            interrupt(leg, in: call, at: now)
            _ = call.audio?.press(queue, for: leg.index)
        }
        rearm(call)
    }

    private func countDroppedKeys(_ audio: AudioEngine) {
        let dropped = audio.takeDroppedKeys()
        if dropped > 0 { environment.metrics.mediaKeysDropped.increment(by: UInt64(dropped)) }
    }

    /// Silence around keys, until they have been pressed.
    private func interrupt(_ leg: MediaLeg, in call: MediaCall, at now: MonotonicTime) {
        leg.isInterrupted = true
        choose(.player(0), for: leg, in: call, at: now)
        call.audio?.setPlayer(SilentPlayer(), number: 0)
    }

    private func finishPressing(_ leg: MediaLeg, in call: MediaCall, at now: MonotonicTime) {
        guard leg.isInterrupted, call.audio?.isPressing(leg.index) == false else { return }
        leg.isInterrupted = false
        choose(leg.played ?? leg.usualSource ?? .silence, for: leg, in: call, at: now)
    }
}

extension Duration {
    var wholeMilliseconds: Int { Int(wholeNanoseconds / 1_000_000) }
}
