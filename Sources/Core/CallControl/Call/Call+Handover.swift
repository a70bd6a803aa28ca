package import Primitives
import SDP

/// The handover of legs from one call to another: consultative transfer (spidr-wire §8.5) and conferences (§8.7).
///
///     taker                                   giver
///       │ consult, join: requestHandover ──────▶ │ nothing may go on: handover offered
///       │ ◀────────────── offerHandover, refuse  │ what happens to the ends now waits
///       │ takeHandover, declineHandover ───────▶ │ gives them away, or goes on as before
///
/// Only the taker decides whether the legs change calls, at one moment, so that each leg is always part of exactly one
/// call. The giver has no time limit: every offer is taken or declined, even by a taker that is over.
extension Call {
    /// Asks to connect the party that this leg talks to with the party that its user talks to in another call. Whether
    /// the same request is in progress is asked before (`isInProgress`).
    ///
    /// - Parameters:
    ///   - party: the user in the other call, for the record; the other call decides which leg is handed over.
    ///   - other: the other call.
    ///   - keeper: the user's address in the other call; `nil`: the same as in this one.
    /// - Throws: `notAllowed` if `other` is this call, and what `checkTransfer(by:)` throws.
    package mutating func consult(
        by leg: LegID, with party: UserAddress, in other: CallID, of keeper: UserAddress? = nil, at now: MonotonicTime,
        random: inout some RandomSource
    ) throws(CallError) -> [CallAction] {
        try checkTransfer(by: leg)
        guard other != id else { throw CallError.notAllowed(.transfer, .sameCall(legState(leg))) }
        let finished = finishUpdate(at: now, random: &random)
        let consultation = Consultation(
            transferor: leg, other: other, keeper: keeper, deadline: now + configuration.offerTime)
        operate(.consultation(consultation))
        return finished + note(leg, .transferStarted(party: party)) + [.peerCall(consultation.request)]
    }

    /// The party that a leg talks to; `nil` if it talks to no leg, or to several.
    package func party(talkingTo leg: LegID) -> CallParty? {
        let others = others(of: leg)
        return self[leg]?.isTalking == true && others.count == 1 ? others[0].party : nil
    }

    // MARK: The call that gives legs away

    /// Another call of the same user asks for all legs that `keeper` talks to. They are offered if the call is
    /// answered, nothing is in progress and the gateway terminates their media; otherwise the request is refused.
    package mutating func handoverRequested(
        by taker: CallID, of keeper: LegID, at now: MonotonicTime, random: inout some RandomSource
    ) -> [CallAction] {
        let finished = finishUpdate(at: now, random: &random)
        guard answered != nil, operation == nil, let member = self[keeper], member.isTalking,
            case let given = others(of: keeper), !given.isEmpty, given.allSatisfy(\.isAnchored)
        else { return finished + [.peerCall(.refuseHandover(to: taker))] }
        let offer = HandoverOffer(to: taker, keeper: keeper)
        operate(.handover(offer))
        return finished + [.peerCall(offer.offer(Handover(from: id, legs: given, keeper: member.party.user)))]
    }

    /// The taker has taken the legs that this call offered. They leave this call, and events that came for them
    /// meanwhile are passed on. The keeper's part ends as `purpose` says. A message of any other call is ignored.
    package mutating func handoverTaken(
        by taker: CallID, _ handed: [HandedOverLeg], for purpose: HandoverPurpose, at now: MonotonicTime
    ) -> [CallAction] {
        guard let offer = handoverOffer, offer.awaits(taker) else { return [] }
        var actions: [CallAction] = offer.passedOn(with: handed).map { .peerCall($0) }
        for leg in handed { actions += note(leg.before, .moved) }
        legs.removeAll { leg in handed.contains { $0.before == leg.id } }
        operate(nil)
        switch purpose {
        case .transfer: return actions + finish(.transferred(by: offer.keeper), at: now)
        case .join:
            actions += complete(offer.keeper, .join, at: now)
            return actions + offer.remaining(after: handed).flatMap { handle($0.event, for: $0.leg, at: now) }
        }
    }

