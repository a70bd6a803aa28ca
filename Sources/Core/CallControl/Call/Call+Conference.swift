package import Primitives
package import SDP

/// Conferences (spidr-wire §8.7): two calls of a user become one, in which the user has one leg, and each leg hears the
/// mix of the others.
extension Call {
    /// The display name that clients are shown for a conference.
    static let conferenceName = "Conference"

    /// The number that clients are shown for a conference; they recognise it by its beginning (spidr-wire §5.2).
    static func conferenceNumber(for user: UserAddress) -> String { "conference@\(user.domain)" }

    /// The joiner asks to make this conference of two calls. The answer comes when both have handed over their legs.
    ///
    /// - Parameters:
    ///   - calls: two different calls.
    ///   - device: the joiner's device that asks; `nil`: unknown.
    /// - Throws: `descriptionMissing` without an offer; `malformedDescription` or `unsupportedDescription` for an offer
    ///   that cannot be used for mixing.
    package mutating func join(
        _ calls: [CallID], _ request: CallUpdateRequest, identity: LegIdentity, at now: MonotonicTime,
        random: inout some RandomSource
    ) throws(CallError) -> [CallAction] {
        guard state == .initial else { preconditionFailure("a call starts once") }
        guard !request.sdp.isEmpty else {
            throw .unsupportedDescription("a conference needs an offer; send one in \"sdp\"")
        }
        var media = LegMedia(identity: identity, policy: configuration.mediaPolicy)
        do throws(SDPError) {
            _ = try media.receive(offer: request.sdp, random: &random)
            // Finds out whether there is media that can be mixed while nothing has changed for any leg.
            var trial = media
            _ = try trial.answerForMixing(random: &random)
        } catch {
            throw CallError(error)
        }
        edit(.caller) { $0.media = media }
        keep(.caller, at: request.device)
        state = .joining(
            Joining(startedAt: now, calls: calls, content: request.content, deadline: now + configuration.offerTime))
        return calls.map { .requestHandover($0, of: .caller) }
    }

    /// One of the calls has offered its legs; with the last one the conference starts.
    mutating func received(
        _ handover: Handover, _ joining: Joining, at now: MonotonicTime, random: inout some RandomSource
    ) -> [CallAction] {
        guard joining.calls.contains(handover.from), self[.caller]?.party.user == handover.keeper else {
            return [.declineHandover(handover.from)]
        }
        var joining = joining
        joining.received.append(handover)
        state = .joining(joining)
        return joining.received.count == joining.calls.count ? begin(joining, at: now, random: &random) : []
    }

    private mutating func begin(_ joining: Joining, at now: MonotonicTime, random: inout some RandomSource)
        -> [CallAction]
    {
        guard var media = self[.caller]?.media else { return joinFailed(at: now) }
        let answer: String
        do throws(SDPError) {
            answer = try media.answerForMixing(random: &random)
        } catch {
            return joinFailed(at: now)
        }
        let holds = media.wishes?.principalDirection.map { !$0.receives } ?? false
        edit(.caller) { member in
            member.media = media
            member.stage = .talking
            member.holds = holds
        }
        let setup = now - joining.startedAt
        var answered = Answered(answeredAt: now, setupDeadline: now + configuration.mediaSetupTime, setup: setup)
        answered.isConference = true
        state = .answered(answered)

        var actions: [CallAction] = [.prepareMedia(.caller, media.credentials), mixing(.caller)] + connect(.caller)
        var arrived: [Leg] = []
        for handover in joining.received {
            let handed = adopt(handover)
            arrived += handed.map(\.after)
            actions.append(.takeHandover(handover.from, handed, for: .join))
        }
        var update = notification(.respondCallUpdate, to: .caller)
        update.sdp = answer
        update.carry(joining.content)
        actions += tell(.caller, update)
        for leg in arrived {
            edit(leg) { member in
                member.remote = CallLeg.Name(
                    name: Self.conferenceName, number: Self.conferenceNumber(for: member.party.user))
            }
            actions.append(mixing(leg))
            actions += offerMix(to: leg, at: now, random: &random)
        }
        return actions + [.answered(setup: setup)]
    }

    /// The end says whether it holds from now on. An end of a conference that holds is neither heard nor hears, whatever its description
    /// lets through: with `sendonly` its client goes on sending the microphone, for music that the gateway plays in its place (spidr-wire §8.2).
    mutating func settleHold(of leg: Leg, saying direction: MediaDirection?) -> [CallAction] {
        guard case .answered(let answered) = state, let direction, let held = self[leg]?.holds else { return [] }
        edit(leg) { $0.holds = !direction.receives }
        return answered.isConference && held == direction.receives ? [mixing(leg)] : []
    }

    private func mixing(_ leg: Leg) -> CallAction { .route(leg, self[leg]?.holds == true ? .silence : .mix) }

    /// Ends a conference whose calls have not come together.
    mutating func joinFailed(at now: MonotonicTime) -> [CallAction] {
        finish(.joinFailed(reasonText: "The calls cannot be joined"), at: now)
    }
}
