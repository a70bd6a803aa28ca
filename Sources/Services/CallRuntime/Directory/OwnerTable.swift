import CallControl
import Primitives
import Sockets

/// The owners of this process, by the names of what they own: the router of a gateway that is one process.
///
/// The directories enter and remove owners. What needs an owner itself (the directories, the runner of loops, and the
/// functions of a switchboard that ask a registration of this process) finds it here; owners find each other by the
/// port `OwnerRouter`.
final class OwnerTable: Sendable {
    private let calls = Lock<[CallID: CallOwner]>([:])
    private let registrations = Lock<[UserAddress: RegistrationOwner]>([:])
    private let applications = Lock(ApplicationTable())
    private let connector = Lock<ConnectorOwner?>(nil)

    /// The owner of a call; `nil` if there is no such call.
    func call(_ id: CallID) -> CallOwner? { calls.withLock { $0[id] } }

    /// The names of all calls that there are.
    var allCalls: [CallID] { calls.withLock { Array($0.keys) } }

    /// The owner of a user's registration; `nil` if there is none.
    func registration(of user: UserAddress) -> RegistrationOwner? { registrations.withLock { $0[user] } }

    /// All registrations that there are.
    var allRegistrations: [RegistrationOwner] { registrations.withLock { Array($0.values) } }

    /// Enters the owner of a call; `nil` removes it. Only `CallDirectory` decides that.
    func set(_ owner: CallOwner?, for call: CallID) { calls.withLock { $0[call] = owner } }

    /// Enters the owner of a registration. Only `UserDirectory` decides that.
    func set(_ owner: RegistrationOwner) { registrations.withLock { $0[owner.user] = owner } }

    /// Sets the applications from now on, and tells the owners of those that have changed or are gone.
    ///
    /// - Returns: the owners that were made, whose loops are to be run.
    func setApplications(
        _ applications: [RegisteredApplication], making make: (RegisteredApplication) -> ApplicationOwner
    ) -> [ApplicationOwner] {
        self.applications.withLock { $0.set(applications, making: make) }
    }

    /// The owner of an application; `nil` if there is none.
    func application(_ identity: ApplicationIdentity) -> ApplicationOwner? {
        applications.withLock { $0.owner(of: identity) }
    }

    /// Forgets the owner of an application that is gone.
    func remove(_ owner: ApplicationOwner) { applications.withLock { $0.remove(owner) } }

    /// Enters the application that places calls for users, which stays.
    func set(_ owner: ConnectorOwner) { connector.withLock { $0 = owner } }

    /// Removes an owner. Another one may have taken its place already, and stays.
    func remove(_ owner: RegistrationOwner) {
        registrations.withLock { owners in
            if owners[owner.user] === owner { owners[owner.user] = nil }
        }
    }
}

extension OwnerTable: OwnerRouter {
    func ask(_ call: CallID, _ question: CallQuestion) async -> PlacementReply {
        await self.call(call)?.reply(to: question) ?? .failed(.noSuchCall)
    }

    func ask(_ endpoint: EndpointAddress, _ question: UserQuestion) async -> PlacementReply? {
        await owner(of: endpoint)?.reply(to: question)
    }

    @discardableResult
    func post(_ message: CallMessage, to call: CallID) -> Bool { self.call(call)?.inbox.post(.sent(message)) ?? false }

    @discardableResult
    func post(_ message: EndpointMessage, to endpoint: EndpointAddress) -> Bool {
        switch endpoint {
        case .registration(let user): return registration(of: user)?.post(message) ?? false
        case .application(.connector): return connector.withLock { $0 }?.post(message) ?? false
        case .application(let address):
            // An owner ignores what is about legs of another one.
            return applications.withLock { $0.owners(of: address) }.reduce(false) { $1.post(message) || $0 }
        }
    }

    func network(of guest: UserAddress) -> SourceNetwork? { registration(of: guest)?.network }

    func application(at address: UserAddress) -> ApplicationName? {
        guard registration(of: address) == nil else { return nil }
        return applications.withLock { $0.owner(at: address)?.identity.name }
    }

    func applicationOwning(_ address: UserAddress) -> ApplicationIdentity? {
        applications.withLock { $0.owner(at: address)?.identity }
    }

    func endpoint(at address: UserAddress) -> EndpointAddress? {
        if address == .connector || applications.withLock({ $0.owner(at: address) }) != nil {
            return .application(address)
        }
        return registration(of: address) == nil ? nil : .registration(address)
    }

    private func owner(of endpoint: EndpointAddress) -> (any EndpointOwner)? {
        switch endpoint {
        case .application(.connector): connector.withLock { $0 }
        case .application(let address): applications.withLock { $0.owner(at: address) }
        case .registration(let user): registration(of: user)
        }
    }
}
