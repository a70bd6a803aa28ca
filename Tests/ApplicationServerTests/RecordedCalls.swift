import ApplicationServer
import AudioStreams
import CallControl
import CallRuntime
import Foundation
import GatewayAPI
import HTTPTypes
import Logging
import Primitives
import Storage
import Synchronization

/// Calls that only remember what they were asked; each command makes a new version.
final class RecordedCalls: ApplicationCalls {
    private struct State {
        var calls: [ApplicationCall] = []
        var commands: [ApplicationCommand] = []
        var traces: [TraceContext?] = []
        var requests: [ApplicationCallRequest] = []
        var refusal: ApplicationRefusal?
        var streams: [(StreamTerms, StreamLink)] = []
        var closed: [StreamID] = []
        var losses: [StreamLoss] = []
        var limits: [Int] = []
        var streamRequests: [StreamRequest] = []
        var orders: [StreamOrder?] = []
    }

    private let state = Mutex(State())

    var commands: [ApplicationCommand] { state.withLock { $0.commands } }
    /// The traces of the commands.
    var traces: [TraceContext?] { state.withLock { $0.traces } }
    var requests: [ApplicationCallRequest] { state.withLock { $0.requests } }
    var streams: [(StreamTerms, StreamLink)] { state.withLock { $0.streams } }
    var closed: [StreamID] { state.withLock { $0.closed } }
    /// What the ends of their sockets meant.
    var losses: [StreamLoss] { state.withLock { $0.losses } }
    /// How many calls lists were asked for.
    var limits: [Int] { state.withLock { $0.limits } }
    /// What was asked for about streams that the gateway opens.
    var streamRequests: [StreamRequest] { state.withLock { $0.streamRequests } }
    /// The streams of the calls that were started.
    var orders: [StreamOrder?] { state.withLock { $0.orders } }
    /// What the next requests are refused with.
    func refuse(_ refusal: ApplicationRefusal?) { state.withLock { $0.refusal = refusal } }
    func add(_ call: ApplicationCall) { state.withLock { $0.calls.append(call) } }

    func setApplications(_ applications: [RegisteredApplication]) async {}

    func start(
        _ request: ApplicationCallRequest, streaming order: StreamOrder?, by application: ApplicationIdentity
    ) async throws(ApplicationRefusal) -> ApplicationCall {
        // Others get in between.
        await Task.yield()
        let result: Result<ApplicationCall, ApplicationRefusal> = state.withLock { state in
            if let refusal = state.refusal { return .failure(refusal) }
            state.requests.append(request)
            state.orders.append(order)
            let call = Self.call(
                "c\(state.requests.count)", of: application, .outgoing, from: request.from, to: request.to)
            state.calls.append(call)
            return .success(call)
        }
        return try result.get()
    }

    func call(
        _ id: SessionID, of application: ApplicationIdentity
    ) async throws(ApplicationRefusal) -> ApplicationCall {
        guard let call = state.withLock({ $0.calls.first { $0.id == id && $0.application == application } }) else {
            throw .noSuchCall
        }
        return call
    }

    func stream(
        _ request: StreamRequest, in id: SessionID, by application: ApplicationIdentity, expecting version: UInt64?
    ) async throws(ApplicationRefusal) -> ApplicationCall {
        let found = try await call(id, of: application)
        if let version, version != found.version { throw .versionMismatch(found) }
        state.withLock { $0.streamRequests.append(request) }
        return found
    }

    func calls(
        of application: ApplicationIdentity, _ filter: ApplicationCallFilter, after place: ApplicationCallPlace?,
        limit: Int
    ) async -> [ApplicationCall] {
        state.withLock { state in
            let found = state.calls.filter { call in
                call.application == application && filter.includes(call)
                    && (place.map { $0 < ApplicationCallPlace(of: call) } ?? true)
            }
            state.limits.append(limit)
            return Array(found.sorted { ApplicationCallPlace(of: $0) < ApplicationCallPlace(of: $1) }.prefix(limit))
        }
    }

    func perform(
        _ command: ApplicationCommand, in id: SessionID, by application: ApplicationIdentity,
        expecting version: UInt64?, tracing trace: TraceContext?
    ) async throws(ApplicationRefusal) -> ApplicationCall {
        let result: Result<ApplicationCall, ApplicationRefusal> = state.withLock { state in
            guard let index = state.calls.firstIndex(where: { $0.id == id && $0.application == application }) else {
                return .failure(.noSuchCall)
            }
            if let refusal = state.refusal { return .failure(refusal) }
            if let version, version != state.calls[index].version {
                return .failure(.versionMismatch(state.calls[index]))
            }
            state.commands.append(command)
            state.traces.append(trace)
            state.calls[index].version += 1
            return .success(state.calls[index])
        }
        return try result.get()
    }

    /// Each call is decided by its first command.
    func decide(
        by command: ApplicationCommand, in id: SessionID, of application: ApplicationIdentity
    ) async throws(ApplicationRefusal) -> ApplicationCall {
        let found = try await call(id, of: application)
        guard found.version == 1 else { throw .notAllowed(found, .decided) }
        return try await perform(command, in: id, by: application, expecting: 1)
    }

    func open(
        _ link: StreamLink, _ terms: StreamTerms, in id: SessionID, by application: ApplicationIdentity
    ) async throws(ApplicationRefusal) -> StreamID {
        _ = try await call(id, of: application)
        let result: Result<StreamID, ApplicationRefusal> = state.withLock { state in
            if let refusal = state.refusal { return .failure(refusal) }
            state.streams.append((terms, link))
            return .success(StreamID(UInt64(state.streams.count)))
        }
        return try result.get()
    }

