/// Places a call for a user (click-to-call, spidr-wire §10): an application calls the user's own devices, and knows the
/// target with which it is to connect the one that answers. A target that no device can ring now is refused at once.
///
///     attaching ──▶ charging ──▶ finding ──▶ (looking up) ──▶ failed
///                                   └──▶ connecting ──▶ starting ──▶ placed
package struct ConnectionPlacement: Placement {
    private enum Stage: Equatable, Sendable {
        /// The user is given a leg.
        case attaching
        /// The user's call rate is charged.
        case charging(Contact)
        /// The target's registration says whether a device rings.
        case finding(Contact)
        /// The target has no registration: does the account exist?
        case lookingUp
        /// The application is given its leg, under the target's name.
        case connecting(Contact, name: String)
        /// The call starts.
        case starting
    }

    private let call: CallID
    private let user: UserAddress
    private let target: UserAddress
    private let sessions: PerLeg<SessionID>
    private let source: HeadlessSource
    private let rejectsBusy: Bool
    private var stage = Stage.attaching
    /// The sessions that were given out, which are taken back if the call does not start.
    private var given: [(session: SessionID, endpoint: EndpointAddress)] = []

    /// Makes a placement of a new call.
    ///
    /// - Parameters:
    ///   - target: with whom the user is to be connected.
    ///   - user: the user who asks, and is called first.
    ///   - call: the new call.
    ///   - sessions: the new names of the two legs: that of the application, and that of the user.
    ///   - source: what the user hears until the target answers.
    ///   - rejectsBusy: a target who has a call already is not rung. The user is, whatever the user's other calls.
    package init(
        to target: UserAddress, by user: UserAddress, in call: CallID, sessions: PerLeg<SessionID>,
        hearing source: HeadlessSource, rejectsBusy: Bool
    ) {
        self.call = call
        self.user = user
        self.target = target
        self.sessions = sessions
        self.source = source
        self.rejectsBusy = rejectsBusy
    }

    /// The first actions.
    package mutating func start() -> [PlacementAction] {
        [.ask(.user(user, .attach(sessions.callee, LegAddress(call: call, leg: .callee), .own)))]
    }

    /// The next actions, given the reply to the last question.
    package mutating func handle(_ reply: PlacementReply) -> [PlacementAction] {
        do throws(CallError) {
            return try proceed(reply)
        } catch {
            return fail(error)
        }
    }

    private mutating func proceed(_ reply: PlacementReply) throws(CallError) -> [PlacementAction] {
        switch stage {
        case .attaching: return try attached(reply.reached)
        case .charging(let own):
            if let refusal = reply.refusedCharge { return refuse(refusal) }
            stage = .finding(own)
            return [.ask(.user(target, .contact(besides: call, .rung(by: user))))]
        case .finding(let own): return found(reply.reached, own)
        case .lookingUp: throw .unreachable(try reply.accountExists() ? .notRegistered : .noSuchUser)
        case .connecting(let own, let name):
            guard reply.hasConnector else { throw .unsupported(.connectionOfDirectMedia) }
            given.append((sessions.caller, .application(.connector)))
            return startCall(own, name)
        case .starting:
            try reply.checkDone()
            return [.serve(call), .finish(.placed(sessions.callee))]
        }
    }

    private mutating func attached(_ reply: ContactReply) throws(CallError) -> [PlacementAction] {
        switch reply {
        case .contact(let own):
            given.append((sessions.callee, EndpointAddress(own.endpoint, at: user)))
            stage = .charging(own)
            return [.ask(.user(user, .charge))]
        case .refused(let refusal): return refuse(refusal)
        case .absent: throw Self.mayNotCall
        }
    }

    private mutating func found(_ reply: ContactReply, _ own: Contact) -> [PlacementAction] {
        switch Reachability(reply, rejectsBusy: rejectsBusy, for: user) {
        case .rings(let contact):
            stage = .connecting(own, name: PlacementRules.name(contact.displayName, or: target))
            let leg = LegAddress(call: call, leg: .caller)
            return [.ask(.user(.connector, .connect(sessions.caller, leg, for: user, to: target)))]
        case .unreachable(let reason, let limit): return count(limit) + fail(.unreachable(reason))
        case .unknown:
            stage = .lookingUp
            return [.ask(.account(target))]
        }
    }

    /// - Parameter name: that of the target, which the user's devices show as the caller.
    private mutating func startCall(_ own: Contact, _ name: String) -> [PlacementAction] {
        stage = .starting
        var caller = CallParty(
            user: .connector, name: name, session: sessions.caller, endpoint: .application(source))
        caller.shownNumber = target.text
        var callee = CallParty(
            user: user, name: PlacementRules.name(own.displayName, or: user), session: sessions.callee,
            endpoint: own.endpoint)
        callee.decisionMilliseconds = own.decisionMilliseconds
        var request = CallStartRequest(callee: user, sdp: "")
        request.isConnector = true
        return [.ask(.call(call, .start(request, PerLeg(caller: caller, callee: callee), unreachable: nil)))]
    }

    private func refuse(_ refusal: LegRefusal) -> [PlacementAction] {
        fail(PlacementRules.error(refusal, of: user, withoutDevice: Self.mayNotCall))
    }

    private func fail(_ error: CallError) -> [PlacementAction] {
        given.map { .detach($0.session, of: $0.endpoint) } + [.discard(call, error), .finish(.failed(error))]
    }

    private func count(_ limit: CallRefusal?) -> [PlacementAction] { limit.map { [.count($0)] } ?? [] }

    /// The error for a user without a device that could be called.
    private static let mayNotCall = CallError.notAllowed(.start, .noSubscription)
}
