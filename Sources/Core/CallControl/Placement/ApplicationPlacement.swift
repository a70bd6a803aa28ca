/// Starts a call of an application, which has its leg already: the callee gets a leg, and then the call rings.
///
///     (loading) ──▶ attaching ──▶ (looking up) ──▶ starting ──▶ placed
package struct ApplicationPlacement: Placement {
    private enum Stage: Equatable, Sendable {
        /// The file that the application is to hear before the answer is loaded.
        case loading
        /// The callee is given a leg.
        case attaching
        /// The callee has no registration: does the account exist?
        case lookingUp
        /// The call starts.
        case starting(isRung: Bool)
    }

    private let call: CallID
    private let caller: CallParty
    private let request: CallStartRequest
    private let session: SessionID
    private let rejectsBusy: Bool
    /// What is to be loaded before the call starts; `nil`: nothing.
    private let file: String?
    private var stage = Stage.attaching
    /// Who has the callee's leg; `nil`: nobody yet.
    private var holder: EndpointAddress?

    /// Makes a placement of a new call.
    ///
    /// - Parameters:
    ///   - caller: the application's party.
    ///   - call: the new call.
    ///   - session: the new name of the callee's leg.
    ///   - rejectsBusy: a callee who has a call already is not rung.
    ///   - earlyMedia: what an application that wants it hears before the answer; `nil`: nothing.
    package init(
        _ request: CallStartRequest, by caller: CallParty, in call: CallID, callee session: SessionID,
        rejectsBusy: Bool, earlyMedia: Playback?
    ) {
        self.request = request
        self.caller = caller
        self.call = call
        self.session = session
        self.rejectsBusy = rejectsBusy
        file = request.acceptsEarlyMedia ? earlyMedia?.file : nil
    }

    /// The first actions.
    package mutating func start() -> [PlacementAction] {
        guard let file else { return attach() }
        stage = .loading
        return [.ask(.load(file: file))]
    }

    private mutating func attach() -> [PlacementAction] {
        stage = .attaching
        let leg = LegAddress(call: call, leg: .callee)
        return [.ask(.user(request.callee, .attach(session, leg, .rung(by: caller.user))))]
    }

    /// The next actions, given the reply to the last question.
    package mutating func handle(_ reply: PlacementReply) -> [PlacementAction] {
        do throws(CallError) {
            return try proceed(reply)
        } catch {
            return detached + [.discard(call, error), .finish(.failed(error))]
        }
    }

    private mutating func proceed(_ reply: PlacementReply) throws(CallError) -> [PlacementAction] {
        switch stage {
        case .loading:
            // The application goes without a file that cannot be played.
            let report: [PlacementAction] = reply.unplayable.map { [.report($0)] } ?? []
            return report + attach()
        case .attaching: return attached(reply.reached)
        case .lookingUp: return startCall(nil, unreachable: try reply.accountExists() ? .notRegistered : .noSuchUser)
        case .starting(let isRung):
            try reply.checkDone()
            return (isRung ? [] : detached) + [.serve(call), .finish(.placed(caller.session))]
        }
    }

    private mutating func attached(_ reply: ContactReply) -> [PlacementAction] {
        if case .contact(let contact) = reply { holder = EndpointAddress(contact.endpoint, at: request.callee) }
        switch Reachability(reply, rejectsBusy: rejectsBusy, for: caller.user) {
        case .rings(let contact): return startCall(contact)
        case .unreachable(let reason, let limit):
            return (limit.map { [.count($0)] } ?? []) + startCall(nil, unreachable: reason)
        case .unknown:
            stage = .lookingUp
            return [.ask(.account(request.callee))]
        }
    }

    /// - Parameter callee: what is known of the callee; `nil`: the callee is not rung.
    private mutating func startCall(
        _ callee: Contact?, unreachable: CallEndCause.Unreachable? = nil
    ) -> [PlacementAction] {
        stage = .starting(isRung: callee != nil)
        var party = CallParty(
            user: request.callee, name: PlacementRules.name(callee?.displayName, or: request.callee), session: session,
            endpoint: callee?.endpoint ?? .devices([]))
        party.sleeping = callee?.sleeping ?? []
        party.decisionMilliseconds = callee?.decisionMilliseconds
        return [.ask(.call(call, .start(request, PerLeg(caller: caller, callee: party), unreachable: unreachable)))]
    }

    private var detached: [PlacementAction] { holder.map { [.detach(session, of: $0)] } ?? [] }
}
