package import Primitives
import SDP

/// Offers and answers between the two legs of a call whose media the gateway terminates (spidr-wire §8.1, RFC 3264 §8).
///
/// An offer is passed on to the other leg, and its answer back; both carry the directions of the original. The gateway
/// is the SDP peer of each leg, so that no leg has to wait for the other:
///
/// - Two offers that cross: each is answered with what the other one says.
/// - The other leg cannot be offered anything now, or does not answer within `Call.patience`: the gateway answers the
///   offer with what that leg wants.
/// - A leg that was not told everything because of that is offered the rest later (`tellNews`).
///
/// The gateway answers alone an offer that concerns only the path to its leg (an ICE restart, a page that was loaded
/// again), and one that was agreed on before.
///
/// The call makes this value of its legs, and takes the legs and the operation back from it. It then carries out the
/// actions in their order. A function that throws leaves a value that is of no use.
package struct CallNegotiation: Equatable, Sendable {
    /// What follows from an offer or an answer.
    package enum Action: Equatable, Sendable {
        /// The leg is offered this; `nil`: it is asked for an offer.
        case offer(String?, to: LegID, CustomContent)
        /// The offer of the leg is answered.
        case answer(String, to: LegID, CustomContent)
        /// The offer of the leg is given up; the leg is told that it may repeat it.
        case abandon(LegID)
        /// The content that the leg sent along is told to the others.
        case passOn(CustomContent, of: LegID)
        /// The leg holds, or has resumed, as its last description says.
        case settleHold(LegID)
        /// The peer of the leg has started anew.
        case restart(LegID)
        /// The media plane is given the leg.
        case prepare(LegID)
        /// The media plane is told what was agreed with the leg.
        case connect(LegID)
        /// The first exchange of the call is complete: its two legs hear each other from now on.
        case introduce(Call.Update)
        /// Music starts or stops, as the holds of both legs say.
        case refreshMusic
    }

    /// The leg that comes first in the call.
    package private(set) var first: NegotiatingLeg
    /// The leg that comes second in the call.
    package private(set) var second: NegotiatingLeg
    /// The operation in progress in the call. An offer that waits for its answer is one, and is kept here; of any other
    /// it is only asked what it blocks.
    package private(set) var operation: Call.Operation?
    /// How long an answer to an offer of the gateway is expected.
    private let offerTime: Duration

    /// Makes a negotiation of its parts; each parameter is the property of that name.
    package init(
        _ first: NegotiatingLeg, _ second: NegotiatingLeg, operation: Call.Operation?, offerTime: Duration
    ) {
        self.first = first
        self.second = second
        self.operation = operation
        self.offerTime = offerTime
    }

    // MARK: A leg offers

    /// A leg offers.
    ///
    /// - Parameter isRepeated: the offer is the one that was agreed on last, so that the other leg learns nothing new.
    /// - Throws: an error about the description.
    package mutating func offer(
        by leg: LegID, _ request: CallUpdateRequest, isRepeated: Bool, at now: MonotonicTime,
        random: inout some RandomSource
    ) throws(CallError) -> [Action] {
        let isTransportNew = try self[leg].receive(
            offer: request.sdp, at: now, extendedBy: offerTime, random: &random)
        let isOtherFree = self[other(than: leg)].isFree(at: now)
        let actions: [Action]
        if let update {
            operation = nil
            if update.answerer == leg, update.awaitsAnswer {
                actions = try cross(leg, request.content, random: &random)
            } else if update.answerer == leg, isOtherFree {
                // The offer that the leg was asked for.
                actions = try passOn(leg, request.content, at: now, random: &random)
            } else {
                // The leg has dropped what it offered or asked for before.
                actions = try answerAlone(leg, request.content, random: &random)
            }
        } else if !isRepeated, !isTransportNew, operation == nil, isOtherFree {
            actions = try passOn(leg, request.content, at: now, random: &random)
        } else {
            actions = try answerAlone(leg, request.content, random: &random)
        }
        return actions + [.refreshMusic] + tellNews(at: now, random: &random)
    }

    /// A leg asks the other one for an offer (spidr-wire §8.1, slow start). If that one cannot be asked now, the
    /// gateway offers.
    package mutating func ask(
        by leg: LegID, _ content: CustomContent, at now: MonotonicTime, random: inout some RandomSource
    ) -> [Action] {
        let other = other(than: leg)
        if operation == nil, self[other].isFree(at: now) {
            operation = .update(
                Call.Update(offerer: leg, answerer: other, kind: .offer, deadline: now + Call.patience))
            self[other].exchange.ask()
            return [.offer(nil, to: other, content)]
        }
        if let update, update.offerer == leg { operation = nil }
        if self[leg].transport.media?.isOffering == false { self[leg].transport.media?.rollback() }
        self[leg].exchange.startAnew(at: now)
        return told(content, of: leg) + tellNews(at: now, random: &random)
    }

    /// Ends an offer whose answer took too long, or that gives way to another operation.
    package mutating func answerInPlace(
        _ update: Call.Update, at now: MonotonicTime, random: inout some RandomSource
    ) -> [Action] {
        operation = nil
        if update.kind == .offer {
            // The leg is offered what the leg that was asked for an offer wants.
            self[update.offerer].exchange.startAnew(at: now)
            return tellNews(at: now, random: &random)
        }
        do throws(CallError) {
            let answered = try answerAlone(update.offerer, CustomContent(), random: &random)
            return answered + [.refreshMusic] + tellNews(at: now, random: &random)
        } catch {
            self[update.offerer].transport.media?.rollback()
            self[update.offerer].exchange.sent.forgetLast()
            return [.abandon(update.offerer)]
        }
    }

    // MARK: A leg answers

    /// A leg answers the last offer of the gateway.
    ///
    /// - Throws: `notAllowed` if no answer is expected; or an error about the description.
    package mutating func respond(
        by leg: LegID, _ request: CallUpdateRequest, at now: MonotonicTime, random: inout some RandomSource
    ) throws(CallError) -> [Action] {
        let answer = try self[leg].receive(answer: request.sdp, at: now)
        let update: Call.Update? = if let update, update.awaitsAnswer { update } else { nil }
        // A leg that answers has dropped its own offer.
        if update != nil { operation = nil }
        var actions: [Action] = [.settleHold(leg)]
        var told: [Action] = []
        if let update, update.answerer == leg, var offerers = self[update.offerer].transport.media {
            let text = try offerers.answer(mirroring: answer, random: &random)
            if update.isFirst { actions += [.prepare(update.offerer), .introduce(update)] }
            actions += conclude(offerers, of: update.offerer, telling: self[leg].wants)
            // The legs are new to each other: each has been told everything there is to know.
            if update.isFirst { self[update.offerer].noteTold(of: self[leg]) }
            told = [.answer(text, to: update.offerer, request.content)]
        } else if let update, update.isFirst {
            // The callee is headless: nothing is described to it.
            actions += [.prepare(update.offerer), .introduce(update)]
        } else {
            told = self.told(request.content, of: leg)
        }
        return actions + [.connect(leg), .refreshMusic] + told + tellNews(at: now, random: &random)
    }

    /// An answer of a leg arrives after an offer which the leg sent later. The offer says all that the answer says; but
    /// the leg knows what it was offered.
    package mutating func respondOvertaken(
        by leg: LegID, at now: MonotonicTime, random: inout some RandomSource
    ) -> [Action] {
        self[leg].noteOvertakenAnswer(at: now)
        return tellNews(at: now, random: &random)
    }

    // MARK: What is new

    /// Offers each leg what it does not know about the other leg, if the time for that has come.
    package mutating func tellNews(at now: MonotonicTime, random: inout some RandomSource) -> [Action] {
        guard operation?.blocksNews != true else { return [] }
        return tellNews(to: first.id, at: now, random: &random) + tellNews(to: second.id, at: now, random: &random)
    }

    private mutating func tellNews(to leg: LegID, at now: MonotonicTime, random: inout some RandomSource) -> [Action] {
        guard let wishes = self[other(than: leg)].wants, var media = self[leg].transport.media else { return [] }
        let (news, isFree) = (MediaOutline(wishes), self[leg].isFree(at: now))
        guard self[leg].exchange.takeUp(news, isFree: isFree, at: now) else { return [] }
        do throws(CallError) {
            let text = try media.offer(mirroring: wishes, random: &random)
            self[leg].present(media, telling: news, until: now + offerTime)
            return [.offer(text, to: leg, CustomContent())]
        } catch {
            return self[leg].exchange.skip(news) ? [.offer(nil, to: leg, CustomContent())] : []
        }
    }
}

