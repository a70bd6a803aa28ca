/// A reply, read as the reply to one kind of question. Each property and method belongs to the question that its
/// comment names, and traps if the reply is not one to that question, since then the runner of the placement
/// has mixed up replies.
extension PlacementReply {
    // MARK: Of registrations

    /// The reply to `locate`: where the leg is; `nil`: the user has none of that name.
    var located: LegAddress? {
        guard case .address(let leg) = self else { fault("locate") }
        return leg
    }

    /// The reply to `identify`: the leg, and the user's device that asks, if it is known; `nil`: the user has no leg of
    /// that name.
    var identified: (leg: LegAddress, device: Device?)? {
        guard case .requester(let leg, let device) = self else { fault("identify") }
        return leg.map { ($0, device) }
    }

    /// The reply to `awaitsEnd`.
    var isEndAwaited: Bool {
        guard case .endAwaited(let isAwaited) = self else { fault("awaitsEnd") }
        return isAwaited
    }

    /// The reply to `recall`: what the same request has started; `nil`: it has not come before.
    var recalled: EarlierCall? {
        switch self {
        case .repeats(let session, let call): EarlierCall(session: session, call: call)
        case .absent: nil
        case .contact, .refused, .account, .address, .requester, .endAwaited, .started, .done, .isRepeated, .party,
            .leg, .session, .failed:
            fault("recall")
        }
    }

    /// The reply to `dial`.
    var dialled: DialReply {
        switch self {
        case .repeats(let session, let call): .repeats(EarlierCall(session: session, call: call))
        case .contact, .refused, .absent: .new(reached)
        case .account, .address, .requester, .endAwaited, .started, .done, .isRepeated, .party, .leg, .session,
            .failed:
            fault("dial")
        }
    }

    /// The reply to `attach`, and to `contact`.
    var reached: ContactReply {
        switch self {
        case .contact(let contact): .contact(contact)
        case .refused(let refusal): .refused(refusal)
        case .absent: .absent
        case .repeats, .account, .address, .requester, .endAwaited, .started, .done, .isRepeated, .party, .leg,
            .session, .failed:
            fault("attach or contact")
        }
    }

    /// The reply to `connect`: whether the application has the leg.
    var hasConnector: Bool {
        switch self {
        case .done: true
        case .absent: false
        case .contact, .repeats, .refused, .account, .address, .requester, .endAwaited, .started, .isRepeated, .party,
            .leg, .session, .failed:
            fault("connect")
        }
    }

    /// The reply to `charge`: why the call may not be made; `nil`: it may.
    var refusedCharge: LegRefusal? {
        switch self {
        case .done: nil
        case .refused(let refusal): refusal
        case .contact, .repeats, .absent, .account, .address, .requester, .endAwaited, .started, .isRepeated, .party,
            .leg, .session, .failed:
            fault("charge")
        }
    }

    // MARK: Of the media plane

    /// The reply to `load`: why the file cannot be played; `nil`: it can.
    var unplayable: MediaFileError? {
        switch self {
        case .done: nil
        case .failed(.unplayable(let error)): error
        case .contact, .repeats, .refused, .absent, .account, .address, .requester, .endAwaited, .started, .isRepeated,
            .party, .leg, .session, .failed:
            fault("load")
        }
    }

    // MARK: Of calls and the store of users

    /// The reply to `account`: whether there is such an account. Throws if the store cannot be read.
    func accountExists() throws(CallError) -> Bool {
        try checkFailure()
        guard case .account(let exists) = self else { fault("account") }
        return exists
    }

    /// The reply to `outcome`: whether the call was started by the same request. Throws if it was not started.
    func isStartedBySameRequest() throws(CallError) -> Bool {
        try checkFailure()
        guard case .started(let isSame) = self else { fault("outcome") }
        return isSame
    }

    /// The reply to `claim`: whether the same request is in progress, or was carried out; otherwise the claim is taken.
    /// Throws if the request cannot be carried out.
    func isRepeatedClaim() throws(CallError) -> Bool {
        switch self {
        case .done: return false
        case .isRepeated: return true
        case .failed(let error): throw error
        case .contact, .repeats, .refused, .absent, .account, .address, .requester, .endAwaited, .started, .party, .leg,
            .session:
            fault("claim")
        }
    }

    /// The reply to `party`, and to `replaceableParty`; `nil`: there is none. Throws if the call is over.
    func foundParty() throws(CallError) -> CallParty? {
        try checkFailure()
        guard case .party(let party) = self else { fault("party or replaceableParty") }
        return party
    }

    /// The reply to `takeLeg`: the number. Throws if the leg cannot forward or transfer any more.
    func takenLeg() throws(CallError) -> LegID {
        try checkFailure()
        guard case .leg(let number) = self else { fault("takeLeg") }
        return number
    }

    /// The reply to `place`: where the leg is. Throws if the call is gone.
    func placed() throws(CallError) -> LegAddress {
        try checkFailure()
        guard case .address(let leg?) = self else { fault("place") }
        return leg
    }

    /// The reply to `session`: the call as the leg may see it. Throws if the call is gone.
    package func session() throws(CallError) -> CallSession {
        try checkFailure()
        guard case .session(let session) = self else { fault("session") }
        return session
    }

    /// The reply to a question that has the call do something. Throws if the call is unchanged.
    func checkDone() throws(CallError) {
        try checkFailure()
        guard case .done = self else { fault("a request to do something") }
    }

    private func checkFailure() throws(CallError) {
        if case .failed(let error) = self { throw error }
    }

    private func fault(_ question: StaticString) -> Never {
        preconditionFailure("\(self) is no reply to \(question)")
    }
}

/// What the same request has started before.
struct EarlierCall: Equatable {
    let session: SessionID
    let call: CallID
}

/// What the registration of a user says to a leg.
enum ContactReply: Equatable {
    /// The user has the leg, or could have it.
    case contact(Contact)
    /// The user cannot have the leg.
    case refused(LegRefusal)
    /// The user is not registered.
    case absent
}

/// What the registration of a user says to a leg of a call that the user starts.
enum DialReply: Equatable {
    /// The same request has come before.
    case repeats(EarlierCall)
    /// The request is new.
    case new(ContactReply)
}
