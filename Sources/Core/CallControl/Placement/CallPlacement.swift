/// Starts a call (spidr-wire §6.1): the caller and the callee get a leg each, so that no change of their devices is
/// missed, and then the call rings.
///
///     (loading) ──▶ dialling ──▶ attaching ──▶ (looking up) ──▶ starting ──▶ placed
///                      │ the same request has started a call
///                      └──▶ repeated
package struct CallPlacement: Placement {
    private enum Stage: Equatable, Sendable {
        /// The file that the caller is to hear before the answer is loaded.
        case loading
        /// The caller is given a leg.
        case dialling
        /// A call that a request of the same looks has started says whether it is this one.
        case comparing(SessionID)
        /// The callee is given a leg.
        case attaching(Contact)
        /// The callee has no registration: does the account exist?
        case lookingUp(Contact)
        /// The call starts.
        case starting(isRung: Bool)
    }

    private let call: CallID
    private let caller: UserAddress
    private let request: CallStartRequest
    private let sessions: PerLeg<SessionID>
    private let rejectsBusy: Bool
    /// What is to be loaded before the call starts; `nil`: nothing.
    private let file: String?
    private var stage = Stage.dialling
    /// The sessions that were given out, which are taken back if the call does not start.
    private var given: [(session: SessionID, endpoint: EndpointAddress)] = []

    /// Makes a placement of a new call.
    ///
    /// - Parameters:
    ///   - call: the new call.
    ///   - caller: the user who calls.
    ///   - sessions: the new names of the two legs.
    ///   - rejectsBusy: a callee who has a call already is not rung.
    ///   - earlyMedia: what a caller that lists `earlymedia` hears before the answer; `nil`: nothing.
    package init(
        _ request: CallStartRequest, by caller: UserAddress, in call: CallID, sessions: PerLeg<SessionID>,
        rejectsBusy: Bool, earlyMedia: Playback?
    ) {
        self.call = call
        self.caller = caller
        self.request = request
        self.sessions = sessions
        self.rejectsBusy = rejectsBusy
        file = request.acceptsEarlyMedia ? earlyMedia?.file : nil
    }

    /// The first actions.
    package mutating func start() -> [PlacementAction] {
        guard let file else { return dial() }
        stage = .loading
        return [.ask(.load(file: file))]
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
        case .loading:
            // The caller goes without a file that cannot be played.
            let report: [PlacementAction] = reply.unplayable.map { [.report($0)] } ?? []
            return report + dial()
        case .dialling: return try dialled(reply.dialled)
        case .comparing(let session):
            // If the earlier call is gone meanwhile, it is over, and the request starts another one.
            if reply != .failed(.noSuchCall), try reply.isStartedBySameRequest() {
                return [.discard(call, nil), .finish(.repeated(session))]
            }
            return [.forget(session, of: caller)] + dial()
        case .attaching(let own): return attached(reply.reached, own)
        case .lookingUp(let own):
            return startCall(own, nil, unreachable: try reply.accountExists() ? .notRegistered : .noSuchUser)
        case .starting(let isRung):
            try reply.checkDone()
            // A callee who is not rung has no part in the call, and is not busy with it.
            return (isRung ? [] : given.dropFirst().map { .detach($0.session, of: $0.endpoint) })
                + [.serve(call), .finish(.placed(sessions.caller))]
        }
    }

    private mutating func dialled(_ reply: DialReply) throws(CallError) -> [PlacementAction] {
        switch reply {
        case .repeats(let earlier):
            stage = .comparing(earlier.session)
            return [.ask(.call(earlier.call, .outcome(request)))]
        case .new(.contact(let own)):
            given.append((sessions.caller, .registration(caller)))
            stage = .attaching(own)
            let leg = LegAddress(call: call, leg: .callee)
            return [.ask(.user(request.callee, .attach(sessions.callee, leg, .rung(by: caller))))]
        case .new(.refused(let refusal)):
            throw PlacementRules.error(refusal, of: caller, withoutDevice: Self.noSubscription)
        case .new(.absent): throw Self.noSubscription
        }
    }

    private mutating func attached(_ reply: ContactReply, _ own: Contact) -> [PlacementAction] {
        if case .contact(let contact) = reply {
            given.append((sessions.callee, EndpointAddress(contact.endpoint, at: request.callee)))
        }
        switch Reachability(reply, rejectsBusy: rejectsBusy, for: caller) {
        case .rings(let callee): return startCall(own, callee)
        case .unreachable(let reason, let limit): return count(limit) + startCall(own, nil, unreachable: reason)
        case .unknown:
            stage = .lookingUp(own)
            return [.ask(.account(request.callee))]
        }
    }

    private mutating func dial() -> [PlacementAction] {
        stage = .dialling
        let leg = LegAddress(call: call, leg: .caller)
        return [
            .ask(.user(caller, .dial(sessions.caller, leg, RequestDigest(request), device: request.device)))
        ]
    }

    /// - Parameter callee: what is known of the callee; `nil`: the callee is not rung.
    private mutating func startCall(
        _ own: Contact, _ callee: Contact?, unreachable: CallEndCause.Unreachable? = nil
    ) -> [PlacementAction] {
        stage = .starting(isRung: callee != nil)
        var parties = PerLeg(
            caller: CallParty(
                user: caller, name: callerName(own), session: sessions.caller, devices: own.devices),
            callee: CallParty(
                user: request.callee, name: PlacementRules.name(callee?.displayName, or: request.callee),
                session: sessions.callee, endpoint: callee?.endpoint ?? .devices([])))
        parties.callee.sleeping = callee?.sleeping ?? []
        parties.callee.decisionMilliseconds = callee?.decisionMilliseconds
        return [.ask(.call(call, .start(request, parties, unreachable: unreachable)))]
    }

    private func fail(_ error: CallError) -> [PlacementAction] {
        given.map { .detach($0.session, of: $0.endpoint) } + [.discard(call, error), .finish(.failed(error))]
    }

    private func count(_ limit: CallRefusal?) -> [PlacementAction] { limit.map { [.count($0)] } ?? [] }

    private static let noSubscription = CallError.notAllowed(.start, .noSubscription)

    /// The name that the callee is shown. An account is shown under the name that is stored here, whatever its client
    /// says. Only for an account without a stored name, and for a guest, the client's word is used, which is not
    /// verified.
    private func callerName(_ own: Contact) -> String {
        caller.guest == nil
            ? PlacementRules.name(own.displayName, request.callerName, or: caller)
            : PlacementRules.name(request.callerName, own.displayName, or: caller)
    }
}