// MARK: - Steps

extension CallNegotiation {
    /// Offers the other leg the same.
    private mutating func passOn(
        _ leg: LegID, _ content: CustomContent, at now: MonotonicTime, random: inout some RandomSource
    ) throws(CallError) -> [Action] {
        let other = other(than: leg)
        guard var media = self[other].transport.media, let wishes = self[leg].wants else {
            throw self[leg].refusal(of: .offer)
        }
        let text = try media.offer(mirroring: wishes, random: &random)
        self[other].present(media, telling: MediaOutline(wishes), until: now + offerTime)
        operation = .update(Call.Update(offerer: leg, answerer: other, deadline: now + Call.patience))
        return [.offer(text, to: other, content)]
    }

    /// Both legs have offered, this one last: each offer is the answer to the other one.
    private mutating func cross(
        _ leg: LegID, _ content: CustomContent, random: inout some RandomSource
    ) throws(CallError) -> [Action] {
        let other = other(than: leg)
        let actions = try answerAlone(leg, CustomContent(), random: &random)
        guard var media = self[other].transport.media, let wishes = self[leg].wants else {
            throw self[leg].refusal(of: .offer)
        }
        let text = try media.answer(mirroring: wishes, isPreliminary: true, random: &random)
        return actions + conclude(media, of: other, telling: wishes) + [.answer(text, to: other, content)]
    }

