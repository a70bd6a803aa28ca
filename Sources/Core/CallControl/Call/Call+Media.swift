import Primitives

/// What the gateway itself plays and presses during a call.
extension Call {
    /// A playback under way.
    package struct Playing: Equatable, Sendable {
        /// Tells it from those before and after it.
        let number: UInt32
        let requester: Leg
    }

    /// Plays to one or both ends what they hear in place of each other; what was playing there before stops.
    package mutating func play(_ playback: Playback, to target: MediaTarget, by leg: Leg) throws(CallError) -> [CallAction] {
        var answered = try anchoredAnswer(for: "play", by: leg)
        var actions: [CallAction] = []
        for listener in target.legs(seenFrom: leg) {
            answered.lastPlayback += 1
            answered.playing[listener] = Playing(number: answered.lastPlayback, requester: leg)
            actions.append(.play(playback, number: answered.lastPlayback, to: listener))
        }
        state = .answered(answered)
        return actions
    }

    /// The ends hear each other again; nothing happens where nothing plays.
    package mutating func stopPlaying(to target: MediaTarget, by leg: Leg) throws(CallError) -> [CallAction] {
        var answered = try anchoredAnswer(for: "stop", by: leg)
        var actions: [CallAction] = []
        for listener in target.legs(seenFrom: leg) where answered.playing[listener] != nil {
            answered.playing[listener] = nil
            actions.append(.stopPlaying(to: listener))
        }
        state = .answered(answered)
        return actions
    }

    /// Presses keys that the ends hear; they go out one after the other, behind those asked for before.
    package func sendDigits(_ digits: DigitSequence, to target: MediaTarget, by leg: Leg) throws(CallError) -> [CallAction] {
        _ = try anchoredAnswer(for: "dtmf", by: leg)
        return target.legs(seenFrom: leg).map { .sendDigits(digits, to: $0) }
    }

    /// A file has come to its end; whoever asked for it is told, unless something else plays by now.
    package mutating func playbackEnded(_ number: UInt32, for listener: Leg) -> [CallAction] {
        guard case .answered(var answered) = state, let playing = answered.playing[listener], playing.number == number else { return [] }
        answered.playing[listener] = nil
        state = .answered(answered)
        return [.stopPlaying(to: listener)] + tell(playing.requester, notification(.mediaEnded, to: playing.requester))
    }

    /// How good the call is for an end; only subscriptions that asked for it are told.
    package func qualityMeasured(_ quality: CallQuality, for leg: Leg) -> [CallAction] {
        guard case .answered = state else { return [] }
        var report = notification(.callQuality, to: leg)
        report.quality = quality
        return [.notifyQuality(leg, report)]
    }

    private func anchoredAnswer(for operation: String, by leg: Leg) throws(CallError) -> Answered {
        guard case .answered(let answered) = try living() else { throw refusal(of: operation, to: leg) }
        guard answered.media != nil else { throw .notAllowed(operation: operation, state: "media that goes from peer to peer") }
        return answered
    }
}
