import Primitives
import SDP

/// Offers and answers within a call (spidr-wire §8.1, RFC 3264 §8).
///
/// In a call of two, an offer goes on to the other end, and its answer back; both see the directions that were said. What concerns
/// only the way to one end (an ICE restart, a page that was loaded again) is answered by the gateway, as is every offer in a conference.
extension Call {
    /// Seconds after which a request that met another one makes sense (RFC 3261 §14.1).
    static let retryAfter = 2

    /// - Parameter isRepeated: it is the offer that was agreed on last; nothing is new to the other end.
    mutating func newOffer(
        by leg: Leg, _ request: CallUpdateRequest, isRepeated: Bool, at now: MonotonicTime, random: inout some RandomSource
    ) throws(CallError) -> [CallAction] {
        let answered = try idle("startCallUpdate", by: leg)
        if self[leg]?.owesAnswer == true { return try offerInstead(by: leg, request, isRepeated: isRepeated, at: now, random: &random) }
        if answered.isConference {
            guard !request.sdp.isEmpty else { return offerAnew(to: leg, mirroring: nil, at: now, random: &random) }
            return try answerOffer(by: leg, request, random: &random)
        }
        guard let other = others(of: leg).first?.id else { throw refusal(of: "startCallUpdate", to: leg) }
        if request.sdp.isEmpty { return invite(other, by: leg, request, at: now) }
        guard let before = self[leg]?.media else { return relay(request, by: leg, to: other, at: now) }

        var own = before
        do throws(SDPError) {
            let offer = try own.receive(offer: request.sdp, random: &random)
            if isRepeated || own.changesTransportOnly(offer, since: before.described), let said = self[other]?.media?.described {
                let answer = try own.answer(mirroring: said, random: &random)
                return reconnect(leg, own, answer)
            }
            guard var others = self[other]?.media else { throw .wrongState(.idle) }
            let text = try others.offer(mirroring: offer, random: &random)
            edit(leg) { $0.media = own }
            edit(other) { $0.media = others }
            operate(
                .update(
                    Update(
                        offerer: leg, answerer: other, before: before, direction: offer.principalDirection,
                        deadline: now + configuration.offerTime)))
            return tell(other, update(.startCallUpdate, to: other, text, request))
        } catch {
            throw CallError(error)
        }
    }

