import Primitives
import SDP

/// The answer of a called leg, and what comes before it.
extension Call {
    /// A device of the callee shows the call (spidr-wire §6.5). Only the first report is passed on to the caller.
    ///
    /// - Parameter device: the device that rings; `nil`: the request does not say which.
    /// - Throws: `noSuchCall`, or `notAllowed` if this leg does not ring.
    package mutating func ringing(by leg: LegID, from device: SubscriptionID? = nil) throws(CallError) -> [CallAction] {
        guard try member(leg).stage == .ringing else { throw refusal(of: .ring, to: leg) }
        return note(leg, .rings(device: device)) + rang()
    }

    /// Handles an answer that is not a repetition.
    mutating func firstAnswer(
        by leg: LegID, _ request: CallAnswerRequest, from device: SubscriptionID?, at now: MonotonicTime,
        random: inout some RandomSource
    ) throws(CallError) -> [CallAction] {
        let member = try member(leg)
        guard member.isCalled else { throw refusal(of: .answer, to: leg) }
        guard member.stage == .ringing else { throw answeredAlready(leg) }
        // A device that was woken by push can decline without a subscription, but could not be told what follows.
        if case .devices(let devices) = member.party.endpoint, devices.isEmpty {
            throw .notAllowed(request.operation, .noSubscription)
        }
        guard !request.sdp.isEmpty || member.transport.isHeadless else {
            throw .descriptionMissing(.answer)
        }
        guard request.acceptsReplacement == isAskedToReplace(leg) else {
            throw refusal(of: request.operation, to: leg)
        }
        let actions =
            switch state {
            case .unanswered(let unanswered)
            where unanswered.invitation.description == nil && self[.caller]?.wants == nil:
                try answerWithOffer(unanswered, by: leg, request, from: device, at: now, random: &random)
            case .unanswered(let unanswered):
                try answer(unanswered, by: leg, request, from: device, at: now, random: &random)
            case .answered: try transferAnswered(by: leg, request, from: device, at: now, random: &random)
            case .initial, .joining, .ended: throw .noSuchCall
            }
        // The other devices have been told that they need not ring any more; that is the last they are told.
        keep(leg, at: device)
        return actions
    }

    /// The callee answers the offer of a call that rings.
    private mutating func answer(
        _ unanswered: Unanswered, by leg: LegID, _ request: CallAnswerRequest, from device: SubscriptionID?,
        at now: MonotonicTime, random: inout some RandomSource
    ) throws(CallError) -> [CallAction] {
        var description: String? = request.sdp
        var actions: [CallAction] = []
        if var own = self[leg]?.transport, var callers = self[.caller]?.transport, self[leg]?.isAnchored == true {
            if let answer = try own.receive(answer: request.sdp, wanting: request.mediaPreferences) {
                description = try callers.answer(mirroring: answer, isPreliminary: own.lacksLines, random: &random)
            }
            edit(leg) { $0.transport = own }
            edit(.caller) { $0.transport = callers }
            // An application that the caller hears already goes on with what it says.
            if !unanswered.isHeardEarly {
                actions += unanswered.progress.hasEarlyMedia ? [.stopPlaying(to: .caller)] : prepare(.caller)
                actions += prepareAnswered(leg)
            }
            actions += [.route(.caller, .leg(leg)), .route(leg, .leg(.caller))] + connect(.caller) + connect(leg)
        }
        let answering = noteAnswer(leg, request, from: device)
        noteTold(leg, of: .caller)
        noteTold(.caller, of: leg)
        let established = establish(since: unanswered.startedAt, content: request.content, at: now)
        return actions + answering + tell(.caller, .answered(description: description, content: request.content))
            + cancelAnswered(leg, by: device) + established
            + tellNews(at: now, random: &random)
    }

    /// A leg that rang has answered, and talks to the caller from now on.
    mutating func noteAnswer(_ leg: LegID, _ request: CallAnswerRequest, from device: SubscriptionID?) -> [CallAction] {
        edit(leg) { $0.noteAnswer(request) }
        edit(.caller) { $0.move(to: .talking) }
        return note(leg, .talks(device: device)) + note(.caller, .talks(device: nil))
    }
}

extension CallLeg {
    /// Records that the leg has answered.
    mutating func noteAnswer(_ request: CallAnswerRequest) {
        move(to: .talking)
        handlesReplacement = request.handlesReplacement || request.acceptsReplacement
    }
}

extension CallAnswerRequest {
    /// The operation that the request stands for.
    fileprivate var operation: CallError.Operation { acceptsReplacement ? .acceptReplacement : .answer }
}
