import Primitives
import SDP

/// A call that began without an offer (spidr-wire §8.1): whoever answers offers, the caller answers that, and only then is there a call.
///
///     caller                          callee
///       │ callStart ───────────────────▶ │ call                  neither has a description
///       │ startCallUpdate ◀───────────── │ callAnswer            with an offer; ANSWERING from here
///       │ respondCallUpdate ───────────▶ │ respondCallUpdate     with the answer; IN_CALL from here
///
/// It is an exchange like any other in an answered call, but for there being nothing to return to if it fails.
extension Call {
    mutating func answerWithOffer(
        _ unanswered: Unanswered, by leg: Leg, _ request: CallAnswerRequest, at now: MonotonicTime,
        random: inout some RandomSource
    ) throws(CallError) -> [CallAction] {
        var update = notification(.startCallUpdate, to: .caller)
        update.carry(request.content)
        update.sdp = request.sdp
        let direction = MediaDirection(in: request.sdp)
        var actions: [CallAction] = []
        if var own = self[leg]?.media, var callers = self[.caller]?.media {
            do throws(SDPError) {
                let offer = try own.receive(offer: request.sdp, wanting: request.mediaPreferences, random: &random)
                update.sdp = try callers.offer(mirroring: offer, random: &random)
            } catch {
                throw CallError(error)
            }
            actions.append(.prepareMedia(.caller, callers.credentials))
            edit(leg) { $0.media = own }
            present(callers, telling: own.wishes.map { MediaOutline($0) }, to: .caller, at: now)
        }
        edit(leg) { $0.talk(request) }
        edit(.caller) { $0.stage = .talking }
        let setup = now - unanswered.startedAt
        state = .answered(Answered(answeredAt: now, setupDeadline: now + configuration.mediaSetupTime, setup: setup))
        operate(
            .update(
                Update(
                    offerer: leg, answerer: .caller, isFirst: true, direction: direction,
                    deadline: now + configuration.offerTime)))
        return actions + tell(.caller, update) + cancelAnswered(leg, by: request.device) + [.answered(setup: setup)]
    }

    /// The first exchange is complete: both ends hear each other, as soon as they are connected.
    mutating func introductions(_ update: Update, at now: MonotonicTime) -> [CallAction] {
        extendSetup(at: now)
        return [.route(update.answerer, .leg(update.offerer)), .route(update.offerer, .leg(update.answerer))]
    }
}
