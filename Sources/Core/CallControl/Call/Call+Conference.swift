package import Primitives
package import SDP

/// Conferences (spidr-wire §8.7): two calls of a user become one, in which the user has one leg, and each leg hears the
/// mix of the others. An application may bring more than two together.
extension Call {
    /// The joiner asks to make this conference of calls. The answer comes when all have handed over their legs.
    ///
    /// - Parameters:
    ///   - calls: two different calls, or more.
    ///   - keepers: the joiner's addresses in those of the calls where it is another one than here.
    ///   - device: the joiner's device that asks; `nil`: unknown.
    ///   - identity: what the gateway writes about itself to the joiner's peer; `nil` if the joiner is headless, and
    ///     offers nothing.
    /// - Throws: `descriptionMissing` without an offer; `malformedDescription` or `unsupportedDescription` for an offer
    ///   that cannot be used for mixing.
    package mutating func join(
        _ calls: [CallID], _ request: CallUpdateRequest, keepers: [CallID: UserAddress] = [:],
        from device: SubscriptionID? = nil, identity: LegIdentity?, at now: MonotonicTime,
        random: inout some RandomSource
    ) throws(CallError) -> [CallAction] {
        guard state == .initial else { preconditionFailure("a call starts once") }
        var transport = transport(for: legs[0].party, identity)
        guard transport.isHeadless || !request.sdp.isEmpty else {
            throw .descriptionMissing(.join)
        }
        _ = try transport.receive(offer: request.sdp, random: &random)
        // Finds out whether there is media that can be mixed while nothing has changed for any leg.
        var trial = transport
        _ = try trial.media?.answerForMixing(random: &random)
        edit(.caller) { $0.transport = transport }
        keep(.caller, at: device)
        let joining = Joining(
            startedAt: now, calls: calls, keepers: keepers, content: request.content,
            deadline: now + configuration.offerTime)
        move(to: .joining(joining))
        return introduced(.caller, as: .dialled) + joining.requests(by: .caller).map { .peerCall($0) }
    }

    /// One of the calls has offered its legs; with the last one the conference starts.
    mutating func received(_ handover: Handover, at now: MonotonicTime, random: inout some RandomSource)
        -> [CallAction]
    {
        guard var joining else { return [.peerCall(handover.declined)] }
        let reception = joining.receive(handover, keeper: self[.caller]?.party.user)
        self.joining = joining
        switch reception {
        case .declined: return [.peerCall(handover.declined)]
        case .waiting: return []
        case .complete: return start(joining, at: now, random: &random)
        }
    }

    /// Starts the conference: takes the legs of both calls, and offers each of them the mix.
    private mutating func start(_ joining: Joining, at now: MonotonicTime, random: inout some RandomSource)
        -> [CallAction]
    {
        guard var transport = self[.caller]?.transport else { return joinFailed(at: now) }
        let answer: String?
        do throws(CallError) {
            answer = try transport.media?.answerForMixing(random: &random)
        } catch {
            return joinFailed(at: now)
        }
        let holds = transport.wants?.principalDirection.map { !$0.receives } ?? false
        edit(.caller) { member in
            member.transport = transport
            member.move(to: .talking)
            member.holds = holds
        }
        let established = establish(since: joining.startedAt, asConference: true, content: joining.content, at: now)

        var actions = note(.caller, .talks(device: nil)) + (holds ? note(.caller, .held) : [])
        actions += prepare(.caller) + [mixing(.caller)] + connect(.caller)
        var arrived: [LegID] = []
        for handover in joining.received {
            let handed = adopt(handover)
            arrived += handed.map(\.after)
            actions += handed.flatMap { introduced($0.after, as: .handedOver) }
            actions.append(.peerCall(handover.taken(as: handed, for: .join)))
        }
        actions += tell(.caller, .answered(description: answer, content: joining.content))
        for leg in arrived {
            edit(leg) { $0.remote = .conference(domain: String($0.party.user.domain)) }
            actions.append(mixing(leg))
            actions += offerMix(to: leg, at: now, random: &random)
        }
        return actions + established
    }

    /// The description of a leg says whether it holds from now on. A leg of a conference that holds is neither heard
    /// nor hears, whatever its description permits: with `sendonly` its client continues to send the microphone, in
    /// place of which the gateway plays music (spidr-wire §8.2).
    mutating func settleHold(of leg: LegID, saying direction: MediaDirection?) -> [CallAction] {
        guard let answered, let direction else { return [] }
        let changed = hold(leg, !direction.receives)
        return answered.isConference && !changed.isEmpty ? changed + [mixing(leg)] : changed
    }

    /// Routes the mix to a leg, or silence while the leg holds.
    private func mixing(_ leg: LegID) -> CallAction { .route(leg, self[leg]?.holds == true ? .silence : .mix) }

    /// Ends a conference whose calls have not come together.
    mutating func joinFailed(at now: MonotonicTime) -> [CallAction] {
        finish(.joinFailed, at: now)
    }
}
