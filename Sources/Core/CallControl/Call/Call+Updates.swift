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
        by leg: LegID, _ request: CallUpdateRequest, isRepeated: Bool, at now: MonotonicTime,
        random: inout some RandomSource
    ) throws(CallError) -> [CallAction] {
        let member = try member(leg)
        guard let answered, member.isTalking else {
            throw refusal(of: .offer, to: leg)
        }
        guard var own = member.media else { return try offerDirectly(by: leg, request, at: now) }
        // The legs are about to belong to another call.
        if isHandingOver { throw .pending(retryAfter: Self.retryAfter) }
        if answered.operation?.isFirstExchange == true { throw refusal(of: .offer, to: leg) }
        if request.sdp.isEmpty {
            guard !answered.isConference else {
                return offerMix(to: leg, at: now, random: &random) + passOn(request.content, of: leg)
            }
            return ask(by: leg, request, at: now, random: &random)
        }
        let isTransportNew: Bool
        do throws(SDPError) {
            let before = own.isStable || own.isOffering ? own.described : nil
            let offer = try own.receive(
                newOffer: request.sdp, instead: member.exchange.outstanding?.media, random: &random)
            isTransportNew = own.changesTransportOnly(offer, since: before)
        } catch {
            throw CallError(error)
        }
        if answered.isConference { return try answerForMixing(own, of: leg, request, at: now, random: &random) }
        guard let other = others(of: leg).first else { throw refusal(of: .offer, to: leg) }

        var next = self
        let actions: [CallAction]
        next.overtakeOffer(to: leg, at: now)
        next.edit(leg) { $0.exchange.offerMade() }
        if let update {
            next.operate(nil)
            if update.answerer == leg, update.awaitsAnswer {
                actions = try next.cross(leg, own, update, request, random: &random)
            } else if update.answerer == leg, other.isFree(at: now) {
                // The offer that the leg was asked for.
                actions = try next.passOn(own, of: leg, to: other, request, at: now, random: &random)
            } else {
                // The leg has dropped what it offered or asked for before.
                actions = try next.answerAlone(own, of: leg, request, random: &random)
            }
        } else if !isRepeated, !isTransportNew, operation == nil, other.isFree(at: now) {
            actions = try next.passOn(own, of: leg, to: other, request, at: now, random: &random)
        } else {
            actions = try next.answerAlone(own, of: leg, request, random: &random)
        }
        self = next
        return actions + refreshMusic() + tellNews(at: now, random: &random)
    }

    /// Handles the answer to an offer of the gateway, or the offer that the leg was asked for.
    mutating func newResponse(
        by leg: LegID, _ request: CallUpdateRequest, at now: MonotonicTime, random: inout some RandomSource
    ) throws(CallError) -> [CallAction] {
        let member = try member(leg)
        guard let answered, !request.sdp.isEmpty else {
            throw refusal(of: .respond, to: leg)
        }
        guard let current = member.media else { return try answerDirectly(by: leg, request, at: now) }
        // The legs are about to belong to another call, which would not know of the answer.
        if isHandingOver { throw .pending(retryAfter: Self.retryAfter) }
        if member.exchange.awaitsOffer(in: request.sdp) {
            return try newOffer(by: leg, request, isRepeated: false, at: now, random: &random)
        }
        guard let offered = member.exchange.outstanding else { throw refusal(of: .respond, to: leg) }
        var media = current.returned(to: offered.media)
        let answer: PeerDescription
        do throws(SDPError) {
            answer = try media.receive(answer: request.sdp)
        } catch {
            // The description may answer an earlier offer.
            throw offered.count > 1 ? refusal(of: .respond, to: leg) : CallError(error)
        }
        let update: Update? = if let update = self.update, update.awaitsAnswer { update } else { nil }
        var concluded: (media: LegMedia, answer: String)?
        if let update, update.answerer == leg, var offerers = self[update.offerer]?.media {
            do throws(SDPError) {
                let text = try offerers.answer(mirroring: answer, random: &random)
                concluded = (offerers, text)
            } catch {
                throw CallError(error)
            }
        }
        edit(leg) { member in
            member.media = media
            member.exchange.accept(at: now)
        }
        // A leg that answers has dropped its own offer.
        if update != nil { operate(nil) }
        guard !answered.isConference else {
            return settleHold(of: leg, saying: answer.principalDirection) + connect(leg) + refreshMusic()
                + passOn(request.content, of: leg)
        }
        var actions = settleHold(of: leg)
        var told: [CallAction] = []
        if let update, let concluded {
            if update.isFirst {
                actions += [.prepareMedia(update.offerer, concluded.media.credentials)] + introductions(update, at: now)
            }
            actions += conclude(concluded.media, of: update.offerer, telling: media.wishes)
            // The legs are new to each other: each has been told everything there is to know.
            if update.isFirst { noteTold(update.offerer, of: leg) }
            told = tell(
                update.offerer, .answered(description: concluded.answer, content: request.content))
        } else if let update, update.isFirst {
            // The callee is headless: nothing is described to it.
            actions += prepareAnswered(update.offerer) + introductions(update, at: now)
        } else {
            told = passOn(request.content, of: leg)
        }
        return actions + connect(leg) + refreshMusic() + told + tellNews(at: now, random: &random)
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
}

// MARK: - Parts

