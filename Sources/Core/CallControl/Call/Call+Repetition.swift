package import Primitives
import SDP

/// Requests that are repeated, or come too late.
///
/// A client whose request is not answered cannot know whether the request arrived. The client, its HTTP library or a
/// proxy repeats it: `PUT` is idempotent (RFC 9110 §9.2.2). A repeated description is accepted again and changes
/// nothing. An offer that is older than the leg's last description is refused, because no client waits for its answer
/// any more. An answer that is older than the leg's last offer is accepted, and shows only that the leg knew the offer
/// of the gateway when it made its own.
extension Call {
    /// Whether a start, which looks like the request that started this call, is a repetition of it. An offer
    /// identifies the call. Without an offer, the first answer decides: before it, a user does not mean to call the
    /// same user again; after it, the request is a new call. So it is once the call is over.
    package func isRepeated(by request: CallStartRequest) -> Bool {
        guard !isOver else { return false }
        guard request.sdp.isEmpty else { return true }
        if case .unanswered = state { return true }
        return false
    }

    /// A device of a leg that rings answers; the first one wins (spidr-wire §6.3, §6.6). The same answer again changes
    /// nothing.
    ///
    /// - Parameter device: the device that answers; `nil`: unknown.
    /// - Throws: `noSuchCall`, `notAllowed`, `alreadyAnswered`; or an error about the description.
    package mutating func answer(
        by leg: LegID, _ request: CallAnswerRequest, from device: SubscriptionID? = nil, at now: MonotonicTime,
        random: inout some RandomSource
    ) throws(CallError) -> [CallAction] {
        try checkLength(of: request.sdp)
        let answer = DescriptionIdentity(.answer, request.sdp)
        if try member(leg).exchange.sent.isRepeated(answer) { return [] }
        let actions = try firstAnswer(by: leg, request, from: device, at: now, random: &random)
        edit(leg) { $0.exchange.sent.record(answer, as: .answer) }
        return actions
    }

    /// A leg offers, or asks the other for an offer if the request has no description. The same
    /// offer again changes nothing while its answer is awaited.
    ///
    /// - Throws: `noSuchCall`; `notAllowed` if the state does not permit it, or the description is older than the last
    ///   one; `pending` where the gateway cannot answer itself; or an error about the description.
    package mutating func offer(
        by leg: LegID, _ request: CallUpdateRequest, at now: MonotonicTime, random: inout some RandomSource
    ) throws(CallError) -> [CallAction] {
        try checkLength(of: request.sdp)
        let offer = DescriptionIdentity(.offer, request.sdp)
        let member = try member(leg)
        let isRepeated = member.exchange.sent.isRepeated(offer)
        if isRepeated, isOffering(leg) { return [] }
        try refuse(offer, .offer, ifOlderThanLastOf: member)
        let actions = try newOffer(by: leg, request, isRepeated: isRepeated, at: now, random: &random)
        // A request for an offer describes nothing.
        if !request.sdp.isEmpty { edit(leg) { $0.exchange.sent.record(offer, as: .offer) } }
        return actions
    }

    /// A leg answers an offer, or makes the offer that it was asked for. The same answer again
    /// changes nothing.
    ///
    /// - Throws: `noSuchCall`; `notAllowed` if there is nothing to answer, or the description is older than the last
    ///   one; `pending` while the legs are offered to another call; or an error about the description.
    package mutating func respond(
        by leg: LegID, _ request: CallUpdateRequest, at now: MonotonicTime, random: inout some RandomSource
    ) throws(CallError) -> [CallAction] {
        try checkLength(of: request.sdp)
        let response = DescriptionIdentity(.response, request.sdp)
        let member = try member(leg)
        let sent = member.exchange.sent
        if sent.isRepeated(response) { return [] }
        if sent.isOvertaken(response, isOffering: isOffering(leg), own: member.ownSessionID) {
            return overtakenResponse(by: leg, at: now, random: &random)
        }
        try refuse(response, .respond, ifOlderThanLastOf: member)
        let actions = try newResponse(by: leg, request, at: now, random: &random)
        edit(leg) { $0.exchange.sent.record(response, as: .response) }
        return actions
    }

    /// Whether an offer of this leg waits for its answer.
    private func isOffering(_ leg: LegID) -> Bool { update?.offerer == leg }

    /// Throws `notAllowed` if a description is older than the leg's last one.
    private func refuse(
        _ description: DescriptionIdentity?, _ operation: CallError.Operation, ifOlderThanLastOf leg: CallLeg
    ) throws(CallError) {
        guard leg.exchange.sent.isOlder(description, own: leg.ownSessionID) else { return }
        throw .notAllowed(operation, .olderDescription(legState(leg.id)))
    }
}

extension CallLeg {
    /// The session id in `o=` of the gateway towards this leg; `nil` if media goes from peer to peer.
    fileprivate var ownSessionID: UInt64? { media?.negotiation.identity.sessionID }
}
