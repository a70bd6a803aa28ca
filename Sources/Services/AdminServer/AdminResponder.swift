import CallControl
package import CallRuntime
package import Cryptography
import GatewayAPI
import HTTPTypes
package import Logging
import Observability

/// Turns requests into answers: finds the operation, checks who asks and whether the role suffices, keeps the audit log
/// and idempotent answers, and asks the ports.
package struct AdminResponder: Sendable {
    let accounts: any UserAccounts
    let applications: any ApplicationRepository
    let routes: any RouteRepository
    let repository: any AdministrationRepository
    let administration: any Administration
    let push: any PushRegistrar
    let pushNews: any PushNews
    let pushTrial: any PushTrial
    let controls: any GatewayControls
    let journal: any Journal
    let events: any PublicEvents
    let webhooks: any Webhooks
    let authenticator: AdminAuthenticator
    let auditLimits: AuditLimits
    /// The cost of the records of new passwords.
    let passwordCost: PasswordHash.Cost
    let clock: any RuntimeClock
    /// A name that no other process has.
    let process: String
    let logger: Logger

    /// A request that may be carried out.
    struct Call: Sendable {
        let operation: AdminOperation
        let caller: AdminCaller
        let values: [String: String]
        let parameters: QueryParameters
        let headers: HTTPFields
        let body: [UInt8]
    }

    /// Makes a responder.
    ///
    /// - Parameters:
    ///   - push: the registrations for push.
    ///   - pushNews: what tells users that one of theirs has ended.
    ///   - events: the log of the events of calls.
    ///   - pushTrial: what sends a push to try a registration out.
    ///   - passwordCost: the cost of the records of new passwords.
    ///   - ownUser: the user of this process, who needs no token on the socket.
    ///   - process: a name that no other process has.
    package init(
        accounts: any UserAccounts, applications: any ApplicationRepository, routes: any RouteRepository,
        repository: any AdministrationRepository, administration: any Administration,
        push: any PushRegistrar, pushNews: any PushNews, pushTrial: any PushTrial, controls: any GatewayControls,
        journal: any Journal, events: any PublicEvents, webhooks: any Webhooks,
        auditLimits: AuditLimits, passwordCost: PasswordHash.Cost = PasswordHash.Cost(),
        clock: any RuntimeClock, ownUser: UInt32, process: String, logger: Logger
    ) {
        self.accounts = accounts
        self.applications = applications
        self.routes = routes
        self.repository = repository
        self.administration = administration
        self.push = push
        self.pushNews = pushNews
        self.pushTrial = pushTrial
        self.controls = controls
        self.journal = journal
        self.events = events
        self.webhooks = webhooks
        authenticator = AdminAuthenticator(repository, clock: clock, ownUser: ownUser)
        self.auditLimits = auditLimits
        self.passwordCost = passwordCost
        self.clock = clock
        self.process = process
        self.logger = logger
    }

    /// Answers a request.
    package func respond(to request: AdminRequest) async -> AdminAnswer {
        var route: AdminRoute?
        let answer: AdminAnswer
        do throws(AdminError) {
            let caller = try await authenticator.caller(request.peer, request.headers[.authorization])
            let found = try AdminRoute(parsing: request.path)
            route = found
            answer = try await self.answer(request, found, caller)
        } catch {
            answer = .refusal(error, allow: route?.allow)
        }
        logger.debug(
            "administration request answered",
            metadata: [
                LogKey.method: "\(request.method.rawValue)",
                LogKey.route: "\(route?.operations.first?.template ?? "-")", LogKey.status: "\(answer.status)",
            ])
        return answer
    }

    private func answer(
        _ request: AdminRequest, _ route: AdminRoute, _ caller: AdminCaller
    ) async throws(AdminError) -> AdminAnswer {
        let operation = try route.operation(request.method)
        guard caller.role >= operation.role else {
            let error = AdminError(
                .authForbidden, "The role \(caller.role.rawValue) does not allow this; \(operation.role.rawValue) does."
            )
            let target = AuditTarget.text(operation, route.values, body: [])
            try await noteRefusal(operation, caller, target, error)
            throw error
        }
        let parameters = try QueryParameters(parsing: request.query, known: operation.parameters)
        let call = Call(
            operation: operation, caller: caller, values: route.values, parameters: parameters,
            headers: request.headers, body: operation.isChange ? try await request.body() : [])
        guard operation.isAudited else { return try await perform(call) }
        guard let key = try IdempotencyKey(call, request) else { return try await audited(call) }
        return try await once(key, call)
    }

    // MARK: Once

    /// Carries out a request with an idempotency key, unless that was done before.
    private func once(_ key: IdempotencyKey, _ call: Call) async throws(AdminError) -> AdminAnswer {
        let reservation: KeyReservation
        do throws(StorageError) {
            reservation = try await repository.reserve(
                key: key.name, fingerprint: key.fingerprint, process: process, of: nil,
                at: clock.epochMilliseconds, age: IdempotencyHeader.age, limit: auditLimits.keys)
        } catch {
            throw AdminError(error)
        }
        switch reservation {
        case .reserved: break
        case .answered(let kept):
            var answer = AdminAnswer(kept.status, contentType: kept.contentType, .bytes(kept.body))
            answer.headers[.idempotentReplayed] = "true"
            return answer
        case .inProgress:
            throw AdminError(
                .idempotencyInProgress, "The same request is being carried out; ask again in a moment.",
                retryAfter: .seconds(1))
        case .ofAnotherRequest:
            throw AdminError(.idempotencyKeyReused, "The Idempotency-Key was used for another request.")
        case .full: preconditionFailure("the oldest keys of operators make room")
        }
        let answer: AdminAnswer
        do throws(AdminError) {
            answer = try await audited(call)
        } catch {
            answer = .refusal(error)
        }
        // What failed because of the gateway may be tried again.
        let kept = answer.status < 500 ? keepable(answer, of: call.operation) : nil
        do throws(StorageError) {
            try await repository.keep(kept, for: key.name)
        } catch {
            throw AdminError(error)
        }
        return answer
    }

    /// What is kept of an answer: all of it but a token or a secret, which is shown once.
    private func keepable(_ answer: AdminAnswer, of operation: AdminOperation) -> KeptAnswer? {
        guard case .bytes(var body) = answer.body else { return nil }
        if answer.status < 300 {
            if operation == .addToken { body = AdminJSON.without("token", body) }
            if operation == .addApplicationKey { body = AdminJSON.without("key", body) }
            if [.addApplication, .rotateApplicationSecret].contains(operation) {
                body = AdminJSON.without("secret", body)
            }
            if [.addWebhook, .rotateWebhookKey].contains(operation) { body = AdminJSON.without("key", body) }
        }
        return KeptAnswer(status: answer.status, contentType: answer.contentType, body: body)
    }

    // MARK: Audit

    /// Carries out a request. The audit log has it before anything is done, and its outcome before it is answered.
    private func audited(_ call: Call) async throws(AdminError) -> AdminAnswer {
        let number = try await storing { () async throws(StorageError) in
            try await repository.addAudit(
                entry(call.operation, call.caller, AuditTarget.text(call.operation, call.values, body: call.body)),
                limits: auditLimits)
        }
        let result: Result<AdminAnswer, AdminError>
        do throws(AdminError) {
            result = .success(try await perform(call))
        } catch {
            result = .failure(error)
        }
        let (status, word) =
            switch result {
            case .success(let answer): (answer.status, "done")
            case .failure(let error): (error.code.httpStatus, error.code.rawValue)
            }
        try await storing { () async throws(StorageError) in
            try await repository.finishAudit(number, status: status, result: word)
        }
        return try result.get()
    }

    private func noteRefusal(
        _ operation: AdminOperation, _ caller: AdminCaller, _ target: String, _ error: AdminError
    ) async throws(AdminError) {
        var entry = entry(operation, caller, target)
        (entry.status, entry.result) = (error.code.httpStatus, error.code.rawValue)
        let refused = entry
        _ = try await storing { () async throws(StorageError) in
            try await repository.addAudit(refused, limits: auditLimits)
        }
    }

    private func entry(_ operation: AdminOperation, _ caller: AdminCaller, _ target: String) -> AuditEntry {
        AuditEntry(
            time: clock.epochMilliseconds, who: caller.name, role: caller.role, operation: operation.rawValue,
            target: target)
    }

    // MARK: Carrying out

    private func perform(_ call: Call) async throws(AdminError) -> AdminAnswer {
        switch call.operation {
        case .listUsers: try await listUsers(call)
        case .addUser: try await addUser(call)
        case .showUser: try await showUser(call)
        case .changeUser: try await changeUser(call)
        case .removeUser: try await removeUser(call)
        case .showVoicemail: try await showVoicemail(call)
        case .setVoicemail: try await setVoicemail(call)
        case .showRoutes: try await showRoutes(call)
        case .setRoutes: try await setRoutes(call)
        case .exportUsers: try await exportUsers(call, withPasswords: false)
        case .exportUsersWithPasswords: try await exportUsers(call, withPasswords: true)
        case .importUsers: try await importUsers(call)
        case .listSubscriptions: try await listSubscriptions(call)
        case .listDevices: try await listSubscriptions(call)
        case .endSubscription: try await endSubscription(call)
        case .listPushRegistrations: try await listPushRegistrations(call)
        case .removePushRegistration: try await removePushRegistration(call)
        case .testPushRegistration: try await testPushRegistration(call)
        case .listCalls: try await listCalls(call)
        case .showCall: try await showCall(call)
        case .endCall: try await endCall(call)
        case .showHealth: .json(await controls.health())
        case .showLimits: .json(["items": await controls.limits()])
        case .showConfiguration: .json(["items": controls.settings])
        case .showLogLevel: .json(LogLevelField(controls.logLevel))
        case .setLogLevel: try setLogLevel(call)
        case .showDrain: .json(DrainField(step: await controls.drainStep))
        case .startDrain: await startDrain()
        case .cancelDrain: try await cancelDrain()
        case .listTokens: try await listTokens(call)
        case .addToken: try await addToken(call)
        case .revokeToken: try await revokeToken(call)
        case .listApplications: try await listApplications(call)
        case .addApplication: try await addApplication(call)
        case .showApplication: try await showApplication(call)
        case .changeApplication: try await changeApplication(call)
        case .rotateApplicationSecret: try await rotateApplicationSecret(call)
        case .removeApplication: try await removeApplication(call)
        case .listApplicationKeys: try await listApplicationKeys(call)
        case .addApplicationKey: try await addApplicationKey(call)
        case .revokeApplicationKey: try await revokeApplicationKey(call)
        case .listWebhooks: try await listWebhooks(call)
        case .addWebhook: try await addWebhook(call)
        case .changeWebhook: try await changeWebhook(call)
        case .rotateWebhookKey: try await rotateWebhookKey(call)
        case .removeWebhook: try await removeWebhook(call)
        case .retryWebhook: try await retryWebhook(call)
        case .testWebhook: try await testWebhook(call)
        case .listAudit: try await listAudit(call)
        case .tailEvents: try await tailEvents(call)
        }
    }

    /// Asks the store.
    func storing<Value>(_ body: () async throws(StorageError) -> Value) async throws(AdminError) -> Value {
        do throws(StorageError) {
            return try await body()
        } catch {
            throw AdminError(error)
        }
    }

    /// The user that the path names.
    func user(_ call: Call) throws(AdminError) -> UserAddress {
        let text = call.values["user"] ?? ""
        guard let address = UserAddress(parsing: text) else {
            throw AdminError(
                .userNotFound, "\(text.prefix(64)) is no address; write it in full, such as alice@example.com.")
        }
        return address
    }
}