    func closed(
        _ stream: StreamID, in id: SessionID, by application: ApplicationIdentity, because loss: StreamLoss
    ) async {
        state.withLock { state in
            state.closed.append(stream)
            state.losses.append(loss)
        }
    }

    static func call(
        _ id: String, of application: ApplicationIdentity = Rig.bot, _ direction: ApplicationCall.Direction = .incoming,
        from: UserAddress = Rig.alice, to: UserAddress = Rig.address, startedAt: Int64 = 1_700_000_000_000
    ) -> ApplicationCall {
        ApplicationCall(
            id: SessionID(id), call: CallID(0xAB), application: application, direction: direction, from: from,
            fromName: "Alice", to: to, startedAt: startedAt)
    }
}

/// A responder over recorded calls and a real database in memory.
struct Rig {
    static let bot = ApplicationIdentity("bot#1")!
    static let other = ApplicationIdentity("other#2")!
    static let alice = UserAddress(parsing: "alice@example.com")!
    static let address = UserAddress(parsing: "bot@example.com")!

    /// How many idempotency keys an application may use in a day.
    static let keys = 110
    let calls = RecordedCalls()
    let recordings = KnownRecordings()
    let database: GatewayDatabase
    let clock = StandingClock()
    let journal = FailingJournal()
    var responder: CallResponder

    init() async throws {
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        database = try GatewayDatabase(.temporary, logger: logger)
        for application in [Self.bot, Self.other] {
            try await database.applications.add(
                StoredApplication(
                    name: application.name, number: application.number, domain: "", secret: Redacted("s")))
        }
        responder = CallResponder(
            calls, recordings: recordings, requests: database.administration, journal: journal, clock: clock,
            process: "first", keys: Self.keys)
    }

    /// The responder of a process that came after this one.
    func restarted() -> Rig {
        var next = self
        next.responder = CallResponder(
            calls, recordings: recordings, requests: database.administration, journal: journal, clock: clock,
            process: "second", keys: Self.keys)
        return next
    }

    /// The same process, whose answers can fail to be stored.
    func withFailingRequests() -> (Rig, FailingRequests) {
        let requests = FailingRequests(database.administration)
        var rig = self
        rig.responder = CallResponder(
            calls, recordings: recordings, requests: requests, journal: journal, clock: clock, process: "first",
            keys: Self.keys)
        return (rig, requests)
    }

    struct Reply {
        let status: Int
        let headers: HTTPFields
        let json: [String: Any]
        let bytes: [UInt8]

        var code: String? { json["code"] as? String }
        var detail: String? { json["detail"] as? String }
    }

    static let everything = Set(ApplicationScope.allCases)

    func ask(
        _ method: HTTPRequest.Method, _ target: String, _ body: String = "", key: String? = nil,
        match: String? = nil, range: String? = nil, condition: String? = nil, trace: String? = nil,
        as principal: V1Principal? = nil
    ) async -> Reply {
        let parts = target.split(separator: "?", maxSplits: 1).map(String.init)
        var headers = HTTPFields()
        headers[.idempotencyKey] = key
        headers[.ifMatch] = match
        headers[.range] = range
        headers[.ifRange] = condition
        headers[HTTPField.Name("traceparent")!] = trace
        let own = V1Principal.application(
            Self.bot, scopes: Self.everything, addresses: [ApplicationAddress(Self.address)])
        let answer = await responder.answer(
            V1Request(
                method: method, path: parts[0], query: parts.count > 1 ? parts[1] : nil, headers: headers,
                principal: principal ?? own, body: { () async throws(V1Error) in Array(body.utf8) }))
        let bytes: [UInt8]
        switch answer.body {
        case .bytes(let whole): bytes = whole
        case .stream(let stream): bytes = await stream.reduce([]) { $0 + $1 }
        }
        let json = (try? JSONSerialization.jsonObject(with: Data(bytes))) as? [String: Any]
        return Reply(status: answer.status, headers: answer.headers, json: json ?? [:], bytes: bytes)
    }
}

/// A journal that can be told to fail.
final class FailingJournal: Journal {
    private let fails = Mutex(false)
    func fail(_ value: Bool = true) { fails.withLock { $0 = value } }

    var isFailing: Bool { fails.withLock { $0 } }
    func append(_ entries: [JournalEntry]) {}
    func suspend() {}
    func resume() {}
    func whenDurable(_ action: @escaping @Sendable () -> Void) { action() }
    func durable() async throws(StorageError) {}
}

/// The keys of another repository, whose answers can fail to be stored.
final class FailingRequests: IdempotencyRepository {
    private let repository: any IdempotencyRepository
    private let fails = Mutex(false)

    init(_ repository: any IdempotencyRepository) { self.repository = repository }

    func fail(_ value: Bool = true) { fails.withLock { $0 = value } }

    func reserve(
        key: [UInt8], fingerprint: [UInt8], process: String, of application: ApplicationIdentity?, at now: Int64,
        age: Duration, limit: Int
    ) async throws(StorageError) -> KeyReservation {
        try await repository.reserve(
            key: key, fingerprint: fingerprint, process: process, of: application, at: now, age: age, limit: limit)
    }

    func keep(_ answer: KeptAnswer?, for key: [UInt8]) async throws(StorageError) {
        guard !fails.withLock({ $0 }) else { throw .failed("the disk is full") }
        try await repository.keep(answer, for: key)
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
        preconditionFailure("nothing here sleeps")
    }
}
