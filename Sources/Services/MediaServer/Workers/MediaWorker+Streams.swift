internal import AudioStreams
internal import CallControl
internal import CallRuntime
internal import Observability
internal import Primitives

/// Streams of headless legs (docs/adr/0020): what programs say is taken every 20 ms, with the cycles of the audio
/// engine, or in cycles of their own while there is none.
extension MediaWorker {
    /// Lets a stream carry the audio of a headless leg.
    func attach(_ name: StreamID, to leg: HeadlessLeg, in call: MediaCall, at now: MonotonicTime) {
        guard let stream = environment.streams.take(name) else { return }
        leg.voice.attach(stream)
        followStreams(of: call, at: now)
    }

    /// Sets the time of the next cycle of streams: the audio engine has cycles of its own.
    func followStreams(of call: MediaCall, at now: MonotonicTime) {
        let isNeeded = call.audio == nil && call.headlessLegs.contains { $0.voice.hasStream }
        call.nextStreamCycle = isNeeded ? call.nextStreamCycle ?? now : nil
    }

    /// Runs the cycle of streams that is due while there is no audio engine.
    func runStreams(of call: MediaCall, at now: MonotonicTime) {
        guard let due = call.nextStreamCycle, due <= now else { return }
        hearStreams(of: call)
        call.nextStreamCycle = max(due + AudioEngine.interval, now)
        followStreams(of: call, at: now)
    }

    /// Takes what programs have sent since the last cycle, and tells what they ask for.
    ///
    /// - Parameter isCycle: a cycle of the audio engine starts, so that 20 ms of what they say are heard.
    func hearStreams(of call: MediaCall, isCycle: Bool = false) {
        for leg in call.headlessLegs {
            var refusals = leg.voice.serveListeners(isCycle: isCycle && !leg.voice.isPaused)
            if let stream = leg.voice.stream {
                stream.receive()
                if isCycle, !leg.voice.isPaused, !leg.voice.isWaiting { stream.advance() }
                for wish in stream.takeWishes() { environment.events(call.id, .streamAsks(wish, leg.name)) }
                refusals += stream.takeRefusals()
            }
            if refusals > 0 { environment.metrics.streamMessagesRefused.increment(by: UInt64(refusals)) }
        }
    }
}
