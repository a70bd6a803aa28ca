/// Makes a conference of two calls of a user (spidr-wire §8.7): a new call, in which the user has a leg from the
/// beginning, and which then asks the two calls for their legs.
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
        switch (stage, reply) {
        case (.recalling, .absent):
            stage = .locating
            return [.ask(.user(joiner, .locate(joined[0])))]
        case (.locating, .address(let leg?)):
            legs.append(leg)
            return legs.count < joined.count ? [.ask(.user(joiner, .locate(joined[legs.count])))] : dial()
        case (.locating, .address(nil)): return [.finish(.failed(.noSuchCall))]
        case (.dialling, .contact(let own)):
            stage = .starting
            let party = CallParty(
                user: joiner, name: PlacementRules.name(own.displayName, or: joiner), session: session,
                devices: own.devices)
            return [.ask(.call(call, .join(legs, request, device: device, party)))]
        case (.recalling, .repeats(let session, let call)), (.dialling, .repeats(let session, let call)):
            stage = .comparing(session)
            return [.ask(.call(call, .outcome(nil)))]
        case (.dialling, .refused(let refusal)):
            let (error, limit) = PlacementRules.refusal(refusal, of: joiner, otherwise: .noSuchCall)
            return (limit.map { [.count($0)] } ?? []) + [.finish(.failed(error))]
        case (.dialling, .absent): return [.finish(.failed(.noSuchCall))]
        case (.comparing(let session), .started): return [.finish(.repeated(session))]
        case (.starting, .done): return [.finish(.placed(session))]
        case (.starting, .failed(let error)): return [.detach(session, of: joiner), .finish(.failed(error))]
        case (_, .failed(let error)): return [.finish(.failed(error))]
        default: preconditionFailure("\(reply) answers no question of \(stage)")
        }
    }

    private mutating func dial() -> [PlacementAction] {
        guard Set(legs.map(\.call)).count == legs.count else {
            return [.finish(.failed(.notAllowed(.join, .onlyOneCall)))]
        }
        stage = .dialling
        return [.ask(.user(joiner, .dial(session, LegAddress(call: call, leg: .caller), digest, device: device)))]
    }
}
