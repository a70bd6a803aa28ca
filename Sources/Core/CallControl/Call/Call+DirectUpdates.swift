import Primitives
import SDP

/// Offers and answers within a call whose media goes from peer to peer. Descriptions are passed on untouched, and only
/// one exchange is open at a time.
extension Call {
    mutating func offerDirectly(by leg: Leg, _ request: CallUpdateRequest, at now: MonotonicTime) throws(CallError)
        -> [CallAction]
    {
        guard case .answered(let answered) = state, let other = others(of: leg).first?.id else {
            throw refusal(of: "startCallUpdate", to: leg)
        }
        guard answered.operation == nil else { throw .pending(retryAfter: Self.retryAfter) }
        let isQuestion = request.sdp.isEmpty
        operate(
            .update(
                Update(
                    offerer: leg, answerer: other, awaitsOffer: isQuestion,
                    direction: isQuestion ? nil : MediaDirection(in: request.sdp),
                    deadline: now + configuration.offerTime)))
        return tell(other, update(.startCallUpdate, to: other, isQuestion ? nil : request.sdp, request))
    }

    mutating func answerDirectly(by leg: Leg, _ request: CallUpdateRequest, at now: MonotonicTime) throws(CallError)
        -> [CallAction]
    {
        guard case .answered(let answered) = state, case .update(let open) = answered.operation, open.answerer == leg,
            !request.sdp.isEmpty
        else { throw refusal(of: "respondCallUpdate", to: leg) }
        if open.awaitsOffer {
            // The offer that was asked for goes to whoever asked; the parts are exchanged.
            operate(
                .update(
                    Update(
                        offerer: leg, answerer: open.offerer, direction: MediaDirection(in: request.sdp),
                        deadline: now + configuration.offerTime)))
            return tell(open.offerer, update(.startCallUpdate, to: open.offerer, request.sdp, request))
        }
        let message = update(.respondCallUpdate, to: open.offerer, request.sdp, request)
        settleHolds(offer: open.direction, by: open.offerer, answer: MediaDirection(in: request.sdp), by: leg)
        operate(nil)
        return refreshMusic() + tell(open.offerer, message)
    }

    /// Gives up an offer that was not answered in time, or cannot be answered. The offerer is told.
    mutating func abandon(_ update: Update) -> [CallAction] {
        operate(nil)
        edit(update.offerer) { offerer in
            offerer.media?.rollback()
            if !update.awaitsOffer { offerer.lastUtterance = nil }
        }
        var refused = self.update(.respondCallUpdate, to: update.offerer, nil)
        refused.outcome = .pending
        refused.retryAfter = Self.retryAfter
        refused.reasonText = "The other side did not answer in time"
        return tell(update.offerer, refused)
    }
}
