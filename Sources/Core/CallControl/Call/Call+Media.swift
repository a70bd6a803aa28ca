package import Primitives

/// Media and DTMF digits that the gateway itself sends during a call.
extension Call {
    /// A playback in progress.
    package struct Playing: Equatable, Sendable {
        /// Distinguishes it from the playbacks of this call before and after it.
        let number: UInt32
        /// `nil`: music for an end that is kept waiting.
        let requester: Leg?
    }

    /// Whether anything could be played now; to be asked before anything is read that may be large.
    package func checkPlay(by leg: Leg) throws(CallError) { _ = try anchoredAnswer(for: "play", by: leg) }

    /// Plays to one or both ends what they hear in place of each other; what was playing there before stops.
    package mutating func play(_ playback: Playback, to target: MediaTarget, by leg: Leg) throws(CallError)
        -> [CallAction]
    {
        var answered = try anchoredAnswer(for: "play", by: leg)
        var actions: [CallAction] = []
        for listener in listeners(target, seenFrom: leg) {
            answered.lastPlayback += 1
            edit(listener) { $0.playing = Playing(number: answered.lastPlayback, requester: leg) }
            actions.append(.play(playback, number: answered.lastPlayback, to: listener))
        }
        state = .answered(answered)
        return actions
    }

    /// The ends hear each other again; nothing happens where nothing was asked to be played.
    package mutating func stopPlaying(to target: MediaTarget, by leg: Leg) throws(CallError) -> [CallAction] {
        _ = try anchoredAnswer(for: "stop", by: leg)
        var actions: [CallAction] = []
        for listener in listeners(target, seenFrom: leg) where self[listener]?.playing?.requester != nil {
            edit(listener) { $0.playing = nil }
            actions.append(.stopPlaying(to: listener))
        }
        return actions + refreshMusic()
    }

    /// Sends DTMF digits that the legs hear. Digits go out one after the other, after those requested before.
    ///
    /// - Throws: as `checkPlay(by:)`; `keysWaiting`, for the whole request, if too many digits wait already for one of
    ///   the legs.
    package mutating func sendDigits(
        _ digits: DigitSequence, to target: MediaTarget, by leg: Leg, at now: MonotonicTime
    ) throws(CallError) -> [CallAction] {
        _ = try anchoredAnswer(for: "dtmf", by: leg)
        let listeners = listeners(target, seenFrom: leg)
        if let wait = listeners.compactMap({ self[$0]?.keys.wait(for: digits.count, at: now) }).max() {
            throw .keysWaiting(limit: PressedKeys.capacity, retryAfter: wait)
        }
        for listener in listeners { edit(listener) { $0.keys.press(digits, at: now) } }
        return listeners.map { .sendDigits(digits, to: $0) }
    }

    /// A file has come to its end; whoever asked for it is told, unless something else plays by now.
    package mutating func playbackEnded(_ number: UInt32, for listener: Leg) -> [CallAction] {
        guard case .answered = state, let playing = self[listener]?.playing, playing.number == number else { return [] }
        edit(listener) { $0.playing = nil }
        let told =
            playing.requester.flatMap { self[$0] == nil ? nil : tell($0, notification(.mediaEnded, to: $0)) } ?? []
        return [.stopPlaying(to: listener)] + refreshMusic() + told
    }

    /// How good the call is for an end; only subscriptions that asked for it are told.
    package func qualityMeasured(_ quality: CallQuality, for leg: Leg) -> [CallAction] {
        guard case .answered = state, self[leg]?.isTalking == true else { return [] }
        var report = notification(.callQuality, to: leg)
        report.quality = quality
        return [.notifyQuality(leg, report)]
    }

    private func listeners(_ target: MediaTarget, seenFrom leg: Leg) -> [Leg] {
        let others = others(of: leg).map(\.id)
        return switch target {
        case .own: [leg]
        case .peer: others
        case .both: [leg] + others
        }
    }

    private func anchoredAnswer(for operation: String, by leg: Leg) throws(CallError) -> Answered {
        let member = try member(leg)
        guard case .answered(let answered) = state, member.isTalking else { throw refusal(of: operation, to: leg) }
        guard member.media != nil else {
            throw .notAllowed(operation: operation, state: "media that goes from peer to peer")
        }
        if case .update(let update) = answered.operation, update.isFirst { throw .pending(retryAfter: Self.retryAfter) }
        return answered
    }
}
