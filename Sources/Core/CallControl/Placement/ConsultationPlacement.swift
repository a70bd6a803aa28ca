/// Connects the party of one call with that of another (spidr-wire §8.5): the consulted party is offered the first call
/// in place of the consultation, if the clients of both parties can replace calls (§8.8). Otherwise the leg of the
/// consulted party is handed over as it is.
///
///     locating ──▶ claiming ──▶ comparing ──▶ finding ──▶ charging ──▶ numbering ──▶ attaching ──▶ replacing
///                     │             │            │                                       │             │
///                     │             │ cannot replace the consultation                  │             ▼
///                     ▼             └────────────┴──▶ identifying ◀──────────────────────┘           placed
///                  repeated                               └──▶ consulting ──▶ placed
package struct ConsultationPlacement: Placement {
    private enum Stage: Equatable, Sendable {
        /// The user's leg of the call is looked up.
        case locating
        /// That of the consultation is looked up.
        case locatingOther(LegAddress)
        /// Both legs are known.
        case located(Legs, Step)
    }

    /// What is asked once the user's legs are known.
    private enum Step: Equatable, Sendable {
        /// The call says whether the leg may transfer now.
        case claiming
        /// The call says whether the client of its other party can replace calls.
        case comparing
        /// The consultation says the same of the consulted party.
        case comparingOther
        /// The registration of the consulted party says whether it can have one more leg.
        case finding(CallParty)
        /// The user's call rate is charged.
        case charging(CallParty)
        /// The call gives a number for the new leg.
        case numbering(CallParty)
        /// The consulted party is given the new leg.
        case attaching(CallParty, LegID)
        /// The call asks the consulted party to replace the consultation.
        case replacing(CallParty)
        /// The consultation says who is consulted.
        case identifying
        /// The call asks the consultation for the leg.
        case consulting
    }

    /// The user's legs of the two calls.
    private struct Legs: Equatable, Sendable {
        var own: LegAddress
        var other: LegAddress
    }

    private let user: UserAddress
    private let session: SessionID
    private let consultation: SessionID
    private let address: UserAddress
    private let token: String
    /// The user's address in the consultation; `nil`: the same.
    private let keeper: UserAddress?
    private var stage = Stage.locating
    private var isClaimed = false

    /// Makes a placement of a consultative transfer.
    ///
    /// - Parameters:
    ///   - session: the user's session of the call whose party is transferred.
    ///   - consultation: the user's session of the call with the target. It decides who the target is.
    ///   - address: what the request says of the target. It counts only if the user talks to no party there.
    ///   - user: the user who transfers.
    ///   - token: a new name for a leg of the target, without the prefix of guests.
    package init(
        of session: SessionID, with consultation: SessionID, address: UserAddress, by user: UserAddress, token: String
    ) {
        self.user = user
        self.session = session
        self.consultation = consultation
        self.address = address
        self.token = token
        keeper = nil
    }

    /// Makes a placement of a transfer by an application, between two calls in which it has a leg.
    ///
    /// - Parameters:
    ///   - session: the application's session of the call whose party is transferred.
    ///   - leg: the application's leg of that call.
    ///   - user: the application's address there.
    ///   - other: the application's leg of the other call.
    ///   - keeper: the application's address there.
    ///   - token: a new name for a leg of the target.
    package init(
        of session: SessionID, by leg: LegAddress, for user: UserAddress, with other: LegAddress,
        of keeper: UserAddress, token: String
    ) {
        self.user = user
        self.session = session
        consultation = session
        address = keeper
        self.token = token
        self.keeper = keeper
        stage = .located(Legs(own: leg, other: other), .claiming)
    }

    /// The first actions.
    package mutating func start() -> [PlacementAction] {
        guard case .located(let legs, _) = stage else { return [.ask(.user(user, .locate(session)))] }
        return [claim(legs)]
    }

    /// The next actions, given the reply to the last question.
    package mutating func handle(_ reply: PlacementReply) -> [PlacementAction] {
        do throws(CallError) {
            switch stage {
            case .locating:
                guard let own = reply.located else { throw .noSuchCall }
                stage = .locatingOther(own)
                return [.ask(.user(user, .locate(consultation)))]
            case .locatingOther(let own):
                guard let other = reply.located else { throw .noSuchCall }
                stage = .located(Legs(own: own, other: other), .claiming)
                return [claim(Legs(own: own, other: other))]
            case .located(let legs, let step): return try proceed(legs, step, reply)
            }
        } catch {
            return fail(error)
        }
    }

    private mutating func proceed(
        _ legs: Legs, _ step: Step, _ reply: PlacementReply
    ) throws(CallError) -> [PlacementAction] {
        switch step {
        case .claiming:
            guard try !reply.isRepeatedClaim() else { return [.finish(.repeated(session))] }
            isClaimed = true
            guard legs.own.call != legs.other.call else { return identify(legs) }
            stage = .located(legs, .comparing)
            return [.ask(.call(legs.own.call, .replaceableParty(talkingTo: legs.own.leg)))]
        case .comparing:
            guard try reply.foundParty() != nil else { return identify(legs) }
            stage = .located(legs, .comparingOther)
            return [.ask(.call(legs.other.call, .replaceableParty(talkingTo: legs.other.leg)))]
        case .comparingOther:
            guard let known = try reply.foundParty() else { return identify(legs) }
            stage = .located(legs, .finding(known))
            return [.ask(.user(known.user, .contact(besides: legs.own.call, .own)))]
        case .finding(let known): return found(known, reply.reached, legs)
        case .charging(let known): return charged(known, reply.refusedCharge, legs)
        case .numbering(let known):
            let number = try reply.takenLeg()
            stage = .located(legs, .attaching(known, number))
            let address = LegAddress(call: legs.own.call, leg: number)
            return [.ask(.user(known.user, .attach(newSession(of: known), address, .own)))]
        case .attaching(let known, let number): return attached(known, number, reply.reached, legs)
        case .identifying:
            let party = try reply.foundParty()
            stage = .located(legs, .consulting)
            let user = party?.user ?? address
            return [.ask(.call(legs.own.call, .consult(legs.own.leg, with: user, legs.other, of: keeper)))]
        case .replacing, .consulting:
            try reply.checkDone()
            return settle(nil) + [.finish(.placed(session))]
        }
    }

    private func claim(_ legs: Legs) -> PlacementAction {
        .ask(.call(legs.own.call, .claim(.consultation(legs.own.leg, legs.other.call))))
    }

    private mutating func found(_ known: CallParty, _ reply: ContactReply, _ legs: Legs) -> [PlacementAction] {
        switch reply {
        case .contact(let contact):
            guard contact.devices.contains(where: known.devices.contains) else { return identify(legs) }
            stage = .located(legs, .charging(known))
            return [.ask(.user(user, .charge))]
        case .refused, .absent: return identify(legs)
        }
    }

    private mutating func charged(_ known: CallParty, _ refusal: LegRefusal?, _ legs: Legs) -> [PlacementAction] {
        if let refusal {
            return fail(PlacementRules.error(refusal, of: user, withoutDevice: .noSuchCall))
        }
        stage = .located(legs, .numbering(known))
        return [.ask(.call(legs.own.call, .takeLeg(for: .transfer, legs.own.leg)))]
    }

    private mutating func attached(
        _ known: CallParty, _ number: LegID, _ reply: ContactReply, _ legs: Legs
    ) -> [PlacementAction] {
        switch reply {
        case .contact(let contact):
            let devices = known.devices.filter(contact.devices.contains)
            guard !devices.isEmpty else {
                let holder = EndpointAddress(contact.endpoint, at: known.user)
                return [.detach(newSession(of: known), of: holder)] + identify(legs)
            }
            stage = .located(legs, .replacing(known))
            let party = CallParty(user: known.user, name: known.name, session: newSession(of: known), devices: devices)
            let replaced = ReplacedLeg(session: known.session, keeper: legs.other)
            return [
                .ask(
                    .call(legs.own.call, .retarget(.transfer, legs.own.leg, party, as: number, replacing: replaced)))
            ]
        case .refused, .absent: return identify(legs)
        }
    }

    /// The leg is handed over as it is: one of the clients cannot replace calls, or the consulted party cannot have one
    /// more leg.
    private mutating func identify(_ legs: Legs) -> [PlacementAction] {
        stage = .located(legs, .identifying)
        return [.ask(.call(legs.other.call, .party(talkingTo: legs.other.leg)))]
    }

    private func newSession(of party: CallParty) -> SessionID { SessionID(party.user.resourcePrefix + token) }

    private func fail(_ error: CallError) -> [PlacementAction] {
        var actions: [PlacementAction] = []
        if case .located(_, .replacing(let known)) = stage {
            actions = [.detach(newSession(of: known), of: EndpointAddress(of: known))]
        }
        return actions + settle(error) + [.finish(.failed(error))]
    }

    private func settle(_ error: CallError?) -> [PlacementAction] {
        guard isClaimed, case .located(let legs, _) = stage else { return [] }
        return [.settle(.consultation(legs.own.leg, legs.other.call), legs.own.call, error)]
    }
}
