package import Primitives
package import SDP

/// The offer/answer exchange of the gateway with one leg (RFC 3264): which offers of the gateway an answer may still
/// come to, what the leg knows about the other leg, and what the leg has sent.
///
/// An answer does not say which offer it belongs to (spidr-wire §8.1). The gateway therefore keeps, as far as it can,
/// at most one offer open to each leg, and takes the last answer of a leg as the answer to its last offer:
///
///     settled ── present ──▶ open ── accept ──▶ settled; or answered, while an older offer may still be answered
///                             │
///                             ├── overtake ──▶ overtaken ── accept ──▶ as above; the leg has put its own offer aside
///                             │                     ├── acceptOvertaken ──▶ as above; its own offer stands
///                             │                     └── overtake, lapse ──▶ settled
///                             │
///                             └── lapse ─────▶ lapsed ── accept ──▶ as above
///                                                └── overtake, lapse ──▶ settled
///
/// From every state, `present` leads to `open` and `close` to `settled`. What a leg was not told by an offer that was
/// overtaken or lapsed is offered again. A leg that has not been told what the other leg wants is offered that, at the
/// earliest `newsDelay` after the gateway noticed, and only when the leg is free: it has nothing to answer, and its own
/// offers are answered.
package struct Exchange: Equatable, Sendable {
    /// Where the offers of the gateway stand in the diagram above.
    ///
    /// - `settles`: until then, the gateway cannot know whether the leg has understood what came before; nothing else
    ///   is offered to it.
    package enum State: Equatable, Sendable {
        /// No answer is expected.
        case settled
        /// The last offer waits for its answer.
        case open(OutstandingOffer)
        /// The leg has made an offer of its own. It answers the gateway's offer only if it drops its own.
        case overtaken(OutstandingOffer, settles: MonotonicTime)
        /// The last offer has been answered, and an answer may still come to an older one.
        case answered(OutstandingOffer, settles: MonotonicTime)
        /// The last offer was not answered in time; an answer may still come to it.
        case lapsed(OutstandingOffer)
    }

    /// The time from noticing that a leg was not told something until it is offered that. After an answer, clients take
    /// some time before they understand what comes next (spidr-wire §12.1).
    package static let newsDelay = Duration.milliseconds(500)

    /// How long a leg that drops its own offer for one of the gateway takes to answer the latter. Before this time is
    /// over, the gateway cannot know whether the leg has dropped its offer.
    package static let settlingTime = Duration.seconds(3)

    /// Where the offers of the gateway to this leg stand.
    package private(set) var state = State.settled
    /// What this leg was last told that the other leg wants; `nil`: it was told nothing about that leg.
    package private(set) var told: MediaOutline?
    /// The earliest time to offer this leg what it does not know of the other leg; `nil`: no offer is due.
    package private(set) var newsDue: MonotonicTime?
    /// This leg was asked for an offer, and has not made it yet. It can be asked in every state.
    package private(set) var isAsked = false
    /// What this leg has sent.
    package internal(set) var sent = SentDescriptions()

    /// Makes the exchange with a leg that has joined the call.
    ///
    /// - Parameter told: what its invitation tells about the other leg; `nil`: nothing.
    package init(told: MediaOutline? = nil) { self.told = told }

    /// The last offer of the gateway, if an answer to it or to an older one may still come; otherwise `nil`.
    package var outstanding: OutstandingOffer? {
        switch state {
        case .settled: nil
        case .open(let offer), .overtaken(let offer, _), .answered(let offer, _), .lapsed(let offer): offer
        }
    }

    /// The last offer of the gateway waits for its answer.
    package var isOpen: Bool { if case .open = state { true } else { false } }

    /// When `lapse` is due; `nil`: never.
    package var deadline: MonotonicTime? { outstanding?.deadline }

    /// Before this time nothing is offered to the leg; `nil`: there is no such time.
    package var settles: MonotonicTime? {
        switch state {
        case .settled, .open, .lapsed: nil
        case .overtaken(_, let settles), .answered(_, let settles): settles
        }
    }

    /// Whether another offer could be made now. Whether the leg has made one itself is not considered.
    package func isFree(at now: MonotonicTime) -> Bool { !isOpen && settles.map { $0 <= now } ?? true }

    // MARK: Offers of the gateway

    /// The gateway makes an offer to the leg.
    ///
    /// - Parameters:
    ///   - media: the media of the leg while the offer is open.
    ///   - news: what the offer tells about the other leg; `nil`: nothing (the offer of a mix).
    ///   - deadline: when the offer lapses.
    package mutating func present(_ media: LegMedia, telling news: MediaOutline?, until deadline: MonotonicTime) {
        let count = (outstanding?.count ?? 0) + 1
        state = .open(
            OutstandingOffer(media: media, told: news, toldBefore: told, count: count, deadline: deadline))
        (told, newsDue) = (news, nil)
    }

    /// The leg makes an offer. It answers the open offer of the gateway only if it drops its own.
    ///
    /// - Parameter offerTime: how much longer the answer is expected.
    package mutating func overtake(at now: MonotonicTime, extendedBy offerTime: Duration) {
        guard case .open(var offer) = state else {
            state = .settled
            return
        }
        told = offer.toldBefore
        offer.deadline = offer.deadline + offerTime
        state = .overtaken(offer, settles: now + Self.settlingTime)
    }

    /// The leg answers; its answer is taken as that to the last offer.
    package mutating func accept(at now: MonotonicTime) {
        guard var offer = outstanding else { return }
        told = offer.told
        offer.count -= 1
        state = offer.count == 0 ? .settled : .answered(offer, settles: now + Self.settlingTime)
    }

    /// The answer to the gateway's offer arrives after an offer that the leg sent later: when it made that one, it knew
    /// what it had been offered. What the answer to its own offer has told it since stands.
    ///
    /// - Parameter own: the offer of the leg.
    package mutating func acceptOvertaken(by own: PeerDescription, at now: MonotonicTime) {
        guard case .overtaken(let offer, _) = state else { return }
        let conveyed = told
        accept(at: now)
        told = conveyed.flatMap { MediaOutline($0, answering: own, before: offer.told) }
    }

    /// The deadline is over. The answer to an open offer is expected until the next one, and then what the offer told
    /// is offered again.
    ///
    /// - Returns: Whether the offer was open, and has to be rolled back.
    package mutating func lapse(until deadline: MonotonicTime) -> Bool {
        guard case .open(var offer) = state else {
            state = .settled
            return false
        }
        (told, newsDue) = (offer.toldBefore, deadline)
        offer.deadline = deadline
        state = .lapsed(offer)
        return true
    }

    /// The leg has handed its call over, and is offered nothing more.
    package mutating func close() { (state, newsDue, isAsked) = (.settled, nil, false) }

    /// What another call has to know of a leg that it takes. The leg is new to the other legs there.
    func handedOver() -> Exchange {
        var handed = self
        (handed.told, handed.newsDue) = (nil, nil)
        handed.sent = sent.handedOver()
        return handed
    }

    // MARK: Offers that are asked for

    /// The leg is asked for an offer.
    package mutating func ask() { isAsked = true }

    /// The leg has made an offer, whether it was asked or not.
    package mutating func offerMade() { isAsked = false }

    /// Whether a response is the offer that the leg was asked for. An offer leaves open which side is the DTLS client,
    /// an answer does not (RFC 5763 §5).
    package func awaitsOffer(in response: String) -> Bool {
        isAsked && (outstanding == nil || response.contains("a=setup:actpass"))
    }

    // MARK: What the leg knows

    /// The leg has been told what the other leg wants; `nil`: not everything, although it knew nothing before.
    package mutating func inform(_ outline: MediaOutline?) { told = outline }

    /// The leg has been told what the other leg wants, except for the m-lines of these kinds, which it could not take.
    mutating func inform(of wishes: PeerDescription, without lost: [MediaKind]) {
        told = lost.isEmpty ? MediaOutline(wishes) : MediaOutline(wishes, without: lost)
    }

    /// The leg knows nothing about the other leg, and is due to be told.
    package mutating func startAnew(at now: MonotonicTime) { (told, newsDue) = (nil, now) }

    /// What the other leg wants has changed: the leg is due to be told at once.
    package mutating func hasten(at now: MonotonicTime) { newsDue = now }

    /// Compares what the leg was told with what the other leg wants. An offer becomes due if they differ.
    ///
    /// - Parameter isFree: the leg can be offered something now.
    /// - Returns: Whether to offer the leg what is new.
    package mutating func takeUp(_ news: MediaOutline, isFree: Bool, at now: MonotonicTime) -> Bool {
        guard told != news else {
            newsDue = nil
            return false
        }
        guard let newsDue else {
            newsDue = now + Self.newsDelay
            return false
        }
        return newsDue <= now && isFree
    }

    /// What is new cannot be offered to the leg, which continues with what it has. If it knows nothing about the other
    /// leg, it is asked for an offer.
    ///
    /// - Returns: Whether it is asked.
    package mutating func skip(_ news: MediaOutline) -> Bool {
        let knowsNothing = told == nil
        if knowsNothing { ask() }
        (told, newsDue) = (news, nil)
        return knowsNothing
    }

    /// When the leg can be offered what it does not know, if it has made no offer itself; `nil`: nothing is due.
    package var newsDeadline: MonotonicTime? { newsDue.map { max($0, settles ?? $0) } }
}

/// An offer of the gateway to a leg, with what it tells the leg about the other one.
package struct OutstandingOffer: Equatable, Sendable {
    /// The media of the leg while this offer is open.
    let media: LegMedia
    /// What the offer tells about the other leg; `nil`: nothing (the offer of a mix).
    package let told: MediaOutline?
    /// What this leg had been told before the offer.
    let toldBefore: MediaOutline?
    /// How many offers of the gateway may still be answered, this one included until it is answered; at least 1.
    package internal(set) var count: Int
    /// When the offer lapses; once it has lapsed or was overtaken: when it is forgotten.
    var deadline: MonotonicTime
}
