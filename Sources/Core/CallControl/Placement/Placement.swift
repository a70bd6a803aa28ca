/// A request that several owners decide together: the registration of the user who asks, that of the user who is to
/// be rung, and one or two calls.
///
///     start ──▶ ask ──▶ reply ──▶ ask ──▶ reply ──▶ … ──▶ finish
///
/// A placement asks one question at a time, and takes the reply. It decides every step, the outcome of the request, and
/// what has to be given back if the request fails. The code that runs a placement takes the questions to the owners
/// that they name, and decides nothing.
package protocol Placement: Sendable {
    /// The first actions.
    mutating func start() -> [PlacementAction]
    /// The next actions, given the reply to the last question.
    mutating func handle(_ reply: PlacementReply) -> [PlacementAction]
}

/// An action of a placement. Of the actions that come together, the last is `ask` or `finish`.
package enum PlacementAction: Equatable, Sendable {
    /// Ask an owner, and hand its reply to the placement.
    case ask(PlacementQuestion)
    /// Take this leg from the endpoint: it does not become part of a call.
    case detach(SessionID, of: EndpointAddress)
    /// Forget that this session was started by a request of the user: its call is over, and the request starts another.
    case forget(SessionID, of: UserAddress)
    /// A file of the configuration cannot be played; for the log.
    case report(MediaFileError)
    /// A limit of the user who is called was met, which is no error of the request; for metrics.
    case count(CallRefusal)
    /// Requests that wait for the outcome of this claim go on.
    case settle(PlacementClaim, CallID, CallError?)
    /// The new call has started: its owner handles messages from now on.
    case serve(CallID)
    /// The new call is not started, and does not exist any more. Repetitions of its request are refused with this
    /// error; `nil`: there are none.
    case discard(CallID, CallError?)
    /// The request is decided.
    case finish(PlacementOutcome)
}

/// The outcome of a request.
package enum PlacementOutcome: Equatable, Sendable {
    /// It is carried out, for this session of the user who asked.
    case placed(SessionID)
    /// The same request was carried out before, for this session.
    case repeated(SessionID)
    /// It is refused, and nothing has changed.
    case failed(CallError)
}

/// A question to one owner, named by the user or the call that it owns; to the store of users, or to the media plane.
package enum PlacementQuestion: Equatable, Sendable {
    /// To the registration of a user.
    case user(UserAddress, UserQuestion)
    /// To a call.
    case call(CallID, CallQuestion)
    /// Whether there is such an account. The reply is `account` or `failed`.
    case account(UserAddress)
    /// Load the file, so that it can be played. The reply is `done` or `failed`.
    case load(file: String)
}

/// A question to the registration of a user. The reply is `contact`, `refused` or `absent`, unless said otherwise.
package enum UserQuestion: Equatable, Sendable {
    /// Give the user a leg of a call that the user starts, unless the same request has started one before: then the
    /// reply is `repeats`.
    ///
    /// - Parameter device: the device that the request names; `nil`: none.
    case dial(SessionID, LegAddress, RequestDigest?, device: SubscriptionID?)
    /// Give the user a leg.
    case attach(SessionID, LegAddress, LegRole)
    /// Give the application that places calls for users a leg of a call, from which it is to connect this user with a
    /// target. The reply is `done`, or `absent` where there is no such application.
    case connect(SessionID, LegAddress, for: UserAddress, to: UserAddress)
    /// What a call would learn about the user, if it were given a leg now.
    case contact(besides: CallID, LegRole)
    /// Count a call that the user is about to forward or transfer. The reply is `done` or `refused`.
    case charge
    /// The session that the same request of the user has started. The reply is `repeats` or `absent`.
    case recall(RequestDigest?)
    /// Forget the request that has started this session, so that the next request like it starts another call. The
    /// reply is `done`.
    case forget(SessionID)
    /// Where the leg is that a session of the user names. The reply is `address`.
    case locate(SessionID)
    /// The same, and which of the user's devices asks. The reply is `requester`.
    ///
    /// - Parameter device: the device that the request names; `nil`: none.
    case identify(SessionID, device: SubscriptionID?)
    /// Whether a device may not know yet that the session, which names no leg any more, is over. The reply is
    /// `endAwaited`.
    ///
    /// - Parameter device: the device that the request names; `nil`: none.
    case awaitsEnd(SessionID, device: SubscriptionID?)
}

