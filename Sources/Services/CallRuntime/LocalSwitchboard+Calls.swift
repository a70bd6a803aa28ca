package import CallControl
import Logging
import Observability
import Primitives
import Synchronization

/// Calls (spidr-wire §6).
extension LocalSwitchboard {
    package func startCall(_ user: UserAddress, _ request: CallStartRequest) async throws(CallError) -> SessionID {
        guard !isDraining.load(ordering: .acquiring) else { throw .draining }
        try await checkMayCall(request.callee, user)
        if request.acceptsEarlyMedia { await loadEarlyMedia() }
        var random = environment.random.generator
        let neighbour = await neighbour(of: [user, request.callee])
        let owner = CallOwner(environment.media.identifier(random.next(), near: neighbour), environment)
        let sessions = PerLeg(
            caller: SessionID(user.resourcePrefix + random.nextToken(16, alphabet: .url)),
            callee: SessionID(random.nextToken(16, alphabet: .url)))
        try await enter(owner)
        do throws(CallError) {
            if let earlier = try await begin(owner, user, request, sessions) {
                await calls.remove(owner.id)
                return earlier
            }
        } catch {
            await calls.remove(owner.id)
            await owner.refuse(error)
            throw error
        }
        newcomers.post(.call(owner))
        return sessions.caller
    }

    /// The gateway carries one more call.
    func enter(_ owner: CallOwner) async throws(CallError) {
        do throws(CallError) {
            try await calls.insert(owner)
        } catch {
            if error == .limitOfCalls { environment.observer.callRefused(.gatewayCalls) }
            throw error
        }
    }

    /// The file that callers hear, if it is one, has to be there before it is asked for; a caller goes without rather than fail.
    private func loadEarlyMedia() async {
        guard case .file(let name) = environment.configuration.call.earlyMedia?.source else { return }
        do throws(MediaFileError) {
            try await environment.media.load(file: name)
        } catch {
            environment.logger.warning("early media cannot be played", metadata: [LogKey.error: "\(error.description)"])
        }
    }

    /// A call in progress, as the user may see it; see `Switchboard`.
    ///
    /// - Returns: the session that the same request has begun already, if it has; nothing is begun then.
    private func begin(
        _ owner: CallOwner, _ user: UserAddress, _ request: CallStartRequest, _ sessions: PerLeg<SessionID>
    ) async throws(CallError) -> SessionID? {
        guard let caller = await users.existing(user) else { throw Self.mayNotCall(user) }
        let callerContact: RegistrationOwner.Contact
        switch try await beginning(of: sessions.caller, owner, caller, request) {
        case .now(let own): callerContact = own
        case .before(let session, _): return session
        }
        let callee = await users.existing(request.callee)
        var calleeContact: RegistrationOwner.Contact?
        var refusal: LegRefusal?
        do throws(LegRefusal) {
            calleeContact = try await callee?.attach(sessions.callee, .callee, of: owner, as: .rung(by: user))
        } catch {
            refusal = error
        }
        do throws(CallError) {
            let unreachable = try await reasonNotToRing(request.callee, calleeContact, refusal, for: user)
            let parties = PerLeg(
                caller: CallParty(
                    user: user, name: Self.callerName(user, request, callerContact), session: sessions.caller,
                    devices: callerContact.devices),
                callee: CallParty(
                    user: request.callee, name: Self.name(calleeContact?.displayName, or: request.callee),
                    session: sessions.callee,
                    devices: unreachable == nil ? calleeContact?.devices ?? [] : []))
            try await owner.start(
                request, parties: parties,
                registrations: calleeContact == nil ? [.caller: caller] : [.caller: caller, .callee: callee ?? caller],
                unreachable: unreachable)
            // Whoever is not rung has no part in the call, nor is busy with it.
            if unreachable != nil { callee?.inbox.post(.detach(sessions.callee)) }
            return nil
        } catch {
            caller.inbox.post(.detach(sessions.caller))
            callee?.inbox.post(.detach(sessions.callee))
            throw error
        }
    }

    /// A request that has come before is answered with the call it has begun.
    private func beginning(
        of session: SessionID, _ owner: CallOwner, _ caller: RegistrationOwner, _ request: CallStartRequest
    ) async throws(CallError) -> RegistrationOwner.Beginning {
        let digest = RequestDigest(request)
        while true {
            let beginning: RegistrationOwner.Beginning
            do throws(LegRefusal) {
                beginning = try await caller.begin(session, of: owner, with: digest, naming: request.device)
            } catch {
                throw refused(error, to: caller.user, otherwise: Self.mayNotCall(caller.user))
            }
            guard case .before(let known, let call) = beginning else { return beginning }
            try await call.begun()
            if await call.isBegun(by: request) { return beginning }
            await caller.forgetBeginning(of: known)
        }
    }

