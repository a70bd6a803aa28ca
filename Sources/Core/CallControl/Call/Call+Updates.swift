import Primitives
import SDP

/// Offers and answers within an answered call (spidr-wire §8.1, RFC 3264 §8). Two legs negotiate with each other
/// (`CallNegotiation`), a leg of a conference with the gateway (`Call+Mixing.swift`), and legs whose media goes from
/// peer to peer among themselves (`DirectNegotiation`).
extension Call {
    /// Seconds after which a client may repeat a request that met another one (RFC 3261 §14.1).
    static let retryAfter = 2

    /// How long a leg has to answer an offer before the gateway answers in its place.
    package static let patience = Duration.seconds(2)

    /// Handles an offer, or a request for one, in an answered call.
    ///
    /// - Parameter isRepeated: the offer is the one that was agreed on last, so that the other leg learns nothing new.
    mutating func newOffer(
        by leg: LegID, _ request: CallUpdateRequest, isRepeated: Bool, at now: MonotonicTime,
        random: inout some RandomSource
    ) throws(CallError) -> [CallAction] {
        let member = try member(leg)
        guard let answered, member.isTalking else {
            throw refusal(of: .offer, to: leg)
        }
        guard member.media != nil else { return try offerDirectly(by: leg, request, at: now) }
        // The legs are about to belong to another call.
        if isHandingOver { throw .pending(retryAfter: Self.retryAfter) }
        if answered.operation?.isFirstExchange == true { throw refusal(of: .offer, to: leg) }
        if answered.isConference { return try offerForMixing(by: member, request, at: now, random: &random) }
        guard var negotiation else { throw refusal(of: .offer, to: leg) }
        let actions =
            request.sdp.isEmpty
            ? negotiation.ask(by: leg, request.content, at: now, random: &random)
            : try negotiation.offer(by: leg, request, isRepeated: isRepeated, at: now, random: &random)
        return carryOut(actions, of: negotiation, at: now)
    }

    /// Handles the answer to an offer of the gateway, or the offer that the leg was asked for.
    mutating func newResponse(
        by leg: LegID, _ request: CallUpdateRequest, at now: MonotonicTime, random: inout some RandomSource
    ) throws(CallError) -> [CallAction] {
        let member = try member(leg)
        guard let answered, !request.sdp.isEmpty else {
            throw refusal(of: .respond, to: leg)
        }
        guard member.media != nil else { return try answerDirectly(by: leg, request, at: now) }
        // The legs are about to belong to another call, which would not know of the answer.
        if isHandingOver { throw .pending(retryAfter: Self.retryAfter) }
        if member.exchange.awaitsOffer(in: request.sdp) {
            return try newOffer(by: leg, request, isRepeated: false, at: now, random: &random)
        }
        if answered.isConference { return try answerForMixing(by: member, request, at: now) }
        guard var negotiation else { throw refusal(of: .respond, to: leg) }
        let actions = try negotiation.respond(by: leg, request, at: now, random: &random)
        return carryOut(actions, of: negotiation, at: now)
    }

    /// Handles an answer that arrives after an offer which the leg sent later.
    mutating func overtakenResponse(by leg: LegID, at now: MonotonicTime, random: inout some RandomSource)
        -> [CallAction]
    {
        guard self[leg]?.isTalking == true, !isHandingOver, var negotiation else { return [] }
        let actions = negotiation.respondOvertaken(by: leg, at: now, random: &random)
        return carryOut(actions, of: negotiation, at: now)
    }

    /// Ends an offer whose answer took too long, or that gives way to another operation.
    mutating func answerInPlace(_ update: Update, at now: MonotonicTime, random: inout some RandomSource)
        -> [CallAction]
    {
        guard self[update.offerer]?.media != nil, var negotiation else { return abandonDirectly(update) }
        let actions = negotiation.answerInPlace(update, at: now, random: &random)
        return carryOut(actions, of: negotiation, at: now)
    }

    /// Offers each of two legs what it does not know about the other leg, if the time for that has come.
    mutating func tellNews(at now: MonotonicTime, random: inout some RandomSource) -> [CallAction] {
        guard var negotiation else { return [] }
        let actions = negotiation.tellNews(at: now, random: &random)
        return carryOut(actions, of: negotiation, at: now)
    }

    /// Handles the candidates of a leg (spidr-wire §8.10). The other leg needs them if media goes from peer to peer.
    /// The gateway does not: a lite agent learns addresses from checks.
    ///
    /// - Throws: `noSuchCall`.
    package func candidates(_ candidates: [TrickledLine], by leg: LegID) throws(CallError) -> [CallAction] {
        let member = try member(leg)
        guard !member.isAnchored else { return [] }
        // Such a call is never handed over, so that all other legs take part in it.
        return legs.filter { $0.id != leg }.flatMap { tell($0.id, .candidates(candidates)) }
    }

    /// Passes parameters and bodies on to all other legs (spidr-wire §8.4).
    ///
    /// - Throws: `noSuchCall`.
    package func send(_ content: CustomContent, by leg: LegID) throws(CallError) -> [CallAction] {
        _ = try member(leg)
        return passOn(content, of: leg)
    }

    /// Tells all other legs the content of a leg; nothing if it is empty.
    func passOn(_ content: CustomContent, of leg: LegID) -> [CallAction] {
        guard !content.isEmpty else { return [] }
        return legs.filter { $0.id != leg }.flatMap { tell($0.id, .content(content)) }
    }
}

// MARK: - Negotiation between two legs

extension Call {
    /// Offers and answers of the two legs that talk; `nil` in a conference, or if fewer than two talk.
    package var negotiation: CallNegotiation? {
        guard let answered, !answered.isConference, let first = legs.first(where: \.isTalking),
            let second = legs.last(where: \.isTalking), first.id != second.id
        else { return nil }
        return CallNegotiation(
            NegotiatingLeg(first, in: legState(first.id)), NegotiatingLeg(second, in: legState(second.id)),
            operation: answered.operation, offerTime: configuration.offerTime)
    }

    /// Takes over what two legs have negotiated, and carries out what follows from it, in order.
    private mutating func carryOut(
        _ actions: [CallNegotiation.Action], of negotiation: CallNegotiation, at now: MonotonicTime
    ) -> [CallAction] {
        keep(negotiation.first)
        keep(negotiation.second)
        operate(negotiation.operation)
        var result: [CallAction] = []
        for action in actions { result += carryOut(action, at: now) }
        return result
    }

    /// Takes over what a leg has negotiated.
    mutating func keep(_ negotiated: NegotiatingLeg) {
        edit(negotiated.id) { leg in
            leg.transport = negotiated.transport
            leg.exchange = negotiated.exchange
        }
    }

    private mutating func carryOut(_ action: CallNegotiation.Action, at now: MonotonicTime) -> [CallAction] {
        switch action {
        case .offer(let description, let leg, let content):
            tell(leg, .offered(description: description, content: content))
        case .answer(let description, let leg, let content):
            tell(leg, .answered(description: description, content: content))
        case .abandon(let leg): tell(leg, .unanswered(retryAfter: Self.retryAfter))
        case .passOn(let content, let leg): passOn(content, of: leg)
        case .settleHold(let leg): settleHold(of: leg)
        case .restart(let leg): note(leg, .mediaRestarted)
        case .prepare(let leg): prepare(leg)
        case .connect(let leg): connect(leg)
        case .introduce(let update): introductions(update, at: now)
        case .refreshMusic: refreshMusic()
        }
    }
}
