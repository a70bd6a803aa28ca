/// Rings a target in a call that exists: a blind transfer (spidr-wire §8.5) or a forward (§6.4).
///
///     locating ──▶ claiming ──▶ charging ──▶ finding ──▶ numbering ──▶ attaching ──▶ ringing ──▶ placed
///                     │                         │                                       ▲
///                     └──▶ repeated             └──▶ (looking up) ── no device rings ───┘
package struct TargetPlacement: Placement {
    private enum Stage: Equatable, Sendable {
        /// The user's leg is looked up.
        case locating
        /// The call says whether the leg may do this now.
        case claiming
        /// The user's call rate is charged.
        case charging
        /// The target's registration says whether a device rings.
        case finding
        /// The target has no registration: does the account exist?
        case lookingUp
        /// The call gives a number for the target's leg.
        case numbering
        /// The target is given the leg.
        case attaching(LegID)
        /// The call rings the target, or tells the transferor that no device rings.
        case ringing
    }

    private let retargeting: Retargeting
    private let user: UserAddress
    private let session: SessionID
    private let target: UserAddress
    private let targetSession: SessionID
    private let rejectsBusy: Bool
    private var stage = Stage.locating
    private var leg: LegAddress?
    private var isClaimed = false
    private var isAttached = false

    /// Makes a placement of a target.
    ///
    /// - Parameters:
    ///   - retargeting: whether it is a transfer or a forward.
    ///   - session: the user's session of the call.
    ///   - user: the user who transfers or forwards.
    ///   - target: the user to ring.
    ///   - targetSession: the new name of the target's leg.
    ///   - rejectsBusy: a target who has a call already is not rung.
    package init(
        _ retargeting: Retargeting, of session: SessionID, by user: UserAddress, to target: UserAddress,
        as targetSession: SessionID, rejectsBusy: Bool
    ) {
        self.retargeting = retargeting
        self.user = user
        self.session = session
        self.target = target
        self.targetSession = targetSession
        self.rejectsBusy = rejectsBusy
    }

    /// The first actions.
    package mutating func start() -> [PlacementAction] { [.ask(.user(user, .locate(session)))] }

    /// The next actions, given the reply to the last question.
    package mutating func handle(_ reply: PlacementReply) -> [PlacementAction] {
        switch (stage, reply) {
        case (.locating, .address(let found)):
            guard let found else { return fail(.noSuchCall) }
            leg = found
            stage = .claiming
            return [.ask(.call(found.call, .claim(claim(of: found))))]
        case (.claiming, .isRepeated): return [.finish(.repeated(session))]
        case (.claiming, .done):
            isClaimed = true
            stage = .charging
            return [.ask(.user(user, .charge))]
        case (.charging, .done):
            guard let leg else { return fail(.noSuchCall) }
            stage = .finding
            return [.ask(.user(target, .contact(besides: leg.call, .rung(by: user))))]
        case (.charging, .refused(let refusal)):
            let (error, limit) = PlacementRules.refusal(refusal, of: user, otherwise: .noSuchCall)
            return (limit.map { [.count($0)] } ?? []) + fail(error)
        case (.finding, _):
            switch Reachability(reply, rejectsBusy: rejectsBusy, for: user) {
            case .rings:
                guard let leg else { return fail(.noSuchCall) }
                stage = .numbering
                return [.ask(.call(leg.call, .takeLeg(for: retargeting, leg.leg)))]
            case .unreachable(let reason, let limit): return (limit.map { [.count($0)] } ?? []) + report(reason)
            case .unknown:
                stage = .lookingUp
                return [.ask(.account(target))]
            }
        case (.lookingUp, .account(let exists)): return report(exists ? .notRegistered : .noSuchUser)
        case (.numbering, .leg(let number)):
            guard let leg else { return fail(.noSuchCall) }
            stage = .attaching(number)
            let address = LegAddress(call: leg.call, leg: number)
            return [.ask(.user(target, .attach(targetSession, address, .rung(by: user))))]
        case (.attaching(let number), .contact(let contact)):
            guard let leg else { return fail(.noSuchCall) }
            isAttached = true
            stage = .ringing
            let party = CallParty(
                user: target, name: PlacementRules.name(contact.displayName, or: target), session: targetSession,
                endpoint: contact.endpoint)
            return [.ask(.call(leg.call, .retarget(retargeting, leg.leg, party, as: number, replacing: nil)))]
        // The target's last device has gone, or its last place was taken, since it was asked.
        case (.attaching, .refused(.noDevice)), (.attaching, .absent): return report(.notRegistered)
        case (.attaching, .refused): return report(.busy)
        case (.ringing, .done): return settle(nil) + [.finish(.placed(session))]
        case (_, .failed(let error)): return fail(error)
        default: preconditionFailure("\(reply) answers no question of \(stage)")
        }
    }

    private func claim(of leg: LegAddress) -> PlacementClaim { .retarget(retargeting, leg.leg, to: target) }

    /// No device of the target rings.
    private mutating func report(_ reason: CallEndCause.Unreachable) -> [PlacementAction] {
        switch retargeting {
        case .forward: return fail(.unreachable(reason))
        case .transfer:
            guard let leg else { return fail(.noSuchCall) }
            stage = .ringing
            return [.ask(.call(leg.call, .reportUnreachable(leg.leg, reason)))]
        }
    }

    private func fail(_ error: CallError) -> [PlacementAction] {
        (isAttached ? [.detach(targetSession, of: target)] : []) + settle(error) + [.finish(.failed(error))]
    }

    private func settle(_ error: CallError?) -> [PlacementAction] {
        guard isClaimed, let leg else { return [] }
        return [.settle(claim(of: leg), leg.call, error)]
    }
}
