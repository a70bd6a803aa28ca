package import Primitives
import SDP

/// What the application of a headless leg asks for, and what the media plane reports about such a leg.
extension Call {
    /// Carries out a request of the application that hears this leg.
    ///
    /// - Throws: `noSuchCall`; `notAllowed` if the leg has a peer, or the request does not fit its state.
    package mutating func perform(
        _ command: HeadlessCommand, by leg: LegID, at now: MonotonicTime, random: inout some RandomSource
    ) throws(CallError) -> [CallAction] {
        guard case .application = try member(leg).party.endpoint else { throw .notAllowed(.play, .noApplication) }
        switch command {
        case .progress: return try progress(by: leg, random: &random)
        case .refuse(let reason): return try refuse(by: leg, because: reason, at: now)
        case .hold(let holds): return try hold(by: leg, holds, at: now, random: &random)
        case .become(let source): return become(source, leg)
        case .say(let speech): return try say(speech, by: leg)
        case .gathered(let result): return tell(leg, .gathered(result))
        }
    }

    /// Lets the caller hear the leg before the answer, in place of the early media that is configured, and the leg
    /// hear the caller. Once it has happened, it changes nothing.
    private mutating func progress(by leg: LegID, random: inout some RandomSource) throws(CallError) -> [CallAction] {
        guard let unanswered, self[leg]?.stage == .ringing, let caller = self[.caller] else {
            throw refusal(of: .progress, to: leg)
        }
        guard !unanswered.isHeardEarly else { return [] }
        var actions: [CallAction] = []
        if unanswered.progress.hasEarlyMedia {
            actions = [.stopPlaying(to: .caller)]
        } else {
            guard unanswered.acceptsEarlyMedia else { throw .notAllowed(.progress, .noEarlyMedia) }
            guard let provisional = caller.transport.progressing(random: &random) else {
                throw .notAllowed(.progress, .noEarlyMedia)
            }
            actions = provide(provisional.caller, provisional.sdp)
        }
        self.unanswered?.isHeardEarly = true
        return actions + prepare(leg) + [.route(.caller, .leg(leg)), .route(leg, .leg(.caller))]
    }

    /// Refuses the call on behalf of the leg that rings, as if nobody could be rung there.
    private mutating func refuse(
        by leg: LegID, because reason: CallEndCause.Unreachable, at now: MonotonicTime
    ) throws(CallError) -> [CallAction] {
        guard let member = self[leg], member.isCalled else { throw refusal(of: .reject, to: leg) }
        guard member.stage == .ringing else { throw answeredAlready(leg) }
        let rejected = note(leg, .rejected(device: nil))
        if case .answered = state { return rejected + transferFailed(.unreachable(reason), at: now) }
        return rejected + finish(.unreachable(reason), at: now)
    }

    /// Holds the other legs, or holds them no more. They are offered that as soon as they are free.
    private mutating func hold(
        by leg: LegID, _ holds: Bool, at now: MonotonicTime, random: inout some RandomSource
    ) throws(CallError) -> [CallAction] {
        let operation = holds ? CallError.Operation.hold : .resume
        guard let answered, let member = self[leg], member.isTalking, case .headless(let source, _) = member.transport
        else { throw refusal(of: operation, to: leg) }
        guard !isHandingOver, answered.operation?.isFirstExchange != true else {
            throw .pending(retryAfter: Self.retryAfter)
        }
        guard member.holds != holds else { return [] }
        edit(leg) { $0.transport = .headless(source, holds: holds) }
        let direction = self[leg]?.wants?.principalDirection
        var actions = settleHold(of: leg, saying: direction) + [.say(leg, .pause(holds))]
        guard !answered.isConference else { return actions }
        for other in others(of: leg) { edit(other.id) { $0.exchange.hasten(at: now) } }
        actions += refreshMusic()
        return actions + tellNews(at: now, random: &random)
    }

    /// Sets the source of the leg, which the media plane learns when it makes the leg.
    private mutating func become(_ source: HeadlessSource, _ leg: LegID) -> [CallAction] {
        guard let member = self[leg], case .headless(_, let holds) = member.transport else { return [] }
        edit(leg) { $0.transport = .headless(source, holds: holds) }
        return hears(member) ? prepare(leg) : []
    }

    /// Does something with the audio of the leg. A list is played only where it is heard: it would be over otherwise
    /// before there is anybody to hear it.
    private func say(_ speech: Speech, by leg: LegID) throws(CallError) -> [CallAction] {
        let isHeard = earlyListener(of: leg) != nil || (answered != nil && self[leg]?.isTalking == true)
        let isAllowed =
            switch speech {
            case .play: isHeard
            case .stop, .stopList, .mute, .pause, .stream, .record: isHeard || hearsEarly(leg)
            }
        guard isAllowed else { throw refusal(of: .play, to: leg) }
        guard answered?.operation?.isFirstExchange != true else { throw .pending(retryAfter: Self.retryAfter) }
        return [.say(leg, speech)]
    }

    /// A list that a leg had played is over.
    package func played(_ list: PlayedList, by leg: LegID) -> [CallAction] {
        isOver || self[leg] == nil ? [] : tell(leg, .played(list))
    }

    /// The peer of a leg has pressed a key. Every application that hears the leg is told. Where none hears it, the key
    /// is one fact about the leg of the presser, if the configuration says so.
    ///
    /// - Parameter milliseconds: how long the key was pressed; `nil`: nobody knows.
    package func keyPressed(_ key: Key, milliseconds: Int?, by leg: LegID) -> [CallAction] {
        guard !isOver, self[leg] != nil else { return [] }
        let fact = CallEvent.Fact.keyPressed(key: key, milliseconds: milliseconds, of: leg)
        let listeners = legs.filter { $0.id != leg && $0.transport.isHeadless && hears($0) }
        guard listeners.isEmpty else { return listeners.flatMap { tell($0.id, fact) } }
        return configuration.tellsKeys ? note(leg, fact) : []
    }

    /// The gateway presses digits for the leg, of which the application that hears another leg is told.
    func press(_ digits: DigitSequence, by leg: LegID, to listener: LegID) -> [CallAction] {
        let milliseconds = Int(digits.duration.wholeNanoseconds / 1_000_000)
        return digits.digits.compactMap { Key(rawValue: String($0)) }.flatMap { key in
            tell(listener, .keyPressed(key: key, milliseconds: milliseconds, of: leg))
        }
    }

    /// Whether the leg hears the others.
    private func hears(_ leg: CallLeg) -> Bool {
        leg.isTalking || hearsEarly(leg.id) || earlyListener(of: leg.id) != nil
    }
}
