import Primitives
import SDP

/// Offers of the gateway to the legs (see `Exchange`).
extension Call {
    /// Records an offer of the gateway to the leg.
    mutating func present(_ media: LegMedia, telling news: MediaOutline?, to leg: LegID, at now: MonotonicTime) {
        let deadline = now + configuration.offerTime
        edit(leg) { member in
            member.exchange.present(media, telling: news, until: deadline)
            member.media = media
        }
    }

    /// Records that a leg has been told what another leg wants, except for the m-lines that it could not take.
    mutating func noteTold(_ leg: LegID, of other: LegID) {
        guard let wishes = self[other]?.wants else { return }
        edit(leg) { member in
            let lost = member.media?.lostLines ?? []
            member.exchange.inform(lost.isEmpty ? MediaOutline(wishes) : MediaOutline(wishes, without: lost))
        }
    }

    /// The leg makes an offer.
    mutating func overtakeOffer(to leg: LegID, at now: MonotonicTime) {
        let offerTime = configuration.offerTime
        edit(leg) { member in
            assert(member.exchange.isOpen == (member.media?.isOffering == true), "one offer, seen from two sides")
            member.exchange.overtake(at: now, extendedBy: offerTime)
        }
    }

    /// An offer of the gateway has not been answered in time, or an answer is not expected any more.
    mutating func offerLapsed(to leg: LegID, at now: MonotonicTime, random: inout some RandomSource) -> [CallAction] {
        let deadline = now + configuration.offerTime
        edit(leg) { member in
            assert(member.exchange.isOpen == (member.media?.isOffering == true), "one offer, seen from two sides")
            if member.exchange.lapse(until: deadline) { member.media?.rollback() }
        }
        return tellNews(at: now, random: &random)
    }

    /// Offers each of the two legs what it does not know about the other leg, if the time for that has come.
    mutating func tellNews(at now: MonotonicTime, random: inout some RandomSource) -> [CallAction] {
        guard let answered, !answered.isConference, operation?.blocksNews != true else { return [] }
        var actions: [CallAction] = []
        for leg in legs where leg.isTalking {
            guard let wishes = others(of: leg.id).first?.wants, var media = leg.media else { continue }
            let (news, isFree) = (MediaOutline(wishes), leg.isFree(at: now))
            guard edit(leg.id, { $0.exchange.takeUp(news, isFree: isFree, at: now) }) == true else { continue }
            do throws(SDPError) {
                let text = try media.offer(mirroring: wishes, random: &random)
                present(media, telling: news, to: leg.id, at: now)
                actions += tell(leg.id, .offered(description: text, content: CustomContent()))
            } catch {
                guard edit(leg.id, { $0.exchange.skip(news) }) == true else { continue }
                actions += tell(leg.id, .offered(description: nil, content: CustomContent()))
            }
        }
        return actions
    }

    /// When the leg can be offered what it does not know about the other leg; `nil`: nothing is due.
    func newsDeadline(of leg: CallLeg) -> MonotonicTime? {
        guard leg.media?.isStable == true else { return nil }
        if isHandingOver { return nil }
        return leg.exchange.newsDeadline
    }

    /// Offers a leg of a conference what the gateway can mix.
    mutating func offerMix(to leg: LegID, at now: MonotonicTime, random: inout some RandomSource) -> [CallAction] {
        guard var media = self[leg]?.media else { return [] }
        do throws(SDPError) {
            media.rollback()
            let text = try media.offerForMixing(random: &random)
            present(media, telling: nil, to: leg, at: now)
            return tell(leg, .offered(description: text, content: CustomContent()))
        } catch {
            edit(leg) { $0.exchange.ask() }
            return tell(leg, .offered(description: nil, content: CustomContent()))
        }
    }
}

extension CallLeg {
    /// Whether the leg can be offered something: it talks, has nothing to answer, and its own offers are answered.
    func isFree(at now: MonotonicTime) -> Bool {
        guard let media, media.isStable, isTalking else { return false }
        return exchange.isFree(at: now)
    }
}
