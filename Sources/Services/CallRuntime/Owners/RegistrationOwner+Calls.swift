import CallControl
import Primitives
import Registration
import Synchronization

/// The legs of the user, and the questions of placements about them.
extension RegistrationOwner {
    /// Answers a question of a placement.
    func reply(to question: UserQuestion) -> PlacementReply {
        switch question {
        case .dial(let session, let leg, let request, let device):
            dial(session, leg, with: request, naming: device)
        case .attach(let session, let leg, let role): attach(session, leg, as: role)
        case .contact(let call, let role): contact(besides: call, as: role)
        case .connect: .absent
        case .charge: charge()
        case .recall(let request): recall(request)
        case .forget(let session): forgetRequest(of: session)
        case .locate(let session): .address(registration.attachment(of: session))
        case .identify(let session, let name): identify(session, naming: name)
        case .awaitsEnd(let session, let name): .endAwaited(awaitsEnd(of: session, naming: name))
        }
    }

    /// Answers a question about a user who may have no subscription, which would have told the account. It is one step:
    /// in between, an owner that was made for the question would have nothing to own.
    ///
    /// - Parameter account: the user's.
    /// - Returns: `absent` if the owner has retired, in which case the directory makes another one.
    func reply(to question: UserQuestion, of account: StoredUser) -> PlacementReply {
        guard !isRetired else { return .absent }
        let ended = registration.belongs(to: account.identity, at: environment.clock.moment)
        if !ended.isEmpty { perform(ended, after: "account") }
        if displayName.isEmpty { displayName = account.displayName }
        defer { perform([], after: "wake") }
        return reply(to: question)
    }

    /// What a call would learn about the user now: `contact`, or `refused` if the user cannot have one more leg.
    private func contact(besides call: CallID, as role: LegRole) -> PlacementReply {
        guard !isRetired else { return .absent }
        let asleep = asleep(for: role) { wakeRefusal(by: $0) }
        if let refusal = registration.refusal(as: role, waking: !asleep.isEmpty) { return .refused(refusal) }
        return .contact(
            Contact(
                endpoint: .devices(registration.devices), sleeping: asleep, displayName: displayName,
                isEngaged: registration.isEngaged(besides: call)))
    }

    private func wakeRefusal(by caller: UserAddress) -> WakeRefusal? {
        registration.wakeRefusal(
            by: caller, from: environment.router.network(of: caller), of: environment.router.application(at: caller),
            at: environment.clock.now)
    }

    /// The user's devices that a call would wake. Only a user who is rung by another one is woken.
    ///
    /// - Parameter refusal: whether the limits forbid that this caller wakes them.
    private func asleep(for role: LegRole, _ refusal: (UserAddress) -> WakeRefusal?) -> [SleepingDevice] {
        guard case .rung(let caller) = role else { return [] }
        let asleep = registration.asleep(among: environment.push.devices(of: user, account: registration.account))
        return asleep.isEmpty || refusal(caller) != nil ? [] : asleep
    }

    /// Makes the user part of a call. From now on the call is told when devices come and go.
    ///
    /// - Returns: `contact`, or `refused` if the user cannot have one more leg.
    func attach(_ session: SessionID, _ leg: LegAddress, as role: LegRole) -> PlacementReply {
        guard !isRetired else { return .absent }
        let asleep = asleep(for: role) { caller in
            // A call that would be refused anyway wakes nobody.
            if registration.refusal(of: session, as: role, waking: true) != nil { return nil }
            let isBusy = registration.isEngaged(besides: leg.call)
            if isBusy, environment.configuration.busy == .reject { return nil }
            let refusal = registration.chargeWake(
                by: caller, from: environment.router.network(of: caller),
                of: environment.router.application(at: caller), at: environment.clock.now)
            if let refusal { environment.observer.wakeRefused(refusal) }
            return refusal
        }
        if let refusal = registration.refusal(of: session, as: role, waking: !asleep.isEmpty) {
            return .refused(refusal)
        }
        let devices = registration.attach(session, to: leg, as: role, waking: !asleep.isEmpty)
        calls.insert(leg.call)
        if !registration.isReachable { inform(leg, .channelsOpen(false)) }
        reportQuality(of: leg)
        return .contact(
            Contact(
                endpoint: .devices(devices), sleeping: asleep, displayName: displayName,
                isEngaged: registration.isEngaged(besides: leg.call)))
    }