    /// The taker has declined the legs that this call offered. The call continues, and handles the events that came for
    /// the legs meanwhile. A message of any other call is ignored.
    package mutating func handoverDeclined(by taker: CallID, at now: MonotonicTime, random: inout some RandomSource)
        -> [CallAction]
    {
        guard let offer = handoverOffer, offer.awaits(taker) else { return [] }
        operate(nil)
        let told = tellNews(at: now, random: &random)
        return told + offer.deferred.flatMap { handle($0.event, for: $0.leg, at: now) }
    }

    // MARK: The call that takes legs

    /// Another call offers legs. They are taken if this call asked for them and they are of the same user; otherwise
    /// they are declined. A conference takes them when all its calls have offered theirs.
    package mutating func handoverOffered(_ handover: Handover, at now: MonotonicTime, random: inout some RandomSource)
        -> [CallAction]
    {
        if joining != nil { return received(handover, at: now, random: &random) }
        guard let consultation,
            consultation.accepts(handover, keeper: self[consultation.transferor]?.party.user)
        else { return [.peerCall(handover.declined)] }
        return take(handover, consultation, at: now, random: &random)
    }

    /// Another call refuses to hand over its legs: the conference, or the transfer, fails. A message of a call that was
    /// not asked is ignored.
    package mutating func handoverRefused(by call: CallID, at now: MonotonicTime) -> [CallAction] {
        if let joining, joining.asks(call) { return joinFailed(at: now) }
        if let consultation, consultation.asks(call) { return consultationFailed(consultation) }
        return []
    }

    /// Handles an event that came for a leg during its handover, or that another call has passed on.
    package mutating func handle(_ event: LegEvent, for leg: LegID, at now: MonotonicTime) -> [CallAction] {
        guard let answered, let stage = self[leg]?.stage else { return [] }
        // The leg was itself handed over meanwhile, and only its client has to end it.
        if event == .replaced, stage != .talking { return [] }
        return leave(answered, leg, stage, event, at: now)
    }

    /// Ends a consultative transfer without success; the transferor is told.
    mutating func consultationFailed(_ consultation: Consultation) -> [CallAction] {
        operate(nil)
        return [.peerCall(consultation.withdrawal)]
            + tell(consultation.transferor, .transferFailed(reason: .callNotHandedOver))
    }

    /// Takes the leg of the consultation call, in place of the transferor.
    private mutating func take(
        _ handover: Handover, _ consultation: Consultation, at now: MonotonicTime, random: inout some RandomSource
    ) -> [CallAction] {
        guard let transferred = others(of: consultation.transferor).first else {
            return consultationFailed(consultation)
        }
        operate(nil)
        let handed = adopt(handover)
        let target = handed[0].after
        var actions = introduced(target, as: .handedOver)
        actions.append(.peerCall(handover.taken(as: handed, for: .transfer)))
        actions += complete(consultation.transferor, .transfer, at: now)
        actions += introduce(transferred.id, target, at: now)
        edit(target) { $0.exchange.startAnew(at: now) }
        return actions + renegotiate(transferred.id, at: now, random: &random)
    }

    /// Makes the legs of another call legs of this one, under new numbers.
    mutating func adopt(_ handover: Handover) -> [HandedOverLeg] {
        handover.legs.map { leg in
            let adopted = HandedOverLeg(before: leg.id, after: takeLeg(), session: leg.party.session)
            add(
                CallLeg(
                    id: adopted.after, party: leg.party, isCalled: leg.isCalled, stage: .talking, remote: leg.remote,
                    transport: leg.transport,
                    holds: leg.holds, handlesReplacement: leg.handlesReplacement, liveness: leg.liveness,
                    exchange: leg.exchange.handedOver(), isPathLost: leg.isPathLost))
            return adopted
        }
    }
}
