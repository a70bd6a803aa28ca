import Primitives
import SDP

/// A call that was started without an offer (spidr-wire §8.1). The callee offers when it answers, the caller answers
/// the offer, and only then do the legs talk.
///
///     caller                          callee
///       │ starts the call ─────────────▶ │ is invited            neither has a description
///       │ is offered ◀────────────────── │ answers the call      with an offer; ANSWERING from here
///       │ answers the offer ───────────▶ │ is answered           with the answer; IN_CALL from here
///
/// It is an exchange like any other in an answered call, except that there is nothing to return to if it fails.
extension Call {
    /// The callee answers with an offer, which is passed on to the caller.
    mutating func answerWithOffer(
        _ unanswered: Unanswered, by leg: LegID, _ request: CallAnswerRequest, from device: SubscriptionID?,
        at now: MonotonicTime, random: inout some RandomSource
    ) throws(CallError) -> [CallAction] {
        var description = request.sdp
        let direction = MediaDirection(in: request.sdp)
        var actions: [CallAction] = []
        if var own = self[leg]?.transport, var callers = self[.caller]?.media {
            if let offer = try own.receive(offer: request.sdp, wanting: request.mediaPreferences, random: &random) {
                description = try callers.offer(mirroring: offer, random: &random)
            }
            edit(leg) { $0.transport = own }
            present(callers, telling: self[leg]?.wishes, to: .caller, at: now)
            actions += prepare(.caller)
        }
        let answering = noteAnswer(leg, request, from: device)
        let established = establish(since: unanswered.startedAt, content: request.content, at: now)
        operate(
            .update(
                Update(
                    offerer: leg, answerer: .caller, kind: .firstAnswer, direction: direction,
                    deadline: now + configuration.offerTime)))
        return actions + answering + tell(.caller, .offered(description: description, content: request.content))
            + cancelAnswered(leg, by: device) + established
    }

    /// Connects the two legs when the first exchange is complete; they hear each other once their media paths are set
    /// up.
    mutating func introductions(_ update: Update, at now: MonotonicTime) -> [CallAction] {
        extendSetup(at: now)
        return [.route(update.answerer, .leg(update.offerer)), .route(update.offerer, .leg(update.answerer))]
    }
}
