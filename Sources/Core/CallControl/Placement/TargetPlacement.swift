/// Rings a target in a call that exists: a blind transfer (spidr-wire §8.5) or a forward (§6.4).
///
///     locating ──▶ claiming ──▶ charging ──▶ finding ──▶ numbering ──▶ attaching ──▶ ringing ──▶ placed
///                     │                         │                                       ▲
///                     └──▶ repeated             └──▶ (looking up) ── no device rings ───┘
package struct TargetPlacement: Placement {
    private enum Stage: Equatable, Sendable {
        /// The user's leg is looked up.
        case locating
        /// The leg is known.
        case located(LegAddress, Step)
    }

    /// What is asked once the user's leg is known.
    private enum Step: Equatable, Sendable {
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
    /// The user's call rate has been charged, or is not to be.
    private let isCharged: Bool
    private var isClaimed = false
    /// Who has the new leg; `nil`: nobody yet.
    private var holder: EndpointAddress?

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
        isCharged = false
    }

    /// Makes a placement of a target with which an application connects the other leg. A user for whom it does so was
    /// charged when the application's call was placed.
    ///
    /// - Parameters:
    ///   - retargeting: whether it is a transfer or a forward.
    ///   - session: the application's session of the call.
    ///   - leg: the application's leg.
    ///   - user: the user for whom it does so, and by whom the target is rung.
    ///   - target: the user to ring.
    ///   - targetSession: the new name of the target's leg.
    ///   - rejectsBusy: a target who has a call already is not rung.
    package init(
        _ retargeting: Retargeting, of session: SessionID, by leg: LegAddress, for user: UserAddress,
        to target: UserAddress,
        as targetSession: SessionID, rejectsBusy: Bool
    ) {
        self.retargeting = retargeting
        self.user = user
        self.session = session
        self.target = target
        self.targetSession = targetSession
        self.rejectsBusy = rejectsBusy
        isCharged = true
        stage = .located(leg, .claiming)
    }

    /// The first actions.
    package mutating func start() -> [PlacementAction] {
        guard case .located(let leg, _) = stage else { return [.ask(.user(user, .locate(session)))] }
        return [.ask(.call(leg.call, .claim(claim(of: leg))))]
    }

    /// The next actions, given the reply to the last question.
    package mutating func handle(_ reply: PlacementReply) -> [PlacementAction] {
        do throws(CallError) {
            switch stage {
            case .locating:
                guard let leg = reply.located else { throw .noSuchCall }
                stage = .located(leg, .claiming)
                return [.ask(.call(leg.call, .claim(claim(of: leg))))]
            case .located(let leg, let step): return try proceed(leg, step, reply)
            }
        } catch {
            return fail(error)
        }
    }

    private mutating func proceed(
        _ leg: LegAddress, _ step: Step, _ reply: PlacementReply
    ) throws(CallError) -> [PlacementAction] {
        switch step {
        case .claiming:
            guard try !reply.isRepeatedClaim() else { return [.finish(.repeated(session))] }
            isClaimed = true
            guard !isCharged else { return find(leg) }
            stage = .located(leg, .charging)
            return [.ask(.user(user, .charge))]
        case .charging:
            if let refusal = reply.refusedCharge {
                throw PlacementRules.error(refusal, of: user, withoutDevice: .noSuchCall)
            }
            return find(leg)
        case .finding: return found(reply.reached, leg)
        case .lookingUp: return report(try reply.accountExists() ? .notRegistered : .noSuchUser, to: leg)
        case .numbering:
            let number = try reply.takenLeg()
            stage = .located(leg, .attaching(number))
            let address = LegAddress(call: leg.call, leg: number)
            return [.ask(.user(target, .attach(targetSession, address, .rung(by: user))))]
        case .attaching(let number): return attached(reply.reached, leg, as: number)
        case .ringing:
            try reply.checkDone()
            return settle(nil) + [.finish(.placed(session))]
        }
    }

    private mutating func find(_ leg: LegAddress) -> [PlacementAction] {
        stage = .located(leg, .finding)
        return [.ask(.user(target, .contact(besides: leg.call, .rung(by: user))))]
    }

    private mutating func found(_ reply: ContactReply, _ leg: LegAddress) -> [PlacementAction] {
        switch Reachability(reply, rejectsBusy: rejectsBusy, for: user) {
        case .rings:
            stage = .located(leg, .numbering)
            return [.ask(.call(leg.call, .takeLeg(for: retargeting, leg.leg)))]
        case .unreachable(let reason, let limit): return count(limit) + report(reason, to: leg)
        case .unknown:
            stage = .located(leg, .lookingUp)
            return [.ask(.account(target))]
        }
    }

    private mutating func attached(_ reply: ContactReply, _ leg: LegAddress, as number: LegID) -> [PlacementAction] {
        switch reply {
        case .contact(let contact):
            holder = EndpointAddress(contact.endpoint, at: target)
            stage = .located(leg, .ringing)
            var party = CallParty(
                user: target, name: PlacementRules.name(contact.displayName, or: target), session: targetSession,
                endpoint: contact.endpoint)
            party.sleeping = contact.sleeping
            party.decisionMilliseconds = contact.decisionMilliseconds
            return [.ask(.call(leg.call, .retarget(retargeting, leg.leg, party, as: number, replacing: nil)))]
        // The target's last device has gone, or its last place was taken, since it was asked.
        case .refused(.noDevice), .absent: return report(.notRegistered, to: leg)
        case .refused(.limitOfLegs), .refused(.limitOfRinging), .refused(.tooOften): return report(.busy, to: leg)
        }
    }

    private func claim(of leg: LegAddress) -> PlacementClaim { .retarget(retargeting, leg.leg, to: target) }

    /// No device of the target rings.
    private mutating func report(_ reason: CallEndCause.Unreachable, to leg: LegAddress) -> [PlacementAction] {
        switch retargeting {
        case .forward: return fail(.unreachable(reason))
        case .transfer:
            stage = .located(leg, .ringing)
            return [.ask(.call(leg.call, .reportUnreachable(leg.leg, reason)))]
        }
    }

    private func count(_ limit: CallRefusal?) -> [PlacementAction] { limit.map { [.count($0)] } ?? [] }

    private func fail(_ error: CallError) -> [PlacementAction] {
        let detached: [PlacementAction] = holder.map { [.detach(targetSession, of: $0)] } ?? []
        return detached + settle(error) + [.finish(.failed(error))]
    }

    private func settle(_ error: CallError?) -> [PlacementAction] {
        guard isClaimed, case .located(let leg, _) = stage else { return [] }
        return [.settle(claim(of: leg), leg.call, error)]
    }
}
