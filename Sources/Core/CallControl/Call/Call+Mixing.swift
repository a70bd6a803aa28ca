import Primitives
import SDP

/// Offers and answers of the legs of a conference. Each leg negotiates with the gateway alone, which mixes.
extension Call {
    /// Handles an offer of a leg, or a request for one.
    mutating func offerForMixing(
        by member: CallLeg, _ request: CallUpdateRequest, at now: MonotonicTime, random: inout some RandomSource
    ) throws(CallError) -> [CallAction] {
        let leg = member.id
        guard !request.sdp.isEmpty else {
            return offerMix(to: leg, at: now, random: &random) + passOn(request.content, of: leg)
        }
        var own = NegotiatingLeg(member, in: legState(leg))
        _ = try own.receive(offer: request.sdp, at: now, extendedBy: configuration.offerTime, random: &random)
        guard let answer = try own.transport.media?.answerForMixing(random: &random) else {
            throw refusal(of: .offer, to: leg)
        }
        let isRestarted = own.takeRestart()
        keep(own)
        return settleHold(of: leg, saying: own.wants?.principalDirection)
            + (isRestarted ? note(leg, .mediaRestarted) + prepare(leg) : []) + connect(leg)
            + tell(leg, .answered(description: answer, content: CustomContent()))
            + passOn(request.content, of: leg)
    }

    /// Handles the answer of a leg to an offer of the gateway.
    mutating func answerForMixing(by member: CallLeg, _ request: CallUpdateRequest, at now: MonotonicTime)
        throws(CallError) -> [CallAction]
    {
        let leg = member.id
        var own = NegotiatingLeg(member, in: legState(leg))
        let answer = try own.receive(answer: request.sdp, at: now)
        keep(own)
        return settleHold(of: leg, saying: answer.principalDirection) + connect(leg) + refreshMusic()
            + passOn(request.content, of: leg)
    }

    /// Offers a leg what the gateway can mix.
    mutating func offerMix(to leg: LegID, at now: MonotonicTime, random: inout some RandomSource) -> [CallAction] {
        guard var media = self[leg]?.media else { return [] }
        do throws(CallError) {
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
