/// Makes a conference of two calls of a user (spidr-wire §8.7): a new call, in which the user has a leg from the
/// start, and which then asks the two calls for their legs.
///
///     recalling ──▶ locating ──▶ dialling ──▶ starting ──▶ placed
///         │ the same request has made a conference
///         └──▶ repeated
package struct ConferencePlacement: Placement {
    private enum Stage: Equatable, Sendable {
        /// The same request may have come before. The sessions that it names may be over since.
        case recalling
        /// The user's legs of the calls are looked up.
        case locating
        /// The user is given a leg.
        case dialling
        /// The call that the same request has started is asked how it went.
        case comparing(SessionID)
        /// The conference starts.
        case starting
    }

    private let call: CallID
    private let joiner: UserAddress
    private let joined: [SessionID]
    private let request: CallUpdateRequest
    private let digest: RequestDigest?
    private let device: SubscriptionID?
    private let session: SessionID
    private var stage = Stage.recalling
    private var legs: [LegAddress] = []

    /// Makes a placement of a conference.
    ///
    /// - Parameters:
    ///   - joined: the user's sessions of the two calls.
    ///   - joiner: the user who joins the calls.
    ///   - device: the user's device that asks; `nil`: unknown.
    ///   - call: the new call.
    ///   - session: the new name of the user's leg.
    package init(
        of joined: (SessionID, SessionID), _ request: CallUpdateRequest, by joiner: UserAddress,
        from device: SubscriptionID?,
        in call: CallID, session: SessionID
    ) {
        self.call = call
        self.joiner = joiner
        self.joined = [joined.0, joined.1]
        self.request = request
        digest = RequestDigest(joining: joined.0, joined.1, request)
        self.device = device
        self.session = session
    }

    /// The first actions.
    package mutating func start() -> [PlacementAction] {
        [.ask(.user(joiner, .recall(digest)))]
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
        case .recalling:
            if let earlier = reply.recalled { return compare(earlier) }
            stage = .locating
            return [.ask(.user(joiner, .locate(joined[0])))]
        case .locating:
            guard let leg = reply.located else { throw .noSuchCall }
            legs.append(leg)
            return legs.count < joined.count ? [.ask(.user(joiner, .locate(joined[legs.count])))] : try dial()
        case .dialling: return try dialled(reply.dialled)
        case .comparing(let session):
            // The descriptions are equal, so it is the same request for certain.
            _ = try reply.isStartedBySameRequest()
            return [.discard(call, nil), .finish(.repeated(session))]
        case .starting:
            try reply.checkDone()
            return [.serve(call), .finish(.placed(session))]
        }
    }

    private mutating func dialled(_ reply: DialReply) throws(CallError) -> [PlacementAction] {
        switch reply {
        case .repeats(let earlier): return compare(earlier)
        case .new(.contact(let own)):
            stage = .starting
            let party = CallParty(
                user: joiner, name: PlacementRules.name(own.displayName, or: joiner), session: session,
                devices: own.devices)
            return [.ask(.call(call, .join(legs, request, device: device, party)))]
        case .new(.refused(let refusal)):
            throw PlacementRules.error(refusal, of: joiner, withoutDevice: .noSuchCall)
        case .new(.absent): throw .noSuchCall
        }
    }

    private mutating func compare(_ earlier: EarlierCall) -> [PlacementAction] {
        stage = .comparing(earlier.session)
        return [.ask(.call(earlier.call, .outcome(nil)))]
    }

    private mutating func dial() throws(CallError) -> [PlacementAction] {
        guard Set(legs.map(\.call)).count == legs.count else { throw .notAllowed(.join, .onlyOneCall) }
        stage = .dialling
        return [.ask(.user(joiner, .dial(session, LegAddress(call: call, leg: .caller), digest, device: device)))]
    }

    /// Once the call has been asked to start, the user has a leg of it.
    private func fail(_ error: CallError) -> [PlacementAction] {
        (stage == .starting ? [.detach(session, of: .registration(joiner))] : [])
            + [.discard(call, error), .finish(.failed(error))]
    }
}