    /// What a user is told who cannot have one more leg.
    ///
    /// - Parameter error: without a device, or as a guest with another call.
    func refused(_ refusal: LegRefusal, to user: UserAddress, otherwise error: CallError) -> CallError {
        switch refusal {
        case .noDevice: return error
        case .limitOfLegs, .limitOfRinging:
            environment.observer.callRefused(.userCalls)
            return user.guest == nil ? .limitOfLegs : error
        case .tooOften(let wait):
            environment.observer.callRefused(.userRate)
            return .tooManyCalls(retryAfter: wait)
        }
    }

    private static func mayNotCall(_ user: UserAddress) -> CallError {
        .notAllowed(
            operation: "callStart",
            state: user.guest == nil ? "without a subscription of the caller" : "a guest with another call, or gone")
    }

    /// What the callee is shown. An account is shown by the name that it was given here, whatever its client says; only one without a name
    /// goes by its client's word, for which nobody vouches. A guest has been given none.
    private static func callerName(
        _ user: UserAddress, _ request: CallStartRequest, _ contact: RegistrationOwner.Contact
    ) -> String {
        user.guest == nil
            ? name(contact.displayName, request.callerName, or: user)
            : name(request.callerName, contact.displayName, or: user)
    }

    /// The first name that says anything, else the address.
    static func name(_ names: String?..., or address: UserAddress) -> String {
        names.lazy.compactMap(\.self).first { !$0.isEmpty } ?? address.text
    }

    /// `nil`: the user's devices ring.
    ///
    /// - Parameter refusal: why there is no contact, if the user is registered. A user with too many calls is busy.
    func reasonNotToRing(
        _ callee: UserAddress, _ contact: RegistrationOwner.Contact?, _ refusal: LegRefusal?, for user: UserAddress
    ) async throws(CallError) -> CallEndCause.Unreachable? {
        switch refusal {
        case .limitOfLegs:
            environment.observer.callRefused(.calleeCalls)
            return .busy
        case .limitOfRinging, .tooOften:
            environment.observer.callRefused(.calleeRinging)
            return .busy
        case .noDevice, nil: break
        }
        guard let contact else { return try await reasonForAbsence(of: callee, to: user) }
        return contact.isEngaged && environment.configuration.busy == .reject ? .busy : nil
    }

    /// Guests are not told which accounts there are, nor by the time it takes.
    private func reasonForAbsence(of callee: UserAddress, to user: UserAddress) async throws(CallError)
        -> CallEndCause.Unreachable
    {
        guard user.guest == nil else { return .notRegistered }
        do throws(StorageError) {
            return try await repository.user(callee) == nil ? .noSuchUser : .notRegistered
        } catch {
            environment.logger.error("callee could not be looked up", metadata: [LogKey.error: "\(error.label)"])
            throw .limitOfCalls
        }
    }

    package func ringing(_ user: UserAddress, _ session: SessionID, from device: SubscriptionID?)
        async throws(CallError)
    {
        let (call, leg, device) = try await leg(of: session, for: user, naming: device)
        try await call.ringing(by: leg, from: device)
    }

    package func answer(_ user: UserAddress, _ session: SessionID, _ request: CallAnswerRequest) async throws(CallError)
    {
        let (call, leg, device) = try await leg(of: session, for: user, naming: request.device)
        try await call.answer(by: leg, request, from: device)
    }

    package func reject(
        _ user: UserAddress, _ session: SessionID, from device: SubscriptionID?, replacement: Bool
    ) async throws(CallError) {
        let (call, leg, device) = try await leg(of: session, for: user, naming: device)
        try await call.reject(by: leg, from: device, replacement: replacement)
    }

    package func end(
        _ user: UserAddress, _ session: SessionID, from device: SubscriptionID?, reasonText: String?
    ) async throws(CallError) {
        let (call, leg, device) = try await leg(of: session, for: user, naming: device)
        try await call.end(by: leg, from: device, reasonText: reasonText)
    }

    package func callSession(_ user: UserAddress, _ session: SessionID) async throws(CallError) -> CallSession {
        let (call, leg) = try await leg(of: session, for: user)
        return try await call.session(for: leg)
    }

    package func audit(_ user: UserAddress, _ session: SessionID) async throws(CallError) {
        let (call, leg) = try await leg(of: session, for: user)
        try await call.audit(by: leg)
    }

    /// A call that one of these users has already: what they bring together later should be handled in one place.
    func neighbour(of users: [UserAddress]) async -> CallID? {
        for user in users {
            if let call = await self.users.existing(user)?.anyCall { return call }
        }
        return nil
    }

    func leg(of session: SessionID, for user: UserAddress) async throws(CallError) -> (call: CallOwner, leg: Leg) {
        guard let found = await users.existing(user)?.leg(of: session) else { throw .noSuchCall }
        return found
    }

    /// The same, with the device that asks, if it is known.
    ///
    /// - Parameter name: the name that the request gives to that device; `nil`: none.
    func leg(
        of session: SessionID, for user: UserAddress, naming name: SubscriptionID?
    ) async throws(CallError) -> (call: CallOwner, leg: Leg, device: Device?) {
        guard let found = await users.existing(user)?.leg(of: session, naming: name) else { throw .noSuchCall }
        return found
    }
}
