package import Primitives
package import SDP

/// Offers and answers between the two legs of a call whose media goes from peer to peer (spidr-wire §8.1). Descriptions
/// are passed on untouched, and only one exchange is open at a time: an offer that meets another operation has to be
/// made again.
///
/// The call makes this value of its operation, and takes the operation back from it. It then carries out the actions in
/// their order. `CallNegotiation` is its counterpart where the gateway terminates the media.
package struct DirectNegotiation: Equatable, Sendable {
    /// What follows from an offer or an answer.
    package enum Action: Equatable, Sendable {
        /// The leg is offered this; `nil`: it is asked for an offer.
        case offer(String?, to: LegID, CustomContent)
        /// The offer of the leg is answered.
        case answer(String, to: LegID, CustomContent)
        /// The offer of the leg is given up, so that it may be repeated.
        case forgetOffer(of: LegID)
        /// The leg is told that nobody has answered it in time.
        case abandon(LegID)
        /// Each leg holds, or has resumed, as the offer and its answer say; `nil`: the description cannot be read.
        case settleHolds(offer: MediaDirection?, offerer: LegID, answer: MediaDirection?, answerer: LegID)
        /// Music starts or stops, as the holds of both legs say.
        case refreshMusic
    }

    /// The operation in progress in the call. An offer that waits for its answer is one.
    package private(set) var operation: Call.Operation?
    /// How long an answer is expected.
    private let offerTime: Duration

    /// Makes a negotiation of its parts; each parameter is the property of that name.
    package init(operation: Call.Operation?, offerTime: Duration) {
        self.operation = operation
        self.offerTime = offerTime
    }

    /// A leg offers, or asks the other one for an offer.
    ///
    /// - Throws: `pending` while another operation is in progress.
    package mutating func offer(
        by leg: LegID, to other: LegID, _ request: CallUpdateRequest, at now: MonotonicTime
    ) throws(CallError) -> [Action] {
        guard operation == nil else { throw .pending(retryAfter: Call.retryAfter) }
        let isQuestion = request.sdp.isEmpty
        operation = .update(
            Call.Update(
                offerer: leg, answerer: other, kind: isQuestion ? .offer : .answer,
                direction: isQuestion ? nil : MediaDirection(in: request.sdp), deadline: now + offerTime))
        return [.offer(isQuestion ? nil : request.sdp, to: other, request.content)]
    }

    /// A leg answers, or makes the offer that it was asked for.
    ///
    /// - Returns: `nil` if neither is expected of the leg.
    package mutating func respond(by leg: LegID, _ request: CallUpdateRequest, at now: MonotonicTime) -> [Action]? {
        guard case .update(let open) = operation, open.answerer == leg, !request.sdp.isEmpty else { return nil }
        let direction = MediaDirection(in: request.sdp)
        if open.kind == .offer {
            // Offerer and answerer change places.
            operation = .update(
                Call.Update(offerer: leg, answerer: open.offerer, direction: direction, deadline: now + offerTime))
            return [.offer(request.sdp, to: open.offerer, request.content)]
        }
        operation = nil
        return [
            .settleHolds(offer: open.direction, offerer: open.offerer, answer: direction, answerer: leg), .refreshMusic,
            .answer(request.sdp, to: open.offerer, request.content),
        ]
    }

    /// Gives up an offer that was not answered in time, or that gives way to another operation.
    package mutating func abandon(_ update: Call.Update) -> [Action] {
        operation = nil
        return (update.kind == .offer ? [] : [.forgetOffer(of: update.offerer)]) + [.abandon(update.offerer)]
    }
}
