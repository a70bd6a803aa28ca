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
        edit(leg) { $0.exchange.inform(of: wishes, without: $0.media?.lostLines ?? []) }
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

    /// When the leg can be offered what it does not know about the other leg; `nil`: nothing is due.
    func newsDeadline(of leg: CallLeg) -> MonotonicTime? {
        guard leg.media?.isStable == true else { return nil }
        if isHandingOver { return nil }
        return leg.exchange.newsDeadline
    }
}