    mutating func newResponse(
        by leg: Leg, _ request: CallUpdateRequest, at now: MonotonicTime, random: inout some RandomSource
    ) throws(CallError) -> [CallAction] {
        let member = try member(leg)
        guard case .answered(let answered) = state else { throw refusal(of: "respondCallUpdate", to: leg) }
        if member.owesAnswer { return try answerLate(by: leg, request, at: now, random: &random) }
        if member.answerDeadline != nil { return try answerOwnOffer(by: leg, request, at: now, random: &random) }
        guard case .update(let update) = answered.operation, update.answerer == leg, !request.sdp.isEmpty else {
            throw refusal(of: "respondCallUpdate", to: leg)
        }
        if update.awaitsOffer { return try turn(update, request, at: now, random: &random) }
        var message = self.update(.respondCallUpdate, to: update.offerer, request.sdp, request)
        var actions: [CallAction] = []
        var direction = MediaDirection(in: request.sdp)
        if var answerers = member.media, var offerers = self[update.offerer]?.media {
            do throws(SDPError) {
                let answer = try answerers.receive(answer: request.sdp)
                direction = answer.principalDirection
                message.sdp = try offerers.answer(mirroring: answer, random: &random)
            } catch {
                throw CallError(error)
            }
            if offerers.takeRenewal() || update.isFirst { actions.append(.prepareMedia(update.offerer, offerers.credentials)) }
            edit(leg) { $0.media = answerers }
            edit(update.offerer) { $0.media = offerers }
            if update.isFirst { actions += introductions(update, at: now) }
            actions += connect(update.offerer) + connect(leg)
        }
        settleHolds(offer: update.direction, by: update.offerer, answer: direction, by: leg)
        operate(nil)
        return actions + refreshMusic() + tell(update.offerer, message)
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
    /// The call, if it is answered and nothing goes on that the end would have to wait for.
    func idle(_ operation: String, by leg: Leg) throws(CallError) -> Answered {
        let member = try member(leg)
        guard case .answered(let answered) = state, member.isTalking else { throw refusal(of: operation, to: leg) }
        let isStable = legs.allSatisfy { !$0.isTalking || $0.isStable || $0.id == leg && $0.owesAnswer }
        guard answered.operation == nil, isStable || answered.isConference && member.isStable else {
            throw .pending(retryAfter: Self.retryAfter)
        }
        return answered
    }

    mutating func operate(_ operation: Operation?) {
        guard case .answered(var answered) = state else { return }
        answered.operation = operation
        state = .answered(answered)
    }

    func update(_ type: Notification.EventType, to leg: Leg, _ sdp: String?, _ request: CallUpdateRequest? = nil) -> Notification {
        var update = notification(type, to: leg)
        update.sdp = sdp
        if let request { update.carry(request.content) }
        return update
    }

    /// Media goes from peer to peer: descriptions pass untouched.
    private mutating func relay(_ request: CallUpdateRequest, by leg: Leg, to other: Leg, at now: MonotonicTime) -> [CallAction] {
        operate(
            .update(
                Update(
                    offerer: leg, answerer: other, before: nil, direction: MediaDirection(in: request.sdp),
                    deadline: now + configuration.offerTime)))
        return tell(other, update(.startCallUpdate, to: other, request.sdp, request))
    }

    /// Asks an end for an offer (spidr-wire §8.1, slow start).
    private mutating func invite(_ other: Leg, by leg: Leg, _ request: CallUpdateRequest, at now: MonotonicTime) -> [CallAction] {
        operate(
            .update(
                Update(
                    offerer: leg, answerer: other, awaitsOffer: true, before: nil, direction: nil, deadline: now + configuration.offerTime)))
        return tell(other, update(.startCallUpdate, to: other, nil, request))
    }

    /// The offer that was asked for goes to whoever asked; the parts are exchanged.
    private mutating func turn(
        _ asked: Update, _ request: CallUpdateRequest, at now: MonotonicTime, random: inout some RandomSource
    ) throws(CallError) -> [CallAction] {
        var text = request.sdp
        var turned = Update(
            offerer: asked.answerer, answerer: asked.offerer, before: self[asked.answerer]?.media,
            direction: MediaDirection(in: request.sdp), deadline: now + configuration.offerTime)
        if var own = turned.before, var others = self[turned.answerer]?.media {
            do throws(SDPError) {
                let offer = try own.receive(offer: request.sdp, random: &random)
                text = try others.offer(mirroring: offer, random: &random)
                turned = Update(
                    offerer: turned.offerer, answerer: turned.answerer, before: turned.before,
                    direction: offer.principalDirection, deadline: turned.deadline)
            } catch {
                throw CallError(error)
            }
            edit(turned.offerer) { $0.media = own }
            edit(turned.answerer) { $0.media = others }
        }
        operate(.update(turned))
        return tell(turned.answerer, update(.startCallUpdate, to: turned.answerer, text, request))
    }

    /// Only the way to the end is new: it is answered, and nobody else needs to know.
    private mutating func reconnect(_ leg: Leg, _ media: LegMedia, _ answer: String) -> [CallAction] {
        var media = media
        let prepared: [CallAction] = media.takeRenewal() ? [.prepareMedia(leg, media.credentials)] : []
        edit(leg) { $0.media = media }
        return prepared + connect(leg) + tell(leg, update(.respondCallUpdate, to: leg, answer))
    }

    /// An offer in a conference: the gateway answers.
    private mutating func answerOffer(
        by leg: Leg, _ request: CallUpdateRequest, random: inout some RandomSource
    ) throws(CallError) -> [CallAction] {
        guard var media = self[leg]?.media else { throw refusal(of: "startCallUpdate", to: leg) }
        do throws(SDPError) {
            let offer = try media.receive(offer: request.sdp, random: &random)
            let answer = try media.answerForMixing(random: &random)
            let routed = settleHold(of: leg, saying: offer.principalDirection)
            return routed + reconnect(leg, media, answer)
        } catch {
            throw CallError(error)
        }
    }

    // MARK: Offers of the gateway

    /// Offers an end what `other` said last, or if it is `nil` what the gateway can mix, under the end's new names. An end that cannot
    /// be offered anything goes on as it is.
    mutating func offerAnew(
        to leg: Leg, mirroring other: PeerDescription?, at now: MonotonicTime, random: inout some RandomSource
    ) -> [CallAction] {
        guard var media = self[leg]?.media else { return [] }
        do throws(SDPError) {
            let text: String
            if let other {
                text = try media.offer(mirroring: other.introduced(), random: &random)
            } else {
                text = try media.offerForMixing(random: &random)
            }
            let deadline = now + configuration.offerTime
            edit(leg) { member in
                member.media = media
                member.answerDeadline = deadline
                member.ownOffer = .introduction
                member.wasIntroduced = other != nil
            }
            return tell(leg, update(.startCallUpdate, to: leg, text))
        } catch {
            return tell(leg, update(.startCallUpdate, to: leg, nil))
        }
    }

    private mutating func answerOwnOffer(
        by leg: Leg, _ request: CallUpdateRequest, at now: MonotonicTime, random: inout some RandomSource
    ) throws(CallError) -> [CallAction] {
        guard var media = self[leg]?.media else { throw refusal(of: "respondCallUpdate", to: leg) }
        let answer: PeerDescription
        do throws(SDPError) {
            answer = try media.receive(answer: request.sdp)
        } catch {
            throw CallError(error)
        }
        edit(leg) { member in
            member.media = media
            member.answerDeadline = nil
        }
        // To an offer that sends nothing every answer says the same.
        let isTelling = self[leg]?.ownOffer != .restoration(sends: false)
        let routed = isTelling ? settleHold(of: leg, saying: answer.principalDirection) : []
        return routed + connect(leg) + tellHolds(at: now, random: &random) + refreshMusic()
    }

    /// An offer has had no answer in time, or is of no use any more: everything is as it was before it.
    mutating func abandon(_ update: Update) -> [CallAction] {
        operate(nil)
        withdraw(update)
        edit(update.offerer) { offerer in
            if !update.awaitsOffer { offerer.lastUtterance = nil }
            if let before = update.before { offerer.media = before }
        }
        var refused = self.update(.respondCallUpdate, to: update.offerer, nil)
        refused.outcome = .pending
        refused.retryAfter = Self.retryAfter
        refused.reasonText = "The other side did not answer in time"
        return tell(update.offerer, refused)
    }
}
