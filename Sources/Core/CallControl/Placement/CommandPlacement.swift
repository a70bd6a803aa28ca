/// Carries out a request that one call decides (`CallCommand`), in the call that has the leg by then.
///
///     identifying ──▶ (checking ──▶ loading) ──▶ commanding ──▶ placed
///          │                                        │   ▲
///          │              a handover is undecided   ▼   │
///          │                                      following ──▶ commanding ──▶ placed
///          │ the call is over                       │
///          └──────────────▶ awaiting ◀──────────────┘
///                              └──▶ placed, until the client has been told of the end
package struct CommandPlacement: Placement {
    private enum Stage: Equatable, Sendable {
        /// The user's leg is looked up, and the device that asks.
        case identifying
        /// The leg is known.
        case identified(Requester, Step)
        /// The user's registration says whether the device may not know yet that the call is over.
        case awaiting
    }

    /// What is asked once the leg is known.
    private enum Step: Equatable, Sendable {
        /// The call says whether it could play something.
        case checking
        /// The file to play is loaded.
        case loading
        /// The call is given the command.
        case commanding
        /// The call has refused the command for this reason, and says which call has the leg once no handover is
        /// undecided.
        case following(CallError)
        /// The call that has the leg now is given the command.
        case commandingAgain
    }

    /// The leg that asks, and the device of its user.
    private struct Requester: Equatable, Sendable {
        var leg: LegAddress
        var device: Device?
    }

    private let command: CallCommand
    private let session: SessionID
    /// The user who asks, and the name that the request gives to the device; `nil`: an application asks.
    private let user: (address: UserAddress, device: SubscriptionID?)?
    /// Whether the command succeeds, once the call is over, until the user's device has been told so.
    private let outlivesCall: Bool
    private var stage: Stage

    /// Makes a placement of a user's command.
    ///
    /// - Parameters:
    ///   - session: the user's session that the command is about.
    ///   - user: the user who asks.
    ///   - device: the name that the request gives to the user's device; `nil`: none.
    ///   - outlivesCall: the property of that name.
    package init(
        _ command: CallCommand, in session: SessionID, by user: UserAddress, from device: SubscriptionID?,
        outlivesCall: Bool = false
    ) {
        self.command = command
        self.session = session
        self.user = (user, device)
        self.outlivesCall = outlivesCall
        stage = .identifying
    }

    /// Makes a placement of an application's command. An application has no devices, and hears at once that its call is
    /// over.
    ///
    /// - Parameters:
    ///   - session: the application's session of the leg.
    ///   - leg: the leg that asks.
    package init(_ command: CallCommand, in session: SessionID, by leg: LegAddress) {
        self.command = command
        self.session = session
        user = nil
        outlivesCall = false
        stage = .identified(Requester(leg: leg), Self.firstStep(of: command))
    }

    /// The first actions.
    package mutating func start() -> [PlacementAction] {
        if case .identified(let requester, let step) = stage { return ask(requester, step) }
        guard let user else { preconditionFailure("an application's leg is known") }
        return [.ask(.user(user.address, .identify(session, device: user.device)))]
    }

    /// The next actions, given the reply to the last question.
    package mutating func handle(_ reply: PlacementReply) -> [PlacementAction] {
        do throws(CallError) {
            switch stage {
            case .identifying:
                guard let (leg, device) = reply.identified else { throw .noSuchCall }
                return ask(Requester(leg: leg, device: device), Self.firstStep(of: command))
            case .identified(let requester, let step): return try proceed(requester, step, reply)
            case .awaiting: return [.finish(reply.isEndAwaited ? .placed(session) : .failed(.noSuchCall))]
            }
        } catch {
            return fail(error)
        }
    }

    private mutating func proceed(
        _ requester: Requester, _ step: Step, _ reply: PlacementReply
    ) throws(CallError) -> [PlacementAction] {
        switch step {
        case .checking:
            try reply.checkDone()
            return ask(requester, .loading)
        case .loading:
            try reply.checkDone()
            return ask(requester, .commanding)
        case .commanding:
            if case .failed(let error) = reply, error.isOfHandover { return ask(requester, .following(error)) }
            try reply.checkDone()
        case .following(let error):
            let leg = try reply.placed()
            // A call that is over has not given its leg to another one.
            if error == .noSuchCall, leg.call == requester.leg.call { throw error }
            return ask(Requester(leg: leg, device: requester.device), .commandingAgain)
        case .commandingAgain: try reply.checkDone()
        }
        return [.finish(.placed(session))]
    }

    /// Asks the question of a step.
    private mutating func ask(_ requester: Requester, _ step: Step) -> [PlacementAction] {
        stage = .identified(requester, step)
        let leg = requester.leg
        return switch step {
        case .checking: [.ask(.call(leg.call, .checkPlay(leg.leg)))]
        case .loading: [.ask(.load(file: command.file ?? ""))]
        case .commanding, .commandingAgain: [.ask(.call(leg.call, .command(command, leg.leg, from: requester.device)))]
        case .following: [.ask(.call(leg.call, .place(of: leg.leg)))]
        }
    }

    /// A file has to be loaded before it is played, and is loaded only if the call could play it.
    private static func firstStep(of command: CallCommand) -> Step { command.file == nil ? .commanding : .checking }

    private mutating func fail(_ error: CallError) -> [PlacementAction] {
        guard error == .noSuchCall, outlivesCall, let user else { return [.finish(.failed(error))] }
        stage = .awaiting
        return [.ask(.user(user.address, .awaitsEnd(session, device: user.device)))]
    }
}

extension CallCommand {
    /// The file to play; `nil`: none.
    fileprivate var file: String? {
        guard case .play(let playback, _) = self else { return nil }
        return playback.file
    }
}

extension CallError {
    /// Whether a call that hands over its legs refuses requests so: the handover is undecided, or the leg is in another
    /// call since it was looked up.
    fileprivate var isOfHandover: Bool {
        switch self {
        case .pending, .noSuchCall: true
        case .alreadyAnswered, .notAllowed, .unreachable, .malformedDescription, .descriptionTooLong,
            .unsupportedDescription, .descriptionMissing, .unplayable, .digitsWaiting, .notForGuests, .unsupported,
            .limitOfCalls, .limitOfLegs, .tooManyCalls, .storageUnavailable, .draining:
            false
        }
    }
}
