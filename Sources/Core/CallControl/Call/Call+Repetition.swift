package import Primitives
import SDP

/// Requests that are repeated, or come too late.
///
/// A client whose request is not answered cannot know whether the request arrived. The client, its HTTP library or a
/// proxy repeats it: `PUT` is idempotent (RFC 9110 §9.2.2). A repeated description is accepted again and changes
/// nothing. An offer that is older than the leg's last description is refused, because no client waits for its answer
/// any more. An answer that is older than the leg's last offer is accepted and changes nothing.
extension Call {
    /// Whether `callStart`, which looks like the one that began the call, is that one, come again. An offer is like no other. Without one
    /// the first answer tells: until then nobody means to call the same user once more, and afterwards it is another call.
    package func isBegun(by request: CallStartRequest) -> Bool {
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
        by leg: Leg, _ request: CallAnswerRequest, at now: MonotonicTime, random: inout some RandomSource
    ) throws(CallError) -> [CallAction] {
        try checkLength(of: request.sdp)
        let answer = Utterance(.answer, request.sdp)
        if let answer, try member(leg).answer == answer { return [] }
        let actions = try firstAnswer(by: leg, request, at: now, random: &random)
        edit(leg) { member in
            member.answer = answer
            member.lastUtterance = answer
        }
        return actions
    }

    /// `startCallUpdate`: a leg offers, or asks the other for an offer if the request has no description. The same
    /// offer again changes nothing while its answer is awaited.
    ///
    /// - Throws: `noSuchCall`; `notAllowed` if the state does not permit it, or the description is older than the last
    ///   one; `pending` where the gateway cannot answer itself; or an error about the description.
    package mutating func offer(
        by leg: Leg, _ request: CallUpdateRequest, at now: MonotonicTime, random: inout some RandomSource
    ) throws(CallError) -> [CallAction] {
        try checkLength(of: request.sdp)
        let offer = Utterance(.offer, request.sdp)
        let last = try member(leg).lastUtterance
        let isRepeated = offer != nil && offer == last
        if isRepeated, isOffering(leg) { return [] }
        try refuse(offer, ifOlderThan: last, "startCallUpdate", by: leg)
        let actions = try newOffer(by: leg, request, isRepeated: isRepeated, at: now, random: &random)
        // Whoever asks for an offer describes nothing.
        if !request.sdp.isEmpty { edit(leg) { $0.lastUtterance = offer } }
        return actions
    }

    /// `respondCallUpdate`: a leg answers an offer, or makes the offer that it was asked for. The same answer again
    /// changes nothing.
    ///
    /// - Throws: `noSuchCall`; `notAllowed` if there is nothing to answer, or the description is older than the last
    ///   one; `pending` while the legs are offered to another call; or an error about the description.
    package mutating func respond(
        by leg: Leg, _ request: CallUpdateRequest, at now: MonotonicTime, random: inout some RandomSource
    ) throws(CallError) -> [CallAction] {
        try checkLength(of: request.sdp)
        let response = Utterance(.response, request.sdp)
        let member = try member(leg)
        // Nor is it the answer to a newer offer: who describes anew counts on in o= (RFC 8829 §5.3.1).
        if let response, member.response == response { return [] }
        try refuse(response, ifOlderThan: member.lastUtterance, "respondCallUpdate", by: leg)
        let actions = try newResponse(by: leg, request, at: now, random: &random)
        edit(leg) { member in
            member.response = response
            member.lastUtterance = response
        }
        return actions
    }

    /// Whether this very transfer is under way.
    package func isTransferring(_ leg: Leg, to address: UserAddress) -> Bool {
        guard case .answered(let answered) = state, case .transfer(let transfer) = answered.operation else {
            return false
        }
        return transfer.transferor == leg && self[transfer.target]?.party.user == address
    }

    func isConsulting(_ leg: Leg, _ other: CallID) -> Bool {
        guard case .answered(let answered) = state, case .consultation(let consultation) = answered.operation else {
            return false
        }
        return consultation.transferor == leg && consultation.other == other
    }

    /// Whether an offer of the end waits for its answer.
    private func isOffering(_ leg: Leg) -> Bool {
        guard case .answered(let answered) = state, case .update(let update) = answered.operation else { return false }
        return update.offerer == leg
    }

    private func refuse(_ utterance: Utterance?, ifOlderThan last: Utterance?, _ operation: String, by leg: Leg)
        throws(CallError)
    {
        let own = self[leg]?.media?.negotiation.identity.sessionID
        guard let utterance, let last, utterance.isOlder(than: last, unlessFrom: own) else { return }
        throw refusal(of: "\(operation) with an older version in o=", to: leg)
    }
}