/// A question to a call. The reply is `done` or `failed`, unless said otherwise.
package enum CallQuestion: Equatable, Sendable {
    /// Wait for what the request came to that starts this call. The reply is `started` or `failed`.
    ///
    /// - Parameter request: a request that looks the same; `nil`: it is the same for certain.
    case outcome(CallStartRequest?)
    /// Start the call.
    case start(CallStartRequest, PerLeg<CallParty>, unreachable: CallEndCause.Unreachable?)
    /// Start the call as the conference that the calls of these legs become.
    ///
    /// - Parameter keepers: the addresses of the legs that are not of the user who joins, by call.
    case join(
        [LegAddress], CallUpdateRequest, device: SubscriptionID?, CallParty, keepers: [CallID: UserAddress] = [:])
    /// Check that the leg may do this now, and keep out the same request until it is settled. The reply can be
    /// `isRepeated`.
    case claim(PlacementClaim)
    /// The party that the leg talks to, if that party's client can replace the call. The reply is `party`.
    case replaceableParty(talkingTo: LegID)
    /// The party that the leg talks to. The reply is `party`.
    case party(talkingTo: LegID)
    /// A number for one more leg of the call. The reply is `leg` or `failed`.
    case takeLeg(for: Retargeting, LegID)
    /// Ring the party in the call; or have it replace a call of its own by this one.
    case retarget(Retargeting, LegID, CallParty, as: LegID, replacing: ReplacedLeg?)
    /// Tell the transferor that the target has no device to ring.
    case reportUnreachable(LegID, CallEndCause.Unreachable)
    /// Connect the party that the leg talks to with the one that its user talks to in the other call.
    ///
    /// - Parameter keeper: the user's address in the other call; `nil`: the same.
    case consult(LegID, with: UserAddress, LegAddress, of: UserAddress? = nil)
    /// Whether the leg could play something now.
    case checkPlay(LegID)
    /// Carry out the command.
    ///
    /// - Parameter device: the user's device that asks; `nil`: unknown.
    case command(CallCommand, LegID, from: Device?)
    /// Wait until no handover of the call is undecided, and say where the leg is then. The reply is `address` or
    /// `failed`.
    case place(of: LegID)
    /// The call as the leg may see it. The reply is `session` or `failed`.
    case session(of: LegID)
    /// Let the requests that wait for the outcome of this claim go on. It has failed with this error; `nil`: it was
    /// carried out.
    case settle(PlacementClaim, CallError?)
}

/// The reply to a question.
package enum PlacementReply: Equatable, Sendable {
    /// The user has the leg, or could have it.
    case contact(Contact)
    /// The same request has come before, and has started this session of this call.
    case repeats(SessionID, CallID)
    /// The user cannot have the leg.
    case refused(LegRefusal)
    /// The user is not registered.
    case absent
    /// Whether the account exists.
    case account(Bool)
    /// The leg; `nil`: the user has none of that name.
    case address(LegAddress?)
    /// The leg, and the user's device that asks; `nil`: unknown.
    case requester(LegAddress?, Device?)
    /// Whether a device may not know yet that its session is over.
    case endAwaited(Bool)
    /// The call has been started; whether by the same request.
    case started(isSame: Bool)
    /// It is done.
    case done
    /// The same request is in progress, or was carried out.
    case isRepeated
    /// The party; `nil`: there is none.
    case party(CallParty?)
    /// The number of the new leg.
    case leg(LegID)
    /// The call as the leg may see it.
    case session(CallSession)
    /// The call is unchanged.
    case failed(CallError)
}

/// What a call learns about a user or an application that becomes part of it.
package struct Contact: Equatable, Sendable {
    /// Who hears the leg.
    package var endpoint: LegEndpoint
    /// The user's devices that are asleep, and are woken if the user is rung.
    package var sleeping: [SleepingDevice]
    /// The stored display name; empty: none is stored.
    package var displayName: String
    /// The user has another call: dialled, ringing or answered.
    package var isEngaged: Bool
    /// How long an application may take to decide about a call, in milliseconds, 1 or more; `nil`: nobody is asked.
    package var decisionMilliseconds: Int?

    /// Makes a contact of its parts.
    package init(
        endpoint: LegEndpoint, sleeping: [SleepingDevice] = [], displayName: String, isEngaged: Bool,
        decisionMilliseconds: Int? = nil
    ) {
        self.endpoint = endpoint
        self.sleeping = sleeping
        self.displayName = displayName
        self.isEngaged = isEngaged
        self.decisionMilliseconds = decisionMilliseconds
    }

    /// The devices that ring, or are told; an application has none.
    package var devices: [Device] { if case .devices(let devices) = endpoint { devices } else { [] } }
}

/// How a user other than the one who was called comes to be rung (RFC 7044 §2: retargeting).
package enum Retargeting: Hashable, Sendable {
    /// A leg transfers the other leg to the target (spidr-wire §8.5).
    case transfer
    /// The callee forwards the call while it rings (spidr-wire §6.4).
    case forward

    /// What the request asks for.
    package var kind: CallRequest.Kind {
        switch self {
        case .transfer: .transfer
        case .forward: .forward
        }
    }
}

/// A request that changes a call by way of other owners. While it is carried out, the same request waits for its
/// outcome, so that what came twice is done once.
package enum PlacementClaim: Hashable, Sendable {
    /// The leg forwards or transfers to this address.
    case retarget(Retargeting, LegID, to: UserAddress)
    /// The leg transfers to the party of its user's other call.
    case consultation(LegID, CallID)
}

/// The session that a new call is to take the place of, and the transferor's leg there.
package struct ReplacedLeg: Equatable, Sendable {
    /// The target's session in its other call.
    package var session: SessionID
    /// The leg of the transferor in that call.
    package var keeper: LegAddress

    /// Makes a value of its parts.
    package init(session: SessionID, keeper: LegAddress) {
        self.session = session
        self.keeper = keeper
    }
}
