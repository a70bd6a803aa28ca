import CallControl
import SDP

/// A request to a call that other owners decide too. While its outcome is unknown, repetitions of it wait.
enum UnsettledRequest: Hashable {
    /// The request that starts the call.
    case start
    /// A request that changes the call by way of other owners.
    case claim(PlacementClaim)
}

extension CallOwner {
    /// The outcome of a request, once it is known; `nil` if there is no such request whose outcome is unknown.
    func outcome(of request: UnsettledRequest) async -> Result<Void, CallError>? {
        guard unsettled[request] != nil else { return nil }
        return await withCheckedContinuation { unsettled[request]?.append($0) }
    }

    /// The outcome of a request is known: its repetitions learn it.
    func settle(_ request: UnsettledRequest, _ outcome: Result<Void, CallError>) {
        for waiting in unsettled.removeValue(forKey: request) ?? [] { waiting.resume(returning: outcome) }
    }

    /// The call is over: nothing that waits will learn another outcome.
    func abandonRequests() {
        for request in unsettled.keys { settle(request, .failure(.noSuchCall)) }
    }
}

/// Answers of a call to the questions of placements (`Placement`).
extension CallOwner {
    /// Answers a question.
    func reply(to question: CallQuestion) async -> PlacementReply {
        do throws(CallError) {
            switch question {
            case .outcome(let request): return .started(isSame: try await started(by: request))
            case .start(let request, let parties, let unreachable):
                try start(request, parties, unreachable: unreachable)
            case .join(let joined, let request, let device, let joiner, let keepers):
                try join(joined, request, from: device, joiner: joiner, keepers: keepers)
            case .claim(let request): return await claim(request)
            case .replaceableParty(let leg): return .party(call?.replaceableParty(talkingTo: leg))
            case .party(let leg): return .party(call?.party(talkingTo: leg))
            case .takeLeg(let retargeting, let leg): return .leg(try takeLeg(for: retargeting, by: leg))
            case .retarget(let retargeting, let leg, let party, let target, let replaced):
                try retarget(retargeting, by: leg, to: party, as: target, replacing: replaced)
            case .reportUnreachable(let leg, let reason): try reportUnreachable(to: leg, reason)
            case .consult(let leg, let party, let other, let keeper):
                try consult(by: leg, with: party, in: other, of: keeper)
            case .checkPlay(let leg): try checkPlay(by: leg)
            case .command(let command, let leg, let device): try perform(command, by: leg, from: device)
            case .place(let leg): return .address(await place(of: leg))
            case .session(let leg): return .session(try session(for: leg))
            case .settle(let claim, let error): settle(claim, error)
            }
            return .done
        } catch {
            return .failed(error)
        }
    }

    /// Checks that a leg may do this now, and keeps out the same request until it is settled.
    ///
    /// - Returns: `done`; `isRepeated` if the same request is in progress, or was carried out while this one waited for
    ///   it; or `failed`, also with the error of the request that this one has waited for.
    private func claim(_ claim: PlacementClaim) async -> PlacementReply {
        do throws(CallError) {
            if let outcome = await outcome(of: .claim(claim)) {
                try outcome.get()
                return .isRepeated
            }
            guard let call else { throw .noSuchCall }
            if call.isInProgress(claim) { return .isRepeated }
            try call.check(claim)
        } catch {
            return .failed(error)
        }
        unsettled[.claim(claim)] = []
        return .done
    }

    /// A request that was claimed has been carried out, or has failed with this error.
    private func settle(_ claim: PlacementClaim, _ error: CallError?) {
        settle(.claim(claim), error.map { .failure($0) } ?? .success(()))
    }

    /// Takes the number of a leg for a target whose device is to be rung. Throws if the leg cannot forward or transfer
    /// now.
    private func takeLeg(for retargeting: Retargeting, by leg: LegID) throws(CallError) -> LegID {
        try call?.check(retargeting, by: leg)
        guard let taken = call?.takeLeg() else { throw .noSuchCall }
        return taken
    }

    /// Forwards or transfers the call to a target.
    ///
    /// - Parameters:
    ///   - party: the target, with the devices to ring.
    ///   - target: the number of the new leg.
    ///   - replaced: the target's call that this one is to replace; `nil`: the target is rung.
    private func retarget(
        _ retargeting: Retargeting, by leg: LegID, to party: CallParty, as target: LegID,
        replacing replaced: ReplacedLeg?
    ) throws(CallError) {
        let target = CallTarget(
            leg: target, party: party, identity: try reserveLeg(of: party),
            replacing: replaced.map {
                ReplacedCall(call: $0.keeper.call, keeper: $0.keeper.leg, session: $0.session)
            })
        var random = environment.random.generator
        let now = environment.clock.now
        precondition(endpoints[target.leg] == nil, "no leg of the call has this number")
        endpoints[target.leg] = EndpointAddress(of: party)
        do throws(CallError) {
            try command(retargeting.kind, leg) { call throws(CallError) in
                switch retargeting {
                case .transfer: try call.transfer(by: leg, to: target, at: now, random: &random)
                case .forward: try call.forward(by: leg, to: target, at: now, random: &random)
                }
            }
        } catch {
            endpoints[target.leg] = nil
            throw error
        }
    }

    /// Tells the transferor that the target's address has no device to ring.
    private func reportUnreachable(to leg: LegID, _ reason: CallEndCause.Unreachable) throws(CallError) {
        let now = environment.clock.now
        try command(.transfer, leg) { call throws(CallError) in
            try call.transferUnreachable(by: leg, reason, at: now)
        }
    }

    /// Connects the party that this leg talks to with the party that the same user talks to in another call.
    private func consult(
        by leg: LegID, with party: UserAddress, in other: LegAddress, of keeper: UserAddress?
    ) throws(CallError) {
        let now = environment.clock.now
        var random = environment.random.generator
        keepers[other.call] = other.leg
        try command(.transfer, leg) { call throws(CallError) in
            try call.consult(by: leg, with: party, in: other.call, of: keeper, at: now, random: &random)
        }
    }
}
