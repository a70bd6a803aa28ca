import Primitives
import SDP

/// A leg as offers and answers see it.
package struct NegotiatingLeg: Equatable, Sendable {
    /// The number of the leg within its call.
    package let id: LegID
    /// The state of the call as this leg sees it, for refusals.
    let state: LegState
    /// What carries the media of this leg.
    var transport: LegTransport
    /// The offers to this leg, and what it knows of the other leg.
    package internal(set) var exchange: Exchange

    /// Makes the part of a leg that negotiates.
    ///
    /// - Parameter state: the state of the call as the leg sees it.
    package init(_ leg: CallLeg, in state: LegState) {
        id = leg.id
        self.state = state
        transport = leg.transport
        exchange = leg.exchange
    }

    /// What the leg wants to send and receive; `nil` if it has described nothing yet.
    var wants: PeerDescription? { transport.wants }

    /// Whether the leg can be offered something: it has nothing to answer, and its own offers are answered.
    func isFree(at now: MonotonicTime) -> Bool { transport.media?.isStable == true && exchange.isFree(at: now) }

    /// The error for an operation that does not fit the state.
    func refusal(of operation: CallError.Operation) -> CallError { .notAllowed(operation, .state(state)) }

    // MARK: What it sends

    /// Takes an offer of the leg. An open offer of the gateway is answered only if the leg drops its own.
    ///
    /// - Parameter offerTime: how much longer the answer to an offer of the gateway is expected.
    /// - Returns: Whether only the transport is new, so that the other leg learns nothing from the offer.
    /// - Throws: an error about the description.
    mutating func receive(
        offer text: String, at now: MonotonicTime, extendedBy offerTime: Duration, random: inout some RandomSource
    ) throws(CallError) -> Bool {
        guard var media = transport.media else { throw refusal(of: .offer) }
        assert(exchange.isOpen == media.isOffering, "one offer, seen from two sides")
        let before = media.isStable || media.isOffering ? media.described : nil
        let offer = try media.receive(newOffer: text, instead: exchange.outstanding?.media, random: &random)
        transport = .webRTC(media)
        exchange.overtake(at: now, extendedBy: offerTime)
        exchange.offerMade()
        return media.changesTransportOnly(offer, since: before)
    }

    /// Takes an answer of the leg, as that to the last offer of the gateway.
    ///
    /// - Returns: The answer.
    /// - Throws: `notAllowed` if no answer is expected, or this one seems to answer an earlier offer; or an error about
    ///   the description.
    mutating func receive(answer text: String, at now: MonotonicTime) throws(CallError) -> PeerDescription {
        guard let offered = exchange.outstanding, let current = transport.media else {
            throw refusal(of: .respond)
        }
        var media = current.returned(to: offered.media)
        let answer: PeerDescription
        do throws(CallError) {
            answer = try media.receive(answer: text)
        } catch {
            throw offered.count > 1 ? refusal(of: .respond) : error
        }
        transport = .webRTC(media)
        exchange.accept(at: now)
        return answer
    }

    /// Takes note of an answer of the leg that arrives after an offer which the leg sent later.
    mutating func noteOvertakenAnswer(at now: MonotonicTime) {
        guard let own = transport.media?.described else { return }
        exchange.acceptOvertaken(by: own, at: now)
    }

    /// Whether the peer of the leg has started anew; asking clears the mark.
    mutating func takeRestart() -> Bool { transport.media?.takeRenewal() ?? false }

    // MARK: What it is told

    /// Records an offer of the gateway to the leg.
    ///
    /// - Parameters:
    ///   - media: the media of the leg while the offer is open.
    ///   - news: what the offer tells about the other leg; `nil`: nothing (the offer of a mix).
    ///   - deadline: when the offer lapses.
    mutating func present(_ media: LegMedia, telling news: MediaOutline?, until deadline: MonotonicTime) {
        exchange.present(media, telling: news, until: deadline)
        transport = .webRTC(media)
    }

    /// Records that the leg has been told what the other leg wants, except for the m-lines that it could not take.
    mutating func noteTold(of other: NegotiatingLeg) {
        guard let wishes = other.wants else { return }
        exchange.inform(of: wishes, without: transport.media?.lostLines ?? [])
    }
}
