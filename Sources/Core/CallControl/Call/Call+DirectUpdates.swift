import Primitives
import SDP

/// Offers and answers within a call whose media goes from peer to peer. Descriptions are passed on untouched, and only
/// one exchange is open at a time.
extension Call {
    /// Passes an offer, or a request for one, on to the other leg.
    mutating func offerDirectly(by leg: LegID, _ request: CallUpdateRequest, at now: MonotonicTime) throws(CallError)
        -> [CallAction]
    {
        guard answered != nil, self[leg]?.isAnchored != true, let other = others(of: leg).first?.id else {
            throw refusal(of: .offer, to: leg)
        }
        guard operation == nil else { throw .pending(retryAfter: Self.retryAfter) }
        let isQuestion = request.sdp.isEmpty
        operate(
            .update(
                Update(
                    offerer: leg, answerer: other, kind: isQuestion ? .offer : .answer,
                    direction: isQuestion ? nil : MediaDirection(in: request.sdp),
                    deadline: now + configuration.offerTime)))
        return tell(other, .offered(description: isQuestion ? nil : request.sdp, content: request.content))
    }

    /// Passes an answer on to the leg that offered, or the requested offer on to the leg that asked for it.
    mutating func answerDirectly(by leg: LegID, _ request: CallUpdateRequest, at now: MonotonicTime) throws(CallError)
        -> [CallAction]
    {
        guard let open = update, open.answerer == leg, !request.sdp.isEmpty else {
            throw refusal(of: .respond, to: leg)
        }
        if open.kind == .offer {
            // The requested offer goes to the leg that asked for it; offerer and answerer change places.
            operate(
                .update(
                    Update(
                        offerer: leg, answerer: open.offerer, direction: MediaDirection(in: request.sdp),
                        deadline: now + configuration.offerTime)))
            return tell(open.offerer, .offered(description: request.sdp, content: request.content))
        }
        let held = settleHolds(
            offer: open.direction, by: open.offerer, answer: MediaDirection(in: request.sdp), by: leg)
        operate(nil)
        return held + refreshMusic()
            + tell(open.offerer, .answered(description: request.sdp, content: request.content))
    }

    /// Gives up an offer that was not answered in time. The offerer is told.
    mutating func abandonDirectly(_ update: Update) -> [CallAction] {
        operate(nil)
        if update.kind != .offer { edit(update.offerer) { $0.exchange.sent.forgetLast() } }
        return tell(update.offerer, .unanswered(retryAfter: Self.retryAfter))
    }
}
