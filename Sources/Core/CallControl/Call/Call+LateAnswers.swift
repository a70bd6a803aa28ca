import Primitives
import SDP

/// Answers that come when nobody waits for them any more.
///
/// Nothing in an answer says which offer it belongs to (spidr-wire §8.1): a late one would be taken for the answer to the next offer. An end
/// that has not answered in time is therefore offered nothing but the same until its answer has come, or it has made an offer of its own, or as
/// much time again has passed. If the answer comes, its client goes by an offer that does not hold any more, and is told anew what does.
extension Call {
    /// An offer had no answer in time. It stays open with the end that was to answer, if media is terminated here.
    mutating func withdraw(_ update: Update) {
        let deadline = update.deadline + configuration.offerTime
        let offer = self[update.offerer]?.lastUtterance
        edit(update.answerer) { member in
            guard !update.awaitsOffer, member.media != nil else { return }
            member.withdrawnOffer = offer
            member.answerDeadline = deadline
            member.ownOffer = .withdrawn
        }
    }

    /// In a conference nothing else is ever offered for that an answer could be taken.
    mutating func ownOfferTimedOut(_ leg: Leg, at now: MonotonicTime, random: inout some RandomSource) -> [CallAction] {
        guard case .answered(let answered) = state, !answered.isConference, self[leg]?.owesAnswer == false else {
            giveUpOwnOffer(to: leg)
            return tellHolds(at: now, random: &random)
        }
        let deadline = now + configuration.offerTime
        edit(leg) { member in
            member.answerDeadline = deadline
            member.ownOffer = .withdrawn
            member.withdrawnOffer = nil
        }
        // Nobody waits for what it had to say.
        return tellHolds(at: now, random: &random)
    }

    mutating func answerLate(
        by leg: Leg, _ request: CallUpdateRequest, at now: MonotonicTime, random: inout some RandomSource
    ) throws(CallError) -> [CallAction] {
        guard var media = self[leg]?.media else { throw refusal(of: "respondCallUpdate", to: leg) }
        do throws(SDPError) {
            _ = try media.receive(answer: request.sdp)
        } catch {
            throw CallError(error)
        }
        edit(leg) { member in
            member.media = media
            member.answerDeadline = nil
        }
        return connect(leg) + restore(leg, at: now, random: &random)
    }

    /// An offer of an end that owes an answer: it has put that offer aside.
    mutating func offerInstead(
        by leg: Leg, _ request: CallUpdateRequest, isRepeated: Bool, at now: MonotonicTime, random: inout some RandomSource
    ) throws(CallError) -> [CallAction] {
        var settled = self
        settled.giveUpOwnOffer(to: leg)
        let actions = try settled.newOffer(by: leg, request, isRepeated: isRepeated, at: now, random: &random)
        self = settled
        return actions
    }

    /// The withdrawn offer is made again: whatever answer comes is one to it.
    mutating func renew(_ offer: Utterance?, by leg: Leg) {
        guard let offer, let other = others(of: leg).first, other.owesAnswer, other.withdrawnOffer == offer else { return }
        giveUpOwnOffer(to: other.id)
    }

    private mutating func giveUpOwnOffer(to leg: Leg) {
        edit(leg) { member in
            member.media?.rollback()
            member.answerDeadline = nil
        }
    }

    /// Offers an end what the other one said last; what that one had to say while it was kept waiting itself is not what it wants.
    mutating func restore(_ leg: Leg, at now: MonotonicTime, random: inout some RandomSource) -> [CallAction] {
        guard let other = others(of: leg).first, let last = other.media?.described, var media = self[leg]?.media else { return [] }
        let said = other.holds || last.principalDirection?.receives == true ? last : last.opened()
        let text: String
        do throws(SDPError) {
            text = try media.offer(mirroring: said, random: &random)
        } catch {
            // It goes on as it is, as with every offer that cannot be made.
            return []
        }
        let deadline = now + configuration.offerTime
        edit(leg) { member in
            member.media = media
            member.answerDeadline = deadline
            member.ownOffer = .restoration(sends: said.principalDirection?.sends ?? true)
        }
        return tell(leg, update(.startCallUpdate, to: leg, text))
    }
}

extension CallLeg {
    /// To an offer that is withdrawn.
    var owesAnswer: Bool { answerDeadline != nil && ownOffer == .withdrawn }
}