    /// Tells a call which subscriptions of the user ask for quality reports, if any does.
    private func reportQuality(of leg: LegAddress) {
        let receivers = registration.qualityReceivers
        guard !receivers.isEmpty else { return }
        inform(leg, .qualityReporting(to: receivers))
    }

    /// Tells a call of a change of the user's devices.
    func inform(_ leg: LegAddress, _ change: DeviceChange) {
        environment.router.post(.deviceChanged(leg.leg, change), to: leg.call)
    }

    /// The same for a call that the user starts. The request may have come before, and its answer may have been lost:
    /// then the reply is `repeats`.
    ///
    /// - Parameter name: the name that the request gives to the device it comes from; `nil`: none.
    private func dial(
        _ session: SessionID, _ leg: LegAddress, with request: RequestDigest?, naming name: SubscriptionID?
    ) -> PlacementReply {
        _ = registration.device(naming: name)
        if case let known = recall(request), known != .absent { return known }
        if let refusal = registration.refusal(of: session, as: .own) { return .refused(refusal) }
        if case let charged = charge(), charged != .done { return charged }
        let attached = attach(session, leg, as: .own)
        if case .contact = attached, let request { dialled.insert(request, of: session) }
        return attached
    }

    /// Counts a call that the user is about to start, forward or transfer: `done`, or `refused`.
    private func charge() -> PlacementReply {
        do throws(LegRefusal) {
            try registration.chargeCall(at: environment.clock.now)
            return .done
        } catch {
            return .refused(error)
        }
    }

    /// Forgets the request that started a call, so that the next request like it starts another call: `done`.
    private func forgetRequest(of session: SessionID) -> PlacementReply {
        dialled.remove(session)
        return .done
    }

    /// The call that the same request has started, as long as it lasts: `repeats`, or `absent`.
    private func recall(_ request: RequestDigest?) -> PlacementReply {
        guard let request, let known = dialled[request], let leg = registration.attachment(of: known) else {
            return .absent
        }
        return .repeats(known, leg.call)
    }

    /// The user's legs, in the order in which they were attached.
    var legs: [LegAddress] { registration.attachments }

    /// One of the user's calls, if there was one a moment ago. It is good enough for choosing a worker, not for
    /// decisions.
    nonisolated var anyCall: CallID? {
        let hint = callHint.load(ordering: .relaxed)
        return hint == 0 ? nil : CallID(hint)
    }

    /// Forgets a call that the user has no leg of any more: it need not be told of devices.
    func forget(_ call: CallID?) {
        guard let call, !registration.isAttached(to: call) else { return }
        calls.remove(call)
    }

    /// The user's leg that this session names, and the device that asks: `requester`.
    private func identify(_ session: SessionID, naming name: SubscriptionID?) -> PlacementReply {
        guard let leg = registration.attachment(of: session) else { return .requester(nil, nil) }
        return .requester(leg, registration.device(naming: name))
    }

    /// Whether a device may not know yet that the session, which names no leg any more, is over.
    ///
    /// - Parameter name: the name that the request gives to the device that asks; `nil`: none.
    private func awaitsEnd(of session: SessionID, naming name: SubscriptionID?) -> Bool {
        // A call that ends posts the news before it takes the session away.
        registration.attachment(of: session) != nil
            || registration.awaitsEnd(of: session, on: name, at: environment.clock.now)
    }

    /// Returns once everything that was posted before has been handled, and sent to the clients that listen. A request
    /// that is not answered delays this no longer than its patience.
    nonisolated func flush() async {
        let (stream, continuation) = AsyncStream.makeStream(of: Never.self)
        guard inbox.post(.barrier(continuation)) else { return }
        for await _ in stream {}
    }
}
