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
            let isNeeded = call.bridge.indices.contains { index in
                guard let state = call.bridge.audio(of: index) else { return false }
                return state.isDecoded || state.feed.isMadeHere
            }
            guard isNeeded else { return }
            let engine = AudioEngine(detectsInbandDTMF: environment.detectsInbandDTMF)
            // Players whose legs had no engine to play with yet.
            for leg in call.hearingLegs {
                if case .player(let number) = leg.played, let player = leg.player {
                    engine.setPlayer(player, number: number)
                }
            }
            for leg in call.headlessLegs { engine.setVoice(leg.voice, of: leg.index) }
            call.audio = engine
        }
        call.audio?.update(to: &call.bridge, at: now)
        for leg in call.headlessLegs { leg.voice.awaitsPeer = call.bridge.audio(of: leg.index)?.awaitsPeer ?? false }
        if call.audio?.nextCycle == nil { call.audio = nil }
        followStreams(of: call, at: now)
    }

    /// Runs the cycle that is due: 20 ms of all audio that the gateway makes.
    func runAudio(of call: MediaCall, _ context: inout WorkerContext) {
        guard let audio = call.audio, let due = audio.nextCycle, due <= context.now else { return }
        hearStreams(of: call, isCycle: true)
        let ended = audio.startCycle(at: context.now)
        while let output = audio.nextPacket(&call.bridge, at: context.now) {
            send(output, of: audio, in: call, &context)
        }
        for number in ended {
            for leg in call.hearingLegs where call.bridge.audio(of: leg.index)?.source == .player(number) {
                environment.events(call.id, .playbackEnded(number, leg.name))
            }
        }
        for leg in call.headlessLegs { report(leg, in: call) }
        for found in audio.takeDetectedDigits() {
            call.digits.detected(found.digit, of: found.leg, at: context.now)
        }
        tellDigits(of: call)
        countDroppedDigits(audio)
        for leg in call.legs { finishPressing(leg, in: call, at: context.now) }
        // A new active speaker, or the end of DTMF digits, may require a key frame.
        sendControl(of: call, &context)
    }

    private func send(
        _ output: AudioEngine.Output, of audio: AudioEngine, in call: MediaCall, _ context: inout WorkerContext
    ) {
        guard let leg = call.leg(output.leg, over: output.transport), let outbound = leg.outbound,
            let path = leg.destination
        else { return }
        do {
            let count = try audio.protect(output.count, with: outbound)
            guard mayLeave(count, for: leg) else { return }
            let packet = audio.packet
            context.transport.queue(copying: packet.span.extracting(0..<count), over: path)
            tally.sent(bytes: count)
        } catch {
            countFailure(error)
        }
    }

    // MARK: Playing

    func play(
        _ playback: Playback, number: UInt32, to name: LegID, in id: CallID, _ context: inout WorkerContext
    ) {
        guard let call = calls[id], let leg = call.hearingLeg(name) else { return }
        guard let player = player(for: playback) else {
            // The file has been removed from the cache since it was loaded.
            return environment.events(id, .playbackEnded(number, name))
        }
        leg.played = .player(number)
        leg.player = player
        choose(leg.played ?? .silence, for: leg, in: call, at: context.now)
        call.audio?.setPlayer(player, number: number)
        sendControl(of: call, &context)
        rearm(call)
    }

    func stopPlaying(to name: LegID, in id: CallID, _ context: inout WorkerContext) {
        guard let call = calls[id], let leg = call.hearingLeg(name), let played = leg.played else { return }
        if case .player(let number) = played { call.audio?.setPlayer(nil, number: number) }
        leg.played = nil
        leg.player = nil
        if call.audio?.isPressing(leg.index) == true {
            // DTMF digits are completed first.
            interrupt(leg, in: call, at: context.now)
        } else {
            choose(leg.usualSource ?? .silence, for: leg, in: call, at: context.now)
        }
        sendControl(of: call, &context)
        rearm(call)
    }

    func player(for playback: Playback) -> (any AudioPlayer)? {
        switch playback.source {
        case .music: MusicPlayer()
        case .tone(let tone): TonePlayer(ToneCadence(ToneCadence.Kind(tone), in: environment.toneRegion))
        case .file(let name):
            environment.library.sound(of: name).map { sound in
                SamplePlayer(sound, from: Int(playback.offset.inSamples), repeats: playback.repeats)
            }
        }
    }

    private func choose(_ source: MediaSource, for leg: any HearingLeg, in call: MediaCall, at now: MonotonicTime) {
        call.bridge.setSource(source, of: .audio, for: leg.index, at: now)
        refreshAudio(of: call, at: now)
    }

    // MARK: DTMF digits

    /// Sends DTMF digits to a leg. A leg whose audio is relayed hears silence around the digits instead of that audio.
    func sendDigits(_ digits: DigitSequence, to name: LegID, in id: CallID, at now: MonotonicTime) {
        guard let call = calls[id], let leg = call.leg(name) else { return }
        let queue = DigitQueue(digits.digits, duration: digits.duration, gap: digits.gap)
        if call.audio?.press(queue, for: leg.index) != true {
            interrupt(leg, in: call, at: now)
            _ = call.audio?.press(queue, for: leg.index)
        }
        rearm(call)
    }

    /// Takes a packet that concerns the DTMF digits of its sender, and tells which of them are over by it.
    func hearDigits(_ arrival: Arrival, _ payload: Span<UInt8>, in call: MediaCall, at now: MonotonicTime) {
        let wasPressed = call.digits.nextDeadline != nil
        call.digits.receive(arrival, payload, at: now)
        tellDigits(of: call)
        // While a digit is pressed, the deadline moves away only: a wake-up that comes too early does no harm.
        if !wasPressed, call.digits.nextDeadline != nil { rearm(call) }
    }

    /// Releases the DTMF digits of which nothing has been heard for too long.
    func releaseDigits(of call: MediaCall, at now: MonotonicTime) {
        guard let due = call.digits.nextDeadline, due <= now else { return }
        call.digits.timeout(at: now)
        tellDigits(of: call)
    }

    /// Tells which DTMF digits the peers of a call have pressed.
    private func tellDigits(of call: MediaCall) {
        for pressed in call.digits.take() {
            guard let leg = call.leg(pressed.leg), let key = Key(rawValue: String(pressed.digit)) else { continue }
            let milliseconds = pressed.length.map { $0 / 48 }
            environment.events(call.id, .keyPressed(key, milliseconds: milliseconds, leg.name))
        }
        let dropped = call.digits.takeDropped()
        if dropped > 0 { environment.metrics.mediaDigitsDropped.increment(by: UInt64(dropped)) }
    }

    private func countDroppedDigits(_ audio: AudioEngine) {
        let dropped = audio.takeDroppedDigits()
        if dropped > 0 { environment.metrics.mediaDigitsDropped.increment(by: UInt64(dropped)) }
    }

    /// Interrupts the audio of a leg by silence until its DTMF digits have been sent.
    private func interrupt(_ leg: any HearingLeg, in call: MediaCall, at now: MonotonicTime) {
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
