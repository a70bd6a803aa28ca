import Primitives
import SDP

/// Offers and answers within a call (spidr-wire §8.1, RFC 3264 §8).
///
/// In a call of two legs, an offer is passed on to the other leg, and its answer back; both carry the directions of the
/// original. The gateway is the SDP peer of each leg, so that no leg has to wait for the other:
///
/// - Two offers that cross: each is answered with what the other one says.
/// - The other leg cannot be offered anything now, or does not answer within `patience`: the gateway answers the offer
///   with what that leg wants.
/// - A leg that was not told everything because of that is offered the rest later (`Call+News.swift`).
///
/// The gateway answers alone an offer that concerns only the path to its leg (an ICE restart, a page that was loaded
/// again), and every offer in a conference.
extension Call {
    /// Seconds after which a client may repeat a request that met another one (RFC 3261 §14.1).
    static let retryAfter = 2

    /// How long a leg has to answer an offer before the gateway answers in its place.
    package static let patience = Duration.seconds(2)

    /// Handles an offer, or a request for one, in an answered call.
    ///
    /// - Parameter isRepeated: the offer is the one that was agreed on last, so that the other leg learns nothing new.
    mutating func newOffer(
        by leg: Leg, _ request: CallUpdateRequest, isRepeated: Bool, at now: MonotonicTime,
        random: inout some RandomSource
    ) throws(CallError) -> [CallAction] {
        let member = try member(leg)
        guard case .answered(let answered) = state, member.isTalking else {
            throw refusal(of: "startCallUpdate", to: leg)
        }
        guard var own = member.media else { return try offerDirectly(by: leg, request, at: now) }
        try checkExchange(answered, "startCallUpdate", by: leg)
        if request.sdp.isEmpty {
            guard !answered.isConference else { return offerMix(to: leg, at: now, random: &random) }
            return ask(by: leg, request, at: now, random: &random)
        }
        let isTransportNew: Bool
        do throws(SDPError) {
            let before = own.isStable || own.isOffering ? own.described : nil
            let offer = try own.receive(newOffer: request.sdp, instead: member.offered?.media, random: &random)
            isTransportNew = own.changesTransportOnly(offer, since: before)
        } catch {
            throw CallError(error)
        }
        if answered.isConference { return try answerForMixing(own, of: leg, request, at: now, random: &random) }
        guard let other = others(of: leg).first else { throw refusal(of: "startCallUpdate", to: leg) }

        var next = self
        let actions: [CallAction]
        next.overtakeOffer(to: leg, at: now)
        next.edit(leg) { $0.isAsked = false }
        if case .update(let update) = answered.operation {
            next.operate(nil)
            if update.answerer == leg, !update.awaitsOffer {
                actions = try next.cross(leg, own, update, request, random: &random)
            } else if update.answerer == leg, other.isFree(at: now) {
                // The offer that the leg was asked for.
                actions = try next.passOn(own, of: leg, to: other, request, at: now, random: &random)
            } else {
                // The leg has dropped what it offered or asked for before.
                actions = try next.answerAlone(own, of: leg, request, random: &random)
            }
        } else if !isRepeated, !isTransportNew, answered.operation == nil, other.isFree(at: now) {
            actions = try next.passOn(own, of: leg, to: other, request, at: now, random: &random)
        } else {
            actions = try next.answerAlone(own, of: leg, request, random: &random)
        }
        self = next
        return actions + refreshMusic() + tellNews(at: now, random: &random)
    }

