package import CallControl
import Primitives

/// Calls (spidr-wire §6).
extension LocalSwitchboard {
    /// Starts a call, or finds the one that the same request has started.
    func start(_ request: CallStartRequest, by user: UserAddress) async throws(CallError) -> SessionID {
        var random = environment.random.generator
        let sessions = PerLeg(
            caller: SessionID(user.resourcePrefix + random.nextToken(16, alphabet: .url)),
            callee: SessionID(random.nextToken(16, alphabet: .url)))
        return try await open(near: [user, request.callee]) { call in
            CallPlacement(
                request, by: user, in: call, sessions: sessions, rejectsBusy: rejectsBusy,
                earlyMedia: environment.configuration.call.earlyMedia)
        }
    }

    /// Calls the user's own devices, to connect the one that answers with a target.
    ///
    /// - Returns: the user's session of the new call.
    func connect(_ user: UserAddress, to target: UserAddress) async throws(CallError) -> SessionID {
        let sessions = PerLeg(caller: newSession(), callee: newSession())
        return try await open(near: [user, target]) { call in
            ConnectionPlacement(
                to: target, by: user, in: call, sessions: sessions, hearing: ConnectorOwner.source,
                rejectsBusy: rejectsBusy)
        }
    }

    /// Whether no device of a user who has a call already rings.
    var rejectsBusy: Bool { environment.configuration.busy == .reject }

    /// A call in progress, as the user may see it; see `Switchboard`.
    ///
    /// - Throws: `noSuchCall`.
    package func callSession(_ user: UserAddress, _ session: SessionID) async throws(CallError) -> CallSession {
        try await self.session(of: try await leg(of: session, for: user))
    }

    /// The call as one of its legs may see it.
    ///
    /// - Throws: `noSuchCall`.
    func session(of leg: LegAddress) async throws(CallError) -> CallSession {
        try await environment.router.ask(leg.call, .session(of: leg.leg)).session()
    }

    /// A call that one of these users has already. The new call should have the same worker, in case the users bring
    /// the two together later.
    func nearbyCall(of users: [UserAddress]) -> CallID? {
        for user in users {
            if let call = self.users.existing(user)?.anyCall { return call }
        }
        return nil
    }

    /// The leg that a session names.
    ///
    /// - Throws: `noSuchCall` if it is not this user's.
    func leg(of session: SessionID, for user: UserAddress) async throws(CallError) -> LegAddress {
        guard case .address(let leg?) = await environment.router.ask(.registration(user), .locate(session)) else {
            throw .noSuchCall
        }
        return leg
    }
}
