import CallControl
import CallRuntime
import EventAPI
import GatewayAPI
import Primitives

/// Webhooks of applications.
extension AdminResponder {
    static let webhookFields = ["url", "types", "enabled"]

    func listWebhooks(_ call: Call) async throws(AdminError) -> AdminAnswer {
        let owner = try await webhookOwner(call)
        let found = try await asking { () async throws(WebhookError) in try await webhooks.webhooks(of: owner) }
        return .json(["items": found.map { WebhookField($0, $1) }])
    }

    func addWebhook(_ call: Call) async throws(AdminError) -> AdminAnswer {
        let owner = try await webhookOwner(call)
        let fields = try BodyFields(parsing: call.body, known: ["url", "types"])
        let (url, types) = (try fields.requiredText("url"), try Self.types(fields) ?? [])
        let added = try await asking { () async throws(WebhookError) in
            try await webhooks.add(url: url, types: types, to: owner)
        }
        return .json(WebhookField(added, showsKey: true), status: 201)
    }

    func changeWebhook(_ call: Call) async throws(AdminError) -> AdminAnswer {
        let owner = try await webhookOwner(call)
        let fields = try BodyFields(parsing: call.body, known: Set(Self.webhookFields))
        let (url, types, isEnabled) = (try fields.text("url"), try Self.types(fields), try fields.flag("enabled"))
        let changed = try await asking { () async throws(WebhookError) in
            try await webhooks.change(id(call), of: owner, url: url, types: types, isEnabled: isEnabled)
        }
        return .json(WebhookField(changed))
    }

    func rotateWebhookKey(_ call: Call) async throws(AdminError) -> AdminAnswer {
        let owner = try await webhookOwner(call)
        let changed = try await asking { () async throws(WebhookError) in
            try await webhooks.rotateKey(id(call), of: owner)
        }
        return .json(WebhookField(changed, showsKey: true))
    }

    func removeWebhook(_ call: Call) async throws(AdminError) -> AdminAnswer {
        let owner = try await webhookOwner(call)
        let removed = try await asking { () async throws(WebhookError) in
            try await webhooks.remove(id(call), of: owner)
        }
        return .json(WebhookField(removed))
    }

    func retryWebhook(_ call: Call) async throws(AdminError) -> AdminAnswer {
        let owner = try await webhookOwner(call)
        let count = try await asking { () async throws(WebhookError) in try await webhooks.retry(id(call), of: owner) }
        return .json(["events": count])
    }

    func testWebhook(_ call: Call) async throws(AdminError) -> AdminAnswer {
        let owner = try await webhookOwner(call)
        let (isDelivered, detail) = try await asking { () async throws(WebhookError) in
            try await webhooks.test(id(call), of: owner)
        }
        return .json(WebhookTrialField(delivered: isDelivered, detail: detail))
    }

    private static func types(_ fields: BodyFields) throws(AdminError) -> [String]? {
        try fields.texts("types", atMost: EventSelection.limit)
    }

    private func id(_ call: Call) -> String { call.values["id"] ?? "" }

    /// The application that the path names, which exists.
    private func webhookOwner(_ call: Call) async throws(AdminError) -> ApplicationIdentity {
        let text = call.values["name"] ?? ""
        guard let name = ApplicationName(text) else {
            throw AdminError(.applicationNotFound, "There is no application named \(text.prefix(64)).")
        }
        let found = try await storing { () async throws(StorageError) in try await applications.application(name) }
        guard let found else { throw AdminError(.noSuchApplication(name)) }
        return found.identity
    }

    private func asking<Value>(_ body: () async throws(WebhookError) -> Value) async throws(AdminError) -> Value {
        do throws(WebhookError) {
            return try await body()
        } catch {
            switch error {
            case .noSuchWebhook:
                throw AdminError(.webhookNotFound, "The application has no such webhook; list those that it has.")
            case .tooMany(let limit):
                throw AdminError(
                    .webhookLimited,
                    "The application has \(limit) webhooks, as many as it may have (webhooks.per_application).")
            case .unusableURL(let rule):
                throw AdminError(.requestInvalidValue, "The field \"url\" cannot be used: \(rule).")
            case .unusableTypes(.unusableType(let type)):
                throw AdminError(
                    .requestInvalidValue,
                    "The field \"types\" holds \"\(type.prefix(64))\", which is no type such as call.ended or leg.*.")
            case .unusableTypes:
                throw AdminError(.requestInvalidValue, "The field \"types\" has too many items.")
            case .storage(let error): throw AdminError(error)
            }
        }
    }
}

/// A webhook as it is shown.
struct WebhookField: Encodable, Equatable, Sendable {
    var id: String
    var application: String
    var url: String
    var types: [String]
    var enabled: Bool
    /// Why the gateway has disabled it.
    var disabledBecause: String?
    /// How many events wait; absent where nothing was asked of it.
    var waiting: Int?
    /// How many events were given up.
    var parked: Int?
    /// Why the last attempt failed.
    var lastFailure: String?
    /// The key of its signatures, once.
    var key: String?

    init(_ webhook: Webhook, _ progress: WebhookProgress? = nil, showsKey: Bool = false) {
        id = webhook.id
        application = webhook.application.name.description
        url = webhook.url
        types = webhook.types
        enabled = webhook.isEnabled
        disabledBecause = webhook.disabledBecause
        waiting = progress?.waiting
        parked = progress?.parked
        lastFailure = progress?.reason
        key = showsKey ? webhook.keys.value.first : nil
    }
}

/// What has become of an event that tried a webhook out.
struct WebhookTrialField: Encodable, Equatable, Sendable {
    var delivered: Bool
    /// A sentence for people.
    var detail: String
}