    /// Handles the answer to an offer of the gateway, or the offer that the leg was asked for.
    mutating func newResponse(
        by leg: Leg, _ request: CallUpdateRequest, at now: MonotonicTime, random: inout some RandomSource
    ) throws(CallError) -> [CallAction] {
        let member = try member(leg)
        guard case .answered(let answered) = state, !request.sdp.isEmpty else {
            throw refusal(of: "respondCallUpdate", to: leg)
        }
        guard let current = member.media else { return try answerDirectly(by: leg, request, at: now) }
        // An offer leaves open who is the DTLS client, an answer does not (RFC 5763 §5).
        if member.isAsked, member.offered == nil || request.sdp.contains("a=setup:actpass") {
            return try newOffer(by: leg, request, isRepeated: false, at: now, random: &random)
        }
        guard let offered = member.offered else { throw refusal(of: "respondCallUpdate", to: leg) }
        var media = current.returned(to: offered.media)
        let answer: PeerDescription
        do throws(SDPError) {
            answer = try media.receive(answer: request.sdp)
        } catch {
            // It may be the answer to an offer before this one.
            throw offered.count > 1 ? refusal(of: "respondCallUpdate", to: leg) : CallError(error)
        }
        let update: Update? =
            if case .update(let update) = answered.operation, !update.awaitsOffer { update } else { nil }
        var concluded: (media: LegMedia, answer: String)?
        if let update, update.answerer == leg, var offerers = self[update.offerer]?.media {
            do throws(SDPError) {
                let text = try offerers.answer(mirroring: answer, random: &random)
                concluded = (offerers, text)
            } catch {
                throw CallError(error)
            }
        }
        acceptAnswer(media, to: offered, by: leg, at: now)
        // Whoever answers has put aside an offer of its own.
        if update != nil { operate(nil) }
        guard !answered.isConference else {
            return settleHold(of: leg, saying: answer.principalDirection) + connect(leg) + refreshMusic()
        }
        settleHold(of: leg)
        var actions: [CallAction] = []
        var told: [CallAction] = []
        if let update, let concluded {
            var message = self.update(.respondCallUpdate, to: update.offerer, concluded.answer, request)
            message.sdp = concluded.answer
            if update.isFirst {
                actions += [.prepareMedia(update.offerer, concluded.media.credentials)] + introductions(update, at: now)
            }
            actions += conclude(concluded.media, of: update.offerer, telling: media.wishes)
            // Of somebody new everything is known that can be.
            if update.isFirst { noteTold(update.offerer, of: leg) }
            told = tell(update.offerer, message)
        } else if !request.content.isEmpty {
            told = try send(request.content, by: leg)
        }
        return actions + connect(leg) + refreshMusic() + told + tellNews(at: now, random: &random)
    }

    /// An end's candidates (spidr-wire §8.10). Where media goes from peer to peer the other end needs them; a lite agent learns
    /// addresses from checks, so that the gateway itself does not.
    package func candidates(_ candidates: [TrickledLine], by leg: Leg) throws(CallError) -> [CallAction] {
        let member = try member(leg)
        guard member.media == nil else { return [] }
        // Nobody hands over such a call, so that whoever else is in it takes part in it.
        return legs.filter { $0.id != leg }.flatMap { receiver in
            var message = notification(.iceCandidate, to: receiver.id)
            message.candidates = candidates
            return tell(receiver.id, message)
        }
    }

    /// Parameters and bodies alone (spidr-wire §8.4), for everybody else in the call.
    package func send(_ content: CustomContent, by leg: Leg) throws(CallError) -> [CallAction] {
        _ = try member(leg)
        return legs.filter { $0.id != leg }.flatMap { receiver in
            var message = notification(.customParameters, to: receiver.id)
            message.carry(content)
            return tell(receiver.id, message)
        }
    }
}

// MARK: - Parts

extension Call {
    /// The call, if it is answered and nothing goes on that the end would have to wait for. An offer is no hindrance where the gateway can
    /// answer it itself.
    func idle(_ operation: String, by leg: Leg) throws(CallError) -> Answered {
        let member = try member(leg)
        guard case .answered(let answered) = state, member.isTalking else { throw refusal(of: operation, to: leg) }
        switch answered.operation {
        case nil: return answered
        case .update(let update) where !update.isFirst && member.media != nil: return answered
        case .update, .transfer, .consultation, .handover: throw .pending(retryAfter: Self.retryAfter)
        }
    }

    /// Whether an end can be offered anything, or answered, at all.
    private func checkExchange(_ answered: Answered, _ operation: String, by leg: Leg) throws(CallError) {
        switch answered.operation {
        // The legs are about to belong to another call.
        case .handover: throw .pending(retryAfter: Self.retryAfter)
        case .update(let update) where update.isFirst: throw refusal(of: operation, to: leg)
        case .update, .transfer, .consultation, nil: break
        }
    }

    mutating func operate(_ operation: Operation?) {
        guard case .answered(var answered) = state else { return }
        answered.operation = operation
        state = .answered(answered)
    }

    func update(_ type: Notification.EventType, to leg: Leg, _ sdp: String?, _ request: CallUpdateRequest? = nil)
        -> Notification
    {
        var update = notification(type, to: leg)
        update.sdp = sdp
        if let request { update.carry(request.content) }
        return update
    }

    /// Offers the other leg the same.
    private mutating func passOn(
        _ own: LegMedia, of leg: Leg, to other: CallLeg, _ request: CallUpdateRequest, at now: MonotonicTime,
        random: inout some RandomSource
    ) throws(CallError) -> [CallAction] {
        guard var others = other.media, let wishes = own.wishes else { throw refusal(of: "startCallUpdate", to: leg) }
        let text: String
        do throws(SDPError) {
            text = try others.offer(mirroring: wishes, random: &random)
        } catch {
            throw CallError(error)
        }
        edit(leg) { $0.media = own }
        present(others, telling: MediaOutline(wishes), to: other.id, at: now)
        operate(.update(Update(offerer: leg, answerer: other.id, deadline: now + Self.patience)))
        return tell(other.id, update(.startCallUpdate, to: other.id, text, request))
    }

