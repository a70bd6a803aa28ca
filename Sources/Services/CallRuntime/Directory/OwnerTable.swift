import CallControl
import Sockets

/// The owners of this process, by the names of what they own.
///
/// Owners name each other by call and by user in what they send, and never hold a reference out of a message. A cluster
/// would find here that an owner is on another node, and pass the message on.
final class OwnerTable: Sendable {
    private let calls = Lock<[CallID: CallOwner]>([:])
    private let registrations = Lock<[UserAddress: RegistrationOwner]>([:])
    private let applications = Lock<[UserAddress: ApplicationOwner]>([:])

    /// The owner of a call; `nil` if there is no such call. Only the directory and the runner of loops need it; all
    /// others ask, or post a message.
    func call(_ id: CallID) -> CallOwner? { calls.withLock { $0[id] } }

    /// Asks a call a question of a placement; `failed(noSuchCall)` if there is no such call.
    func ask(_ call: CallID, _ question: CallQuestion) async -> PlacementReply {
        await self.call(call)?.reply(to: question) ?? .failed(.noSuchCall)
    }

    /// Tells a call what the request of a claim came to.
    func settle(_ claim: PlacementClaim, of call: CallID, _ error: CallError?) async {
        await self.call(call)?.settle(claim, error)
    }

    /// The call as one of its legs may see it.
    ///
    /// - Throws: `noSuchCall`.
    func session(of leg: LegAddress) async throws(CallError) -> CallSession {
        guard let call = call(leg.call) else { throw .noSuchCall }
        return try await call.session(for: leg.leg)
    }

    /// The owner of a user's registration; `nil` if there is none.
    func registration(of user: UserAddress) -> RegistrationOwner? { registrations.withLock { $0[user] } }

    /// The owner of the endpoint that a call to this address reaches: an application, or else the user's registration.
    /// `nil` if there is neither.
    func endpoint(of address: UserAddress) -> (any EndpointOwner)? {
        applications.withLock { $0[address] } ?? registration(of: address)
    }

    /// The owner of a party's endpoint; `nil` if it is gone. A user may have the address of an application, and call
    /// from it.
    func endpoint(of party: CallParty) -> (any EndpointOwner)? {
        switch party.endpoint {
        case .application: applications.withLock { $0[party.user] }
        case .devices: registration(of: party.user)
        }
    }

    /// The user, or the application, does not have this leg after all.
    func detach(_ session: SessionID, of address: UserAddress) {
        applications.withLock { $0[address] }?.detach(session)
        registration(of: address)?.detach(session)
    }

    /// All registrations that there are.
    var allRegistrations: [RegistrationOwner] { registrations.withLock { Array($0.values) } }

    /// Sends a message to a call.
    ///
    /// - Returns: `false` if the message will not be read, because the call is gone.
    @discardableResult
    func post(_ message: CallOwner.Message, to call: CallID) -> Bool { self.call(call)?.inbox.post(message) ?? false }

    /// Enters the owner of a call; `nil` removes it. Only `CallDirectory` decides that.
    func set(_ owner: CallOwner?, for call: CallID) { calls.withLock { $0[call] = owner } }

    /// Enters the owner of a registration. Only `UserDirectory` decides that.
    func set(_ owner: RegistrationOwner) { registrations.withLock { $0[owner.user] = owner } }

    /// Enters the owner of an application, which stays.
    func set(_ owner: ApplicationOwner) { applications.withLock { $0[owner.address] = owner } }

    /// Removes an owner. Another one may have taken its place already, and stays.
    func remove(_ owner: RegistrationOwner) {
        registrations.withLock { owners in
            if owners[owner.user] === owner { owners[owner.user] = nil }
        }
    }
}
