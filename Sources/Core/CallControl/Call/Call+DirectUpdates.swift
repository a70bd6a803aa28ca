import Primitives

/// Offers and answers within a call whose media goes from peer to peer: `DirectNegotiation` decides.
extension Call {
    /// Handles an offer, or a request for one.
    mutating func offerDirectly(by leg: LegID, _ request: CallUpdateRequest, at now: MonotonicTime) throws(CallError)
        -> [CallAction]
    {
        guard answered != nil, self[leg]?.isAnchored != true, let other = others(of: leg).first?.id else {
            throw refusal(of: .offer, to: leg)
        }
        var negotiation = directNegotiation
        let actions = try negotiation.offer(by: leg, to: other, request, at: now)
        return carryOut(actions, of: negotiation)
    }

    /// Handles an answer, or the offer that the leg was asked for.
    mutating func answerDirectly(by leg: LegID, _ request: CallUpdateRequest, at now: MonotonicTime) throws(CallError)
        -> [CallAction]
    {
        var negotiation = directNegotiation
        guard let actions = negotiation.respond(by: leg, request, at: now) else {
            throw refusal(of: .respond, to: leg)
        }
        return carryOut(actions, of: negotiation)
    }

    /// Gives up an offer that was not answered in time.
    mutating func abandonDirectly(_ update: Update) -> [CallAction] {
        var negotiation = directNegotiation
        let actions = negotiation.abandon(update)
        return carryOut(actions, of: negotiation)
    }

    private var directNegotiation: DirectNegotiation {
        DirectNegotiation(operation: operation, offerTime: configuration.offerTime)
    }

    /// Takes over the operation, and carries out what follows, in order.
    private mutating func carryOut(
        _ actions: [DirectNegotiation.Action], of negotiation: DirectNegotiation
    ) -> [CallAction] {
        operate(negotiation.operation)
        var result: [CallAction] = []
        for action in actions { result += carryOut(action) }
        return result
    }

    private mutating func carryOut(_ action: DirectNegotiation.Action) -> [CallAction] {
        switch action {
        case .offer(let description, let leg, let content):
            return tell(leg, .offered(description: description, content: content))
        case .answer(let description, let leg, let content):
            return tell(leg, .answered(description: description, content: content))
        case .forgetOffer(let leg):
            edit(leg) { $0.exchange.sent.forgetLast() }
            return []
        case .abandon(let leg): return tell(leg, .unanswered(retryAfter: Self.retryAfter))
        case .settleHolds(let offer, let offerer, let answer, let answerer):
            return settleHolds(offer: offer, by: offerer, answer: answer, by: answerer)
        case .refreshMusic: return refreshMusic()
        }
    }
}