extension Call {
    /// Tells all other legs the content of a leg; nothing if it is empty.
    private func passOn(_ content: CustomContent, of leg: LegID) -> [CallAction] {
        guard !content.isEmpty else { return [] }
        return legs.filter { $0.id != leg }.flatMap { tell($0.id, .content(content)) }
    }

    /// Prepares a new media path if the peer of the leg has started anew.
    private func renew(_ media: inout LegMedia, of leg: LegID) -> [CallAction] {
        guard media.takeRenewal() else { return [] }
        return note(leg, .mediaRestarted) + [.prepareMedia(leg, media.credentials)]
    }

    // MARK: Offers of a leg

    /// Offers the other leg the same.
    private mutating func passOn(
        _ own: LegMedia, of leg: LegID, to other: CallLeg, _ request: CallUpdateRequest, at now: MonotonicTime,
        random: inout some RandomSource
    ) throws(CallError) -> [CallAction] {
        guard var others = other.media, let wishes = own.wishes else { throw refusal(of: .offer, to: leg) }
        let text: String
        do throws(SDPError) {
            text = try others.offer(mirroring: wishes, random: &random)
        } catch {
            throw CallError(error)
        }
        edit(leg) { $0.media = own }
        present(others, telling: MediaOutline(wishes), to: other.id, at: now)
        operate(.update(Update(offerer: leg, answerer: other.id, deadline: now + Self.patience)))
        return tell(other.id, .offered(description: text, content: request.content))
    }

    /// Both legs have offered: each offer is the answer to the other one.
    private mutating func cross(
        _ leg: LegID, _ own: LegMedia, _ update: Update, _ request: CallUpdateRequest, random: inout some RandomSource
    ) throws(CallError) -> [CallAction] {
        guard let other = self[update.offerer], let wishes = own.wishes, var others = other.media else {
            throw refusal(of: .offer, to: leg)
        }
        let actions = try answerAlone(own, of: leg, CallUpdateRequest(sdp: request.sdp), random: &random)
        let text: String
        do throws(SDPError) {
            text = try others.answer(mirroring: wishes, isPreliminary: true, random: &random)
        } catch {
            throw CallError(error)
        }
        return actions + conclude(others, of: other.id, telling: wishes)
            + tell(other.id, .answered(description: text, content: request.content))
    }

    /// Answers an offer with what the other leg wants, without asking that leg.
    private mutating func answerAlone(
        _ own: LegMedia, of leg: LegID, _ request: CallUpdateRequest, random: inout some RandomSource
    ) throws(CallError) -> [CallAction] {
        guard let other = others(of: leg).first, let wishes = other.wants else {
            throw refusal(of: .offer, to: leg)
        }
        var own = own
        let text: String
        do throws(SDPError) {
            text = try own.answer(mirroring: wishes, isPreliminary: true, random: &random)
        } catch {
            throw CallError(error)
        }
        let actions =
            conclude(own, of: leg, telling: wishes)
            + tell(leg, .answered(description: text, content: CustomContent()))
        return actions + passOn(request.content, of: leg)
    }

    /// Records that an offer of the leg has been answered.
    private mutating func conclude(_ media: LegMedia, of leg: LegID, telling wishes: PeerDescription?) -> [CallAction] {
        var media = media
        let prepared = renew(&media, of: leg)
        edit(leg) { member in
            member.media = media
            if let wishes, let offer = media.described {
                let before = member.exchange.told
                member.exchange.inform(MediaOutline(wishes, answering: offer, before: before))
            }
        }
        return prepared + settleHold(of: leg) + connect(leg)
    }

    /// Ends an offer whose answer took too long, or that gives way to another operation.
    mutating func answerInPlace(_ update: Update, at now: MonotonicTime, random: inout some RandomSource)
        -> [CallAction]
    {
        guard let own = self[update.offerer]?.media else { return abandon(update) }
        operate(nil)
        if update.kind == .offer {
            // The leg is offered what the leg that was asked for an offer wants.
            edit(update.offerer) { $0.exchange.startAnew(at: now) }
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
        by leg: LegID, _ request: CallUpdateRequest, at now: MonotonicTime, random: inout some RandomSource
    ) -> [CallAction] {
        guard answered != nil, let other = others(of: leg).first else { return [] }
        if operation == nil, other.isFree(at: now) {
            operate(.update(Update(offerer: leg, answerer: other.id, kind: .offer, deadline: now + Self.patience)))
            edit(other.id) { $0.exchange.ask() }
            return tell(other.id, .offered(description: nil, content: request.content))
        }
        if let update, update.offerer == leg { operate(nil) }
        edit(leg) { member in
            if member.media?.isOffering == false { member.media?.rollback() }
            member.exchange.startAnew(at: now)
        }
        return passOn(request.content, of: leg) + tellNews(at: now, random: &random)
    }

    /// Answers an offer in a conference.
    private mutating func answerForMixing(
        _ own: LegMedia, of leg: LegID, _ request: CallUpdateRequest, at now: MonotonicTime,
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
        let prepared = renew(&own, of: leg)
        edit(leg) { member in
            member.media = own
            member.exchange.offerMade()
        }
        return routed + prepared + connect(leg)
            + tell(leg, .answered(description: answer, content: CustomContent()))
            + passOn(request.content, of: leg)
    }
}
