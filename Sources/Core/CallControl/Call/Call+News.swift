package import Primitives
package import SDP

/// Offers of the gateway to an end, and what the end knows of the other one.
///
/// Nothing in an answer says which offer it belongs to (spidr-wire §8.1). An end has at most one offer of the gateway to answer, as far as
/// the gateway can help it, and its last answer counts as the one to the last offer:
///
///     present ──▶ open ── answer ──────────────────────────────────────▶ settled
///                  │                                                       ▲
///                  ├── the end makes an offer ──▶ overtaken ── answer ─────┤   the end has put its own offer aside:
///                  │                                 │                     │   its leg is as if it had never come
///                  │                                 └── its next offer ───┤
///                  └── `offerTime` ──▶ lapsed ── answer, `offerTime` ──────┘   what it was not told it is offered once more
///
/// An end that has not been told what the other one wants is offered that, `newsDelay` after it became known that it was not, and as soon
/// as it is free: it has nothing to answer, and its own offers are answered.
package struct OutstandingOffer: Equatable, Sendable {
    /// The leg while this offer is open.
    let media: LegMedia
    /// What it tells of the other end.
    package let told: MediaOutline?
    /// What this end had been told before.
    let toldBefore: MediaOutline?
    /// How many offers may still be answered, this one included.
    package internal(set) var count: Int
    /// When it lapses, or is forgotten if it has lapsed or was overtaken.
    var deadline: MonotonicTime
    /// Nothing is offered before that.
    package internal(set) var settles: MonotonicTime
}

extension Call {
    /// From when it is known that an end was not told something until it is: clients take some time after an answer before they
    /// understand what comes next (spidr-wire §12.1).
    static let newsDelay = Duration.milliseconds(500)

    /// How long an end that puts its own offer aside for one of the gateway takes to answer that one. Before it is over, nobody knows
    /// whether it has.
    static let settlingTime = Duration.seconds(3)

    /// An offer of the gateway goes out.
    mutating func present(_ media: LegMedia, telling told: MediaOutline?, to leg: Leg, at now: MonotonicTime) {
        let deadline = now + configuration.offerTime
        edit(leg) { member in
            member.offered = OutstandingOffer(
                media: media, told: told, toldBefore: member.told, count: (member.offered?.count ?? 0) + 1,
                deadline: deadline, settles: now)
            member.media = media
            member.told = told
            member.newsDue = nil
        }
    }

    /// An end has been told what another one wants, but for what it could not take.
    mutating func noteTold(_ leg: Leg, of other: Leg) {
        guard let wishes = self[other]?.media?.wishes else { return }
        edit(leg) { member in
            let lost = member.media?.lostLines ?? []
            member.told = lost.isEmpty ? MediaOutline(wishes) : MediaOutline(wishes, without: lost)
        }
    }

    /// The end makes an offer. What it has not answered by now it answers only if it puts its own offer aside.
    mutating func overtakeOffer(to leg: Leg, at now: MonotonicTime) {
        let configuration = configuration
        edit(leg) { member in
            guard let offer = member.offered, member.media?.isOffering == true else {
                member.offered = nil
                return
            }
            member.told = offer.toldBefore
            member.offered?.settles = now + Self.settlingTime
            member.offered?.deadline = offer.deadline + configuration.offerTime
        }
    }

    /// - Parameter media: the leg with the answer taken.
    mutating func acceptAnswer(_ media: LegMedia, to offer: OutstandingOffer, by leg: Leg, at now: MonotonicTime) {
        edit(leg) { member in
            member.media = media
            member.told = offer.told
            member.offered?.count -= 1
            member.offered?.settles = now + Self.settlingTime
            if offer.count == 1 { member.offered = nil }
        }
    }

    /// An offer of the gateway has not been answered in time, or is not waited for any more.
    mutating func offerLapsed(to leg: Leg, at now: MonotonicTime, random: inout some RandomSource) -> [CallAction] {
        let deadline = now + configuration.offerTime
        edit(leg) { member in
            if member.media?.isOffering == true {
                member.media?.rollback()
                member.told = member.offered?.toldBefore
                member.newsDue = deadline
                member.offered?.deadline = deadline
                member.offered?.settles = now
            } else {
                member.offered = nil
            }
        }
        return tellNews(at: now, random: &random)
    }

    /// Offers each of the two legs what it does not know about the other leg, if the time for that has come.
    mutating func tellNews(at now: MonotonicTime, random: inout some RandomSource) -> [CallAction] {
        guard case .answered(let answered) = state, !answered.isConference else { return [] }
        switch answered.operation {
        // The leg that is about to be handed over is introduced anew in the other call.
        case .handover: return []
        case .update(let update) where update.isFirst: return []
        case .update, .transfer, .consultation, nil: break
        }
        var actions: [CallAction] = []
        for leg in legs where leg.isTalking {
            guard let wishes = others(of: leg.id).first?.media?.wishes, var media = leg.media else { continue }
            let told = MediaOutline(wishes)
            if leg.told == told {
                edit(leg.id) { $0.newsDue = nil }
            } else if let due = leg.newsDue {
                guard due <= now, leg.isFree(at: now) else { continue }
                do throws(SDPError) {
                    let text = try media.offer(mirroring: wishes, random: &random)
                    present(media, telling: told, to: leg.id, at: now)
                    actions += tell(leg.id, update(.startCallUpdate, to: leg.id, text))
                } catch {
                    // It goes on as it is. Of somebody new it knows nothing, and is asked what it has.
                    edit(leg.id) { ($0.newsDue, $0.told) = (nil, told) }
                    guard leg.told == nil else { continue }
                    edit(leg.id) { $0.isAsked = true }
                    actions += tell(leg.id, update(.startCallUpdate, to: leg.id, nil))
                }
            } else {
                edit(leg.id) { $0.newsDue = now + Self.newsDelay }
            }
        }
        return actions
    }

    /// When the leg can be offered what it does not know about the other leg; `nil`: nothing is due.
    func newsDeadline(of leg: CallLeg) -> MonotonicTime? {
        guard let due = leg.newsDue, leg.media?.isStable == true else { return nil }
        if case .answered(let answered) = state, case .handover = answered.operation { return nil }
        return max(due, leg.offered?.settles ?? due)
    }

    /// Offers an end of a conference what the gateway can mix.
    mutating func offerMix(to leg: Leg, at now: MonotonicTime, random: inout some RandomSource) -> [CallAction] {
        guard var media = self[leg]?.media else { return [] }
        do throws(SDPError) {
            media.rollback()
            let text = try media.offerForMixing(random: &random)
            present(media, telling: nil, to: leg, at: now)
            return tell(leg, update(.startCallUpdate, to: leg, text))
        } catch {
            edit(leg) { $0.isAsked = true }
            return tell(leg, update(.startCallUpdate, to: leg, nil))
        }
    }
}

extension CallLeg {
    /// Whether the leg can be offered something: it talks, has nothing to answer, and its own offers are answered.
    func isFree(at now: MonotonicTime) -> Bool {
        guard let media, media.isStable, isTalking else { return false }
        return offered.map { $0.settles <= now } ?? true
    }
}
