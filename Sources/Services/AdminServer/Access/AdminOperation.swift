package import CallRuntime
package import HTTPTypes

/// Everything that the administration interface does. This is the one table of paths, methods and roles;
/// `openapi/admin.yaml` describes the same list.
package enum AdminOperation: String, CaseIterable, Sendable {
    /// Lists accounts, by domain, start of the address, and whether they are enabled.
    case listUsers
    /// Adds an account.
    case addUser
    /// Shows an account.
    case showUser
    /// Changes an account.
    case changeUser
    /// Removes an account, and ends everything of it.
    case removeUser
    /// Shows how many voice messages a user has.
    case showVoicemail
    /// Notes how many voice messages a user has; the user's clients are told.
    case setVoicemail
    /// Shows the routes of a user.
    case showRoutes
    /// Says which routes a user has; the user says which are active, and in which order.
    case setRoutes
    /// Writes all accounts as JSON lines or CSV, without password records.
    case exportUsers
    /// The same with the password records, from which passwords can be guessed.
    case exportUsersWithPasswords
    /// Adds accounts from JSON lines or CSV, all or none.
    case importUsers
    /// Lists subscriptions of users and guests.
    case listSubscriptions
    /// Ends a subscription.
    case endSubscription
    /// Lists the subscriptions that ring when their user is called.
    case listDevices
    /// Lists registrations for push, without their tokens.
    case listPushRegistrations
    /// Removes a registration for push.
    case removePushRegistration
    /// Sends a push to the device of a registration, and says what becomes of it.
    case testPushRegistration
    /// Lists calls in progress.
    case listCalls
    /// Shows a call in progress.
    case showCall
    /// Ends a call.
    case endCall
    /// Shows how the gateway is.
    case showHealth
    /// Shows the limits in force, and how much of each is in use.
    case showLimits
    /// Shows the configuration, without secrets.
    case showConfiguration
    /// Shows the log level.
    case showLogLevel
    /// Sets the log level until the process ends.
    case setLogLevel
    /// Shows how far the drain is.
    case showDrain
    /// Starts the drain, after which the process ends.
    case startDrain
    /// Cancels the drain, as long as no calls are being ended.
    case cancelDrain
    /// Lists tokens, without the secrets.
    case listTokens
    /// Makes a token.
    case addToken
    /// Revokes a token.
    case revokeToken
    /// Lists applications, without the secrets.
    case listApplications
    /// Adds an application, and makes its secret.
    case addApplication
    /// Shows an application, without the secret.
    case showApplication
    /// Changes an application.
    case changeApplication
    /// Gives an application a new secret.
    case rotateApplicationSecret
    /// Removes an application, its keys, and the tokens that it has got.
    case removeApplication
    /// Lists the keys of an application, without the keys themselves.
    case listApplicationKeys
    /// Makes a key of an application.
    case addApplicationKey
    /// Revokes a key of an application.
    case revokeApplicationKey
    /// Lists the webhooks of an application, without their keys, and how far each is.
    case listWebhooks
    /// Adds a webhook to an application, and makes its key.
    case addWebhook
    /// Changes a webhook.
    case changeWebhook
    /// Gives a webhook a new key.
    case rotateWebhookKey
    /// Removes a webhook, and what it is owed.
    case removeWebhook
    /// Sends a webhook again what was given up.
    case retryWebhook
    /// Sends an event to a webhook, and says what becomes of it.
    case testWebhook
    /// Lists entries of the audit log.
    case listAudit
    /// Sends the events of calls as they happen.
    case tailEvents

    /// The path of every operation starts so.
    package static let root = "/admin/v1"

    /// The method of the request.
    package var method: HTTPRequest.Method { definition.method }
    /// The path of the request, with `{…}` in place of the segments that vary.
    package var template: String { Self.root + definition.path }
    /// The least role that may do it.
    package var role: AdminRole { definition.role }
    /// The parameters that the query may have.
    package var parameters: Set<String> { Set(definition.parameters) }

    /// Whether it changes something, so that it is written into the audit log and may have an idempotency key.
    package var isChange: Bool { method != .get }
    /// Whether it is written into the audit log.
    package var isAudited: Bool { isChange || self == .exportUsersWithPasswords }

    private typealias Definition = (
        method: HTTPRequest.Method, path: String, role: AdminRole, parameters: [String]
    )

    private static let paging = ["limit", "cursor"]

    private var definition: Definition {
        switch self {
        case .listUsers: (.get, "/users", .readOnly, Self.paging + ["domain", "prefix", "enabled"])
        case .addUser: (.post, "/users", .admin, [])
        case .showUser: (.get, "/users/{user}", .readOnly, [])
        case .changeUser: (.patch, "/users/{user}", .admin, [])
        case .removeUser: (.delete, "/users/{user}", .admin, [])
        case .showVoicemail: (.get, "/users/{user}/voicemail", .readOnly, [])
        case .setVoicemail: (.put, "/users/{user}/voicemail", .operator, [])
        case .showRoutes: (.get, "/users/{user}/routes", .readOnly, [])
        case .setRoutes: (.put, "/users/{user}/routes", .operator, [])
        case .exportUsers: (.get, "/user-export", .readOnly, ["format"])
        case .exportUsersWithPasswords: (.get, "/user-export/with-passwords", .admin, ["format"])
        case .importUsers: (.post, "/user-import", .admin, ["format", "replace"])
        case .listSubscriptions: (.get, "/subscriptions", .readOnly, Self.paging + ["user", "connected"])
        case .endSubscription: (.delete, "/subscriptions/{user}/{id}", .operator, [])
        case .listDevices: (.get, "/devices", .readOnly, Self.paging + ["user", "connected"])
        case .listPushRegistrations: (.get, "/push-registrations", .readOnly, Self.paging + ["user"])
        case .removePushRegistration: (.delete, "/push-registrations/{id}", .operator, [])
        case .testPushRegistration: (.post, "/push-registrations/{id}/test", .operator, [])
        case .listCalls: (.get, "/calls", .readOnly, Self.paging + ["user", "state"])
        case .showCall: (.get, "/calls/{id}", .readOnly, [])
        case .endCall: (.delete, "/calls/{id}", .operator, ["reason"])
        case .showHealth: (.get, "/health", .readOnly, [])
        case .showLimits: (.get, "/limits", .readOnly, [])
        case .showConfiguration: (.get, "/configuration", .readOnly, [])
        case .showLogLevel: (.get, "/log-level", .readOnly, [])
        case .setLogLevel: (.put, "/log-level", .operator, [])
        case .showDrain: (.get, "/drain", .readOnly, [])
        case .startDrain: (.post, "/drain", .operator, [])
        case .cancelDrain: (.delete, "/drain", .operator, [])
        case .listTokens: (.get, "/tokens", .readOnly, Self.paging)
        case .addToken: (.post, "/tokens", .admin, [])
        case .revokeToken: (.delete, "/tokens/{name}", .admin, [])
        case .listApplications: (.get, "/applications", .readOnly, Self.paging)
        case .addApplication: (.post, "/applications", .admin, [])
        case .showApplication: (.get, "/applications/{name}", .readOnly, [])
        case .changeApplication: (.patch, "/applications/{name}", .admin, [])
        case .rotateApplicationSecret: (.post, "/applications/{name}/secret", .admin, [])
        case .removeApplication: (.delete, "/applications/{name}", .admin, [])
        case .listApplicationKeys: (.get, "/applications/{name}/keys", .readOnly, [])
        case .addApplicationKey: (.post, "/applications/{name}/keys", .admin, [])
        case .revokeApplicationKey: (.delete, "/applications/{name}/keys/{id}", .admin, [])
        case .listWebhooks: (.get, "/applications/{name}/webhooks", .readOnly, [])
        case .addWebhook: (.post, "/applications/{name}/webhooks", .admin, [])
        case .changeWebhook: (.patch, "/applications/{name}/webhooks/{id}", .admin, [])
        case .removeWebhook: (.delete, "/applications/{name}/webhooks/{id}", .admin, [])
        case .rotateWebhookKey: (.post, "/applications/{name}/webhooks/{id}/key", .admin, [])
        case .retryWebhook: (.post, "/applications/{name}/webhooks/{id}/retry", .operator, [])
        case .testWebhook: (.post, "/applications/{name}/webhooks/{id}/test", .operator, [])
        case .listAudit: (.get, "/audit", .readOnly, Self.paging + ["who"])
        case .tailEvents: (.get, "/events", .readOnly, ["since", "call"])
        }
    }
}