    /// Answers the offer of a leg with what the other leg wants, without asking that leg.
    private mutating func answerAlone(
        _ leg: LegID, _ content: CustomContent, random: inout some RandomSource
    ) throws(CallError) -> [Action] {
        guard var media = self[leg].transport.media, let wishes = self[other(than: leg)].wants else {
            throw self[leg].refusal(of: .offer)
        }
        let text = try media.answer(mirroring: wishes, isPreliminary: true, random: &random)
        return conclude(media, of: leg, telling: wishes) + [.answer(text, to: leg, CustomContent())]
            + told(content, of: leg)
    }

    /// Records that an offer of the leg has been answered.
    ///
    /// - Parameter wishes: what the answer tells about the other leg; `nil`: nothing.
    private mutating func conclude(_ media: LegMedia, of leg: LegID, telling wishes: PeerDescription?) -> [Action] {
        self[leg].transport = .webRTC(media)
        let isRestarted = self[leg].takeRestart()
        if let wishes, let offer = media.described {
            let before = self[leg].exchange.told
            self[leg].exchange.inform(MediaOutline(wishes, answering: offer, before: before))
        }
        return (isRestarted ? [.restart(leg), .prepare(leg)] : []) + [.settleHold(leg), .connect(leg)]
    }

    /// Tells the others the content that a leg sent along; nothing if it is empty.
    private func told(_ content: CustomContent, of leg: LegID) -> [Action] {
        content.isEmpty ? [] : [.passOn(content, of: leg)]
    }

    /// The offer that waits for its answer; `nil`: none does.
    private var update: Call.Update? { if case .update(let update) = operation { update } else { nil } }

    private func other(than leg: LegID) -> LegID { leg == first.id ? second.id : first.id }

    private subscript(leg: LegID) -> NegotiatingLeg {
        get { leg == first.id ? first : second }
        _modify { if leg == first.id { yield &first } else { yield &second } }
    }
}
