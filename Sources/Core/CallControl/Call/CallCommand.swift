package import Primitives

/// A request of a client about calls, in the one form that all dialects are translated to.
package enum CallRequest: Equatable, Sendable {
    /// Starts a call.
    case start(CallStartRequest)
    /// Makes a conference of two calls of the user (spidr-wire §8.7).
    case join(SessionID, SessionID, CallUpdateRequest)
    /// Calls the user's own devices, and then connects the one that answers with a target (click-to-call, spidr-wire
    /// §10).
    case connect(to: UserAddress)
    /// Forwards a call that rings to another address (spidr-wire §6.4).
    case forward(SessionID, to: UserAddress)
    /// Connects the other leg with a target (spidr-wire §8.5).
    ///
    /// - Parameter consultation: the user's call with the target; `nil`: the address is rung.
    case transfer(SessionID, to: UserAddress, consultation: SessionID?)
    /// A request about one session, which its call decides alone.
    case command(SessionID, CallCommand)
}

/// A request that one call decides without looking at others.
package enum CallCommand: Equatable, Sendable {
    /// A device shows the call (spidr-wire §6.5).
    case ring
    /// Answers the call, or accepts it in place of another one.
    case answer(CallAnswerRequest)
    /// Declines the call.
    ///
    /// - Parameter replacement: what is declined was to take the place of a call that the user has (spidr-wire §8.8).
    case reject(replacement: Bool)
    /// Hangs up.
    ///
    /// - Parameter reasonText: the user's words for the other leg; `nil`: none.
    case end(reasonText: String?)
    /// Asks whether the call still exists.
    case audit
    /// Offers; or asks for an offer, if the request has no description.
    case offer(CallUpdateRequest)
    /// Answers an offer, or makes the offer that was asked for.
    case respond(CallUpdateRequest)
    /// Gives candidates of the client's media path (spidr-wire §8.10).
    case candidates([TrickledLine])
    /// Sends parameters and bodies to the applications of the other legs (spidr-wire §8.4).
    case send(CustomContent)
    /// Plays something in place of the other leg's audio.
    case play(Playback, to: MediaTarget)
    /// Stops what a client asked to be played.
    case stopPlaying(to: MediaTarget)
    /// Sends DTMF digits.
    case sendDigits(DigitSequence, to: MediaTarget)
    /// What only an application asks for, about its headless leg.
    case headless(HeadlessCommand)
}

extension CallRequest {
    /// The sessions that the request is about; none for a call that is started or placed.
    package var sessions: [SessionID] {
        switch self {
        case .start, .connect: []
        case .join(let first, let second, _): [first, second]
        case .forward(let session, _), .transfer(let session, _, _), .command(let session, _): [session]
        }
    }
}

extension Call {
    /// Carries out a request of a leg. If the request does not fit, it throws and changes nothing.
    ///
    /// - Parameter device: the user's device that asks; `nil`: unknown.
    /// - Throws: `CallError`, as the function of the command documents.
    package mutating func perform(
        _ command: CallCommand, by leg: LegID, from device: Device?, at now: MonotonicTime,
        random: inout some RandomSource
    ) throws(CallError) -> [CallAction] {
        switch command {
        case .ring: return try ringing(by: leg, from: device?.subscription)
        case .answer(let request):
            return try answer(by: leg, request, from: device?.subscription, at: now, random: &random)
        case .reject(let replacement):
            return try reject(by: leg, from: device?.subscription, replacement: replacement, at: now)
        case .end(let reasonText):
            return try end(by: leg, from: device?.subscription, reasonText: reasonText, at: now)
        case .audit:
            try audit(by: leg, at: now)
            return []
        case .offer(let request):
            if let device { return try offer(by: leg, request, from: device, at: now, random: &random) }
            return try offer(by: leg, request, at: now, random: &random)
        case .respond(let request):
            try checkAnswers(for: leg, from: device?.subscription)
            return try respond(by: leg, request, at: now, random: &random)
        case .candidates(let lines): return try candidates(lines, by: leg)
        case .send(let content): return try send(content, by: leg)
        case .play(let playback, let target): return try play(playback, to: target, by: leg)
        case .stopPlaying(let target): return try stopPlaying(to: target, by: leg)
        case .sendDigits(let digits, let target): return try sendDigits(digits, to: target, by: leg, at: now)
        case .headless(let command): return try perform(command, by: leg, at: now, random: &random)
        }
    }
}