    /// Both legs have offered: each offer is the answer to the other one.
    private mutating func cross(
        _ leg: Leg, _ own: LegMedia, _ update: Update, _ request: CallUpdateRequest, random: inout some RandomSource
    ) throws(CallError) -> [CallAction] {
        guard let other = self[update.offerer], let wishes = own.wishes, var others = other.media else {
            throw refusal(of: "startCallUpdate", to: leg)
        }
        let actions = try answerAlone(own, of: leg, CallUpdateRequest(sdp: request.sdp), random: &random)
        let text: String
        do throws(SDPError) {
            text = try others.answer(mirroring: wishes, isPreliminary: true, random: &random)
        } catch {
            throw CallError(error)
        }
        let message = self.update(.respondCallUpdate, to: other.id, text, request)
        return actions + conclude(others, of: other.id, telling: wishes) + tell(other.id, message)
    }

    /// Answers an offer with what the other leg wants, without asking that leg.
    private mutating func answerAlone(
        _ own: LegMedia, of leg: Leg, _ request: CallUpdateRequest, random: inout some RandomSource
    ) throws(CallError) -> [CallAction] {
        guard let other = others(of: leg).first, let wishes = other.media?.wishes else {
            throw refusal(of: "startCallUpdate", to: leg)
        }
        var own = own
        let text: String
        do throws(SDPError) {
            text = try own.answer(mirroring: wishes, isPreliminary: true, random: &random)
        } catch {
            throw CallError(error)
        }
        let actions = conclude(own, of: leg, telling: wishes) + tell(leg, update(.respondCallUpdate, to: leg, text))
        return try request.content.isEmpty ? actions : actions + send(request.content, by: leg)
    }

    /// An offer of the end has been answered.
    private mutating func conclude(_ media: LegMedia, of leg: Leg, telling wishes: PeerDescription?) -> [CallAction] {
        var media = media
        let prepared: [CallAction] = media.takeRenewal() ? [.prepareMedia(leg, media.credentials)] : []
        edit(leg) { member in
            member.media = media
            if let wishes, let offer = media.described {
                member.told = MediaOutline(wishes, answering: offer, before: member.told)
            }
        }
        settleHold(of: leg)
        return prepared + connect(leg)
    }

    /// Ends an offer whose answer took too long, or that gives way to another operation.
    mutating func answerInPlace(_ update: Update, at now: MonotonicTime, random: inout some RandomSource)
        -> [CallAction]
    {
        guard let own = self[update.offerer]?.media else { return abandon(update) }
        operate(nil)
        if update.awaitsOffer {
            // It is offered what the one that was asked wants.
            edit(update.offerer) { ($0.told, $0.newsDue) = (nil, now) }
            return tellNews(at: now, random: &random)
        }
        do throws(CallError) {
            let answered = try answerAlone(own, of: update.offerer, CallUpdateRequest(sdp: ""), random: &random)
            return answered + refreshMusic() + tellNews(at: now, random: &random)
        } catch {
            return abandon(update)
        }
    }

    /// Asks the other leg for an offer (spidr-wire §8.1, slow start). If it cannot be asked now, the gateway offers.
    private mutating func ask(
        by leg: Leg, _ request: CallUpdateRequest, at now: MonotonicTime, random: inout some RandomSource
    ) -> [CallAction] {
        guard case .answered(let answered) = state, let other = others(of: leg).first else { return [] }
        if answered.operation == nil, other.isFree(at: now) {
            operate(.update(Update(offerer: leg, answerer: other.id, awaitsOffer: true, deadline: now + Self.patience)))
            edit(other.id) { $0.isAsked = true }
            return tell(other.id, update(.startCallUpdate, to: other.id, nil, request))
        }
        if case .update(let update) = answered.operation, update.offerer == leg { operate(nil) }
        edit(leg) { member in
            if member.media?.isOffering == false { member.media?.rollback() }
            (member.told, member.newsDue) = (nil, now)
        }
        return tellNews(at: now, random: &random)
    }

    /// Answers an offer in a conference.
    private mutating func answerForMixing(
        _ own: LegMedia, of leg: Leg, _ request: CallUpdateRequest, at now: MonotonicTime,
        random: inout some RandomSource
    ) throws(CallError) -> [CallAction] {
        var own = own
        let answer: String
        do throws(SDPError) {
            answer = try own.answerForMixing(random: &random)
        } catch {
            throw CallError(error)
        }
        overtakeOffer(to: leg, at: now)
        let routed = settleHold(of: leg, saying: own.wishes?.principalDirection)
        let prepared: [CallAction] = own.takeRenewal() ? [.prepareMedia(leg, own.credentials)] : []
        edit(leg) { $0.media = own }
        return routed + prepared + connect(leg) + tell(leg, update(.respondCallUpdate, to: leg, answer))
    }
}
