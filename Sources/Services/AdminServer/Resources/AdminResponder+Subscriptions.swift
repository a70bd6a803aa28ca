import CallControl
import CallRuntime
import GatewayAPI
import Primitives
import Registration

/// Subscriptions, and the devices among them.
extension AdminResponder {
    func listSubscriptions(_ call: Call) async throws(AdminError) -> AdminAnswer {
        let page = try PageRequest(call.parameters, of: call.operation, parts: 2)
        let isConnected = try call.parameters.flag("connected")
        var users = await administration.registeredUsers.map { (name: $0.text, user: $0) }
        if let text = call.parameters["user"]?.lowercased() { users.removeAll { $0.name != text } }
        if let after = page.after { users.removeAll { $0.name < after[0] } }
        users.sort { $0.name < $1.name }
        var read: [SubscriptionField] = []
        for (name, user) in users {
            let subscriptions = await administration.subscriptions(of: user)
            var fields = subscriptions.map { SubscriptionField($0, of: user, at: clock.epochMilliseconds) }
            if call.operation == .listDevices { fields.removeAll { !$0.device } }
            if let isConnected { fields.removeAll { $0.connected != isConnected } }
            if let after = page.after, after[0] == name { fields.removeAll { $0.id <= after[1] } }
            read += fields.sorted { $0.id < $1.id }
            if read.count > page.limit { break }
        }
        return .json(Page(read, page, of: call.operation) { [$0.user, $0.id] })
    }

    func endSubscription(_ call: Call) async throws(AdminError) -> AdminAnswer {
        let text = (call.values["user"] ?? "").lowercased()
        let name = call.values["id"] ?? ""
        // A guest's address cannot be written in a request, so it is looked for.
        guard let user = await administration.registeredUsers.first(where: { $0.text == text }),
            let found = await administration.subscriptions(of: user).first(where: {
                $0.phase != .ending && SubscriptionField.name($0, of: user) == name
            }),
            await administration.dismissSubscription(user, found.id)
        else { throw AdminError(.subscriptionNotFound, "This user has no such subscription.") }
        try await durable()
        return .json(["ended": name])
    }

    /// Returns once what was done is durable.
    func durable() async throws(AdminError) {
        try await storing { () async throws(StorageError) in try await journal.durable() }
    }
}

/// A subscription as it is shown.
struct SubscriptionField: Encodable, Equatable, Sendable {
    var id: String
    var user: String
    /// The name that the device gave itself.
    var name: String?
    var guest: Bool
    var services: [String]
    var phase: String
    var expiresAt: Int64
    var device: Bool
    var connected: Bool
    var keptNotifications: Int

    init(_ overview: SubscriptionOverview, of user: UserAddress, at now: Int64) {
        id = Self.name(overview, of: user)
        self.user = user.text
        name = overview.clientCorrelator
        guest = user.guest != nil
        services = overview.services
        phase = overview.phase.rawValue
        expiresAt = now + overview.remaining.wholeNanoseconds / 1_000_000
        device = overview.isDevice
        connected = overview.isConnected
        keptNotifications = overview.keptNotifications
    }

    /// The name under which operators know a subscription. That of a guest's is its credential, and a guest has one
    /// subscription, so the guest stands for it.
    static func name(_ overview: SubscriptionOverview, of user: UserAddress) -> String {
        user.guest?.description ?? overview.id.rawValue
    }
}
