package import Primitives

/// Media and DTMF digits that the gateway itself sends during a call.
extension Call {
    /// A playback in progress.
    package struct Playing: Equatable, Sendable {
        /// Distinguishes it from the playbacks of this call before and after it.
        let number: UInt32
        /// The leg that asked for it; `nil`: music for a leg that is on hold.
        let requester: LegID?
    }

    /// Throws if nothing could be played now; to be called before a file is read that may be large.
    ///
    /// - Throws: `noSuchCall`; `notAllowed` if the leg does not talk, or media goes from peer to peer; `pending` while
    ///   the first offer of a slow start is open.
    package func checkPlay(by leg: LegID) throws(CallError) { try checkAnchored(.play, by: leg) }

    /// Plays something to one or both legs in place of each other's audio. A playback in progress there stops.
    ///
    /// - Throws: as `checkPlay(by:)`.
    package mutating func play(_ playback: Playback, to target: MediaTarget, by leg: LegID) throws(CallError)
        -> [CallAction]
    {
        try checkPlay(by: leg)
        var actions: [CallAction] = []
        for listener in listeners(target, seenFrom: leg) {
            let number = takePlayback()
            edit(listener) { $0.playing = Playing(number: number, requester: leg) }
            actions.append(.play(playback, number: number, to: listener))
        }
        return actions
    }

    /// Stops what a client asked to be played, so that the legs hear each other again. Without such a playback nothing
    /// happens.
    ///
    /// - Throws: as `checkPlay(by:)`.
    package mutating func stopPlaying(to target: MediaTarget, by leg: LegID) throws(CallError) -> [CallAction] {
        try checkAnchored(.stopPlaying, by: leg)
        var actions: [CallAction] = []
        for listener in listeners(target, seenFrom: leg) where self[listener]?.playing?.requester != nil {
            edit(listener) { $0.playing = nil }
            actions.append(.stopPlaying(to: listener))
        }
        return actions + refreshMusic()
    }

    /// Sends DTMF digits that the legs hear. Digits go out one after the other, after those requested before. An
    /// application is told of them at once, but of no more than if they were sent to it. Before the answer an
    /// application can send digits to the leg that hears it early.
    ///
    /// - Throws: as `checkPlay(by:)`; `digitsWaiting`, for the whole request, if too many digits wait already for one
    ///   of the legs.
    package mutating func sendDigits(
        _ digits: DigitSequence, to target: MediaTarget, by leg: LegID, at now: MonotonicTime
    ) throws(CallError) -> [CallAction] {
        if earlyListener(of: leg) == nil || self[leg]?.transport.isHeadless != true {
            try checkAnchored(.sendDigits, by: leg)
        }
        let listeners = listeners(target, seenFrom: leg)
        if let wait = listeners.compactMap({ self[$0]?.waitingDigits.wait(for: digits.count, at: now) }).max() {
            throw .digitsWaiting(limit: WaitingDigits.capacity, retryAfter: wait)
        }
        for listener in listeners { edit(listener) { $0.waitingDigits.press(digits, at: now) } }
        let applications = listeners.filter { self[$0]?.transport.isHeadless == true }
        let peers = listeners.filter { !applications.contains($0) }
        return peers.map { .sendDigits(digits, to: $0) } + applications.flatMap { press(digits, by: leg, to: $0) }
    }

    /// A playback has reached its end. The leg that asked for it is told, unless something else is playing by now.
    package mutating func playbackEnded(_ number: UInt32, for listener: LegID) -> [CallAction] {
        guard case .answered = state, let playing = self[listener]?.playing, playing.number == number else { return [] }
        edit(listener) { $0.playing = nil }
        let told =
            playing.requester.flatMap { self[$0] == nil ? nil : tell($0, .playbackEnded) } ?? []
        return [.stopPlaying(to: listener)] + refreshMusic() + told
    }

    /// The audio quality of a leg was measured. Only subscriptions of its user that asked for it are told.
    package func qualityMeasured(_ quality: CallQuality, for leg: LegID) -> [CallAction] {
        guard case .answered = state, let member = self[leg], member.isTalking else { return [] }
        let receivers = member.party.qualityReceivers
        return receivers.isEmpty
            ? note(leg, .qualityMeasured(quality)) : tell(leg, only: receivers, .qualityMeasured(quality))
    }

    /// The legs that a target means, seen from the leg that asks.
    private func listeners(_ target: MediaTarget, seenFrom leg: LegID) -> [LegID] {
        let others = earlyListener(of: leg).map { [$0] } ?? others(of: leg).map(\.id)
        return switch target {
        case .own: [leg]
        case .peer: others
        case .both: [leg] + others
        }
    }

    /// Takes the number for one more playback in this call.
    mutating func takePlayback() -> UInt32 {
        answered?.lastPlayback += 1
        return answered?.lastPlayback ?? 0
    }

    /// Throws unless the leg talks and the gateway terminates its media.
    private func checkAnchored(_ operation: CallError.Operation, by leg: LegID) throws(CallError) {
        let member = try member(leg)
        guard let answered, member.isTalking else { throw refusal(of: operation, to: leg) }
        guard member.isAnchored else {
            throw .notAllowed(operation, .directMedia)
        }
        if answered.operation?.isFirstExchange == true {
            throw .pending(retryAfter: Self.retryAfter)
        }
    }
}
