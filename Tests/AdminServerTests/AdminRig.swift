import AdminServer
import CallControl
import CallRuntime
import GatewayAPI
import Foundation
import HTTPTypes
import Logging
import Observability
import Primitives
import Push
import PushDelivery
import Registration
import Storage
import Synchronization
import TestSupport

/// A responder over a real database in memory, with a switchboard and a gateway that only remember what they were
/// asked.
struct AdminRig {
    static let ownUser: UInt32 = 4_711

    let database: GatewayDatabase
    let asked = AskedOf()
    let clock = StandingClock()
    let responder: AdminResponder
    let push: PushDirectory

    init() throws {
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        database = try GatewayDatabase(.temporary, logger: logger)
        push = PushDirectory(
            limit: 20, users: database.users, journal: VolatileJournal(), clock: clock,
            metrics: GatewayMetrics(version: "test", startTime: 0), random: SystemRandomSource())
        let journal = try database.openJournal(.init(), clock: clock, logger: logger)
        responder = AdminResponder(
            accounts: database.users, applications: database.applications, routes: database.routes,
            repository: database.administration,
            administration: asked, push: push, pushNews: asked, pushTrial: asked, controls: asked,
            journal: VolatileJournal(), events: journal.publicEvents, webhooks: MemoryWebhooks(),
            auditLimits: AuditLimits(), clock: clock,
            ownUser: Self.ownUser, process: "test", logger: logger)
    }

    /// Makes a token of a role.
    func token(_ role: AdminRole, expiresAt: Int64? = nil) async throws -> String {
        var random = SystemRandomSource()
        let (token, stored) = try AdminToken.make(
            name: "t-\(role.rawValue)-\(random.next())", role: role.rawValue, expiresAt: expiresAt, at: 0, by: "test",
            random: &random)
        _ = try await database.administration.addAdminToken(stored)
        return token.text.value
    }

    struct Reply {
        var status: Int
        var headers: HTTPFields
        var json: [String: Any]
        var bytes: [UInt8]

        var code: String? { json["code"] as? String }
    }

    /// Sends a request: over the socket as the gateway's own user, or over TCP with a token, or with none (empty).
    func ask(
        _ method: HTTPRequest.Method, _ target: String, _ body: String = "", token: String? = nil, key: String? = nil,
        peer: AdminPeer? = nil
    ) async -> Reply {
        let parts = target.split(separator: "?", maxSplits: 1).map(String.init)
        var headers = HTTPFields()
        if let token, !token.isEmpty { headers[.authorization] = "Bearer \(token)" }
        headers[.idempotencyKey] = key
        let peer =
            peer ?? (token == nil ? .process(user: Self.ownUser) : .network(IPAddress("192.0.2.1")))
        let bytes = Array(body.utf8)
        let answer = await responder.respond(
            to: AdminRequest(
                method: method, path: parts[0], query: parts.count > 1 ? parts[1] : nil, headers: headers, peer: peer,
                body: { () async throws(AdminError) in bytes }))
        guard case .bytes(let written) = answer.body else {
            return Reply(status: answer.status, headers: answer.headers, json: [:], bytes: [])
        }
        let json = (try? JSONSerialization.jsonObject(with: Data(written))) as? [String: Any]
        return Reply(status: answer.status, headers: answer.headers, json: json ?? [:], bytes: written)
    }

    func audit() async throws -> [AuditEntry] {
        try await database.administration.audit(before: nil, who: nil, limit: 100).reversed()
    }
}

/// Remembers what it is asked, and has one subscription and one call.
final class AskedOf: Administration, GatewayControls, PushNews, PushTrial {
    private struct State {
        var asked: [String] = []
        var level = Logger.Level.info
        var step = DrainStep.serving
        var voicemail = VoicemailCount.empty
    }

    static let user = UserAddress(parsing: "alice@example.com")!
    private let state = Mutex(State())

    var asked: [String] { state.withLock { $0.asked } }
    private func note(_ text: String) { state.withLock { $0.asked.append(text) } }

    var registeredUsers: [UserAddress] { get async { [Self.user] } }
    func subscriptions(of user: UserAddress) async -> [SubscriptionOverview] { [] }
    func dismissSubscription(_ user: UserAddress, _ subscription: SubscriptionID) async -> Bool { false }
    func dismissRemovedUsers() async throws(StorageError) { note("dismissRemovedUsers") }
    var callsInProgress: [CallID] { [CallID(0xAB)] }
    func overview(of call: CallID) async -> CallOverview? { nil }
    func endCall(_ call: CallID, reasonText: String?) async -> Bool {
        note("endCall \(call) \(reasonText ?? "-")")
        return call == CallID(0xAB)
    }

    func pushInvalidated(_ registration: PushRegistration, of user: UserAddress, because reason: String) {
        note("pushInvalidated \(registration.id) of \(user): \(reason)")
    }
    func notWoken(_ device: PushDeviceID, for told: LoggedEvent) {}

    func voicemail(of user: UserAddress) async -> VoicemailCount { state.withLock { $0.voicemail } }
    func setVoicemail(of user: UserAddress, to count: VoicemailCount) async throws(StorageError) {
        guard user == Self.user else { throw .noSuchUser(user) }
        state.withLock { $0.voicemail = count }
    }

    func tryOut(_ device: PushDeviceID, with kind: PushTrialKind) async -> PushOutcome? {
        note("tryOut \(device.rawValue) \(kind.rawValue)")
        return device.rawValue == "none" ? nil : .givenUp(.notConfigured)
    }

    func accountsChanged() async { note("accountsChanged") }
    func applicationsChanged() async { note("applicationsChanged") }
    func health() async -> GatewayHealth { GatewayHealth(version: "1", startedAt: 0, drain: drainStep, checks: []) }
    func limits() async -> [LimitInForce] { [LimitInForce("calls.maximum", 5, inUse: 1)] }
    var settings: [SettingInForce] { [SettingInForce("media.port", "7000")] }
    var logLevel: Logger.Level { state.withLock { $0.level } }
    func setLogLevel(_ level: Logger.Level) { state.withLock { $0.level = level } }
    var drainStep: DrainStep { state.withLock { $0.step } }
    func cancelDrain() async throws(AdminError) {
        guard drainStep != .serving else { throw AdminError(.drainNotStarted, "There is no drain.") }
        note("cancelDrain")
        state.withLock { $0.step = .serving }
    }
    func startDrain() {
        note("drain")
        state.withLock { $0.step = .announcing }
    }
}

/// Clocks that stand still unless they are moved.
final class StandingClock: RuntimeClock {
    private let time = Mutex((MonotonicTime(nanoseconds: 1_000_000_000_000), Int64(1_700_000_000_000)))

    func advance(by duration: Duration) {
        time.withLock { $0 = ($0.0 + duration, $0.1 + duration.components.seconds * 1_000) }
    }

    var now: MonotonicTime { time.withLock { $0.0 } }
    var epochMilliseconds: Int64 { time.withLock { $0.1 } }
    func sleep(until time: MonotonicTime) async throws(CancellationError) {
        do { try await Task.sleep(for: .seconds(3_600)) } catch { throw CancellationError() }
    }
}

/// Random bits of the system.
struct SystemRandomSource: RandomSource {
    mutating func next() -> UInt64 { UInt64.random(in: .min ... .max) }
}