extension IdempotencyKey {
    fileprivate init?(_ call: AdminResponder.Call, _ request: AdminRequest) throws(AdminError) {
        let target = request.path + (request.query.map { "?" + $0 } ?? "")
        try self.init(request.headers, of: call.caller, request.method, target: target, call.body)
    }
}

/// What the audit log says that an operation was about.
package enum AuditTarget {
    /// The most characters of a target.
    package static let length = 256

    /// The target as text: what the path names, or fields of the body, where that says what is new. A body that cannot
    /// be read says nothing.
    package static func text(_ operation: AdminOperation, _ values: [String: String], body: [UInt8]) -> String {
        let fields: [AdminOperation: [String]] = [
            .addUser: ["address"], .addToken: ["name", "role"],
            .addApplication: ["name", "domain"], .setLogLevel: ["level"],
        ]
        let names = fields[operation]?.map { field($0, body) } ?? ["user", "name", "id"].compactMap { values[$0] }
        return String(names.filter { !$0.isEmpty }.joined(separator: " ").prefix(length))
    }

    private static func field(_ name: String, _ body: [UInt8]) -> String {
        // It is refused later.
        let known = Set(
            AdminResponder.userFields + AdminResponder.tokenFields + ApplicationChange.newFields + ["level"])
        return (try? BodyFields(parsing: body, known: known).text(name)) ?? ""
    }
}
