import CallControl
package import CallRuntime
package import GatewayAPI
package import HTTPTypes
import Primitives

/// Answers what applications ask about their calls and recordings: finds the operation, checks that the application may
/// do it, keeps idempotent answers, and asks the port.
package struct CallResponder: V1Interface {
    let calls: any ApplicationCalls
    let recordings: any Recordings
    let journal: any Journal
    let once: OnceRequests

    /// A request that may be carried out.
    struct Call: Sendable {
        let operation: V1Operation
        let application: ApplicationIdentity
        let addresses: [ApplicationAddress]
        /// The program of streams that are asked for without a URL; `nil`: the application has none.
        let streamURL: WebSocketURL?
        let scopes: Set<ApplicationScope>
        /// The call or the recording.
        let id: String
        let headers: HTTPFields
        let parameters: RequestQuery<V1Error>
        /// What the application believes to be the version of the call; `nil`: whatever it is.
        let version: UInt64?
        let body: [UInt8]

        /// The call that is asked for.
        var session: SessionID { SessionID(id) }

        /// The trace of the request; `nil`: it has none, or one that is malformed.
        var trace: TraceContext? { headers[.traceparent].flatMap { TraceContext($0) } }
    }

    /// Makes a responder.
    ///
    /// - Parameters:
    ///   - recordings: the recordings of applications.
    ///   - requests: where requests with idempotency keys are kept.
    ///   - journal: what has to be durable before a request that changes something is answered.
    ///   - process: a name that no other process has.
    ///   - keys: how many idempotency keys of an application are remembered, 1 or more.
    package init(
        _ calls: any ApplicationCalls, recordings: any Recordings, requests: any IdempotencyRepository,
        journal: any Journal, clock: any RuntimeClock, process: String, keys: Int
    ) {
        self.calls = calls
        self.recordings = recordings
        self.journal = journal
        once = OnceRequests(requests, clock: clock, process: process, limit: keys)
    }

    /// The methods that are possible at a path.
    package func methods(at path: String) -> [HTTPRequest.Method] {
        V1Route(parsing: path)?.operations.map(\.method) ?? []
    }

    /// Does nothing: files that are being sent end by themselves.
    package func finish() {}

    /// Answers a request.
    package func answer(_ request: V1Request) async -> V1Answer {
        var route: V1Route?
        do throws(V1Error) {
            guard let found = V1Route(parsing: request.path) else {
                throw V1Error(
                    .resourceNotFound, "There is nothing at this path; openapi/v1.yaml lists what there is.")
            }
            route = found
            return try await answer(request, found)
        } catch {
            return .refusal(error, allow: route?.allow)
        }
    }

    private func answer(_ request: V1Request, _ route: V1Route) async throws(V1Error) -> V1Answer {
        guard let operation = route.operations.first(where: { $0.method == request.method }) else {
            throw V1Error(
                .resourceMethodNotAllowed, "\(request.method.rawValue) is not possible here; use \(route.allow).")
        }
        let call = try await read(request, route.id, operation)
        guard operation.method == .post else { return try await perform(call) }
        guard let key = try RequestKey(request, of: call.application, call.body) else {
            return try await durably(call)
        }
        return try await once.answer(key, of: call.application) { () async throws(V1Error) in
            try await durably(call)
        }
    }

    /// Reads a request that its application may make.
    func read(_ request: V1Request, _ id: String, _ operation: V1Operation) async throws(V1Error) -> Call {
        let (application, scopes, addresses, streamURL) = try application(request.principal)
        guard scopes.contains(operation.scope) else {
            throw V1Error(
                .authForbidden, "This needs the scope \(operation.scope.rawValue), which the key or token has not.")
        }
        return Call(
            operation: operation, application: application, addresses: addresses, streamURL: streamURL, scopes: scopes,
            id: id, headers: request.headers,
            parameters: try RequestQuery(parsing: request.query, known: operation.parameters),
            version: try Self.version(request.headers[.ifMatch]),
            body: operation.method == .get ? [] : try await request.body())
    }

    /// The application that asks.
    private func application(
        _ principal: V1Principal
    ) throws(V1Error) -> (ApplicationIdentity, Set<ApplicationScope>, [ApplicationAddress], WebSocketURL?) {
        switch principal {
        case .application(let identity, let scopes, let addresses, let url): return (identity, scopes, addresses, url)
        case .user:
            throw V1Error(
                .authForbidden, "These are the calls of applications; users have theirs on the client protocol.")
        }
    }

    /// The version that `If-Match` names (RFC 9110 §13.1.1); `nil`: none, or `*`.
    private static func version(_ header: String?) throws(V1Error) -> UInt64? {
        guard let header, header != "*" else { return nil }
        guard header.hasPrefix("\""), header.hasSuffix("\""), header.utf8.count > 2,
            let version = UInt64(header.dropFirst().dropLast())
        else {
            throw V1Error(
                .requestInvalidHeader,
                "If-Match must be the ETag of an answer, such as \"7\" with its quotation marks, or *.")
        }
        return version
    }

    // MARK: Carrying out

    /// Carries out a request that changes something, and returns its answer once what it has caused is durable. While
    /// nothing can be kept, the request is refused before anything is decided.
    private func durably(_ call: Call) async throws(V1Error) -> V1Answer {
        guard !journal.isFailing else { throw .unavailable }
        let answer = try await perform(call)
        do throws(StorageError) {
            try await journal.durable()
        } catch {
            throw .unavailable
        }
        return answer
    }

    private func perform(_ call: Call) async throws(V1Error) -> V1Answer {
        switch call.operation {
        case .listCalls: try await list(call)
        case .startCall: try await start(call)
        case .showCall:
            .call(
                try await asking { () async throws(ApplicationRefusal) in
                    try await calls.call(call.session, of: call.application)
                })
        case .streamCall: throw try await withoutUpgrade(call)
        case .connectStream: try await connectStream(call)
        case .command(let name): try await command(name, call)
        case .listRecordings: try await listRecordings(call)
        case .showRecording: .json(V1Recording(try await recording(call)))
        case .fetchRecording: try await fetchRecording(call)
        case .removeRecording: try await removeRecording(call)
        }
    }

    private func list(_ call: Call) async throws(V1Error) -> V1Answer {
        let page = try ListPageRequest(call.parameters, of: call.operation.name, parts: 2)
        let filter = ApplicationCallFilter(
            phase: try call.parameters.word("state", ApplicationCallPhase.self),
            direction: try call.parameters.word("direction", ApplicationCall.Direction.self))
        var place: ApplicationCallPlace?
        if let after = page.after {
            guard let time = Int64(after[0]) else {
                throw V1Error(
                    .requestInvalidParameter, "The parameter \"cursor\" is not from an answer for this list.")
            }
            place = ApplicationCallPlace(time: time, id: after[1])
        }
        let found = await calls.calls(of: call.application, filter, after: place, limit: page.limit + 1)
        return .json(
            ListPage(found.map { V1Call($0) }, page, of: call.operation.name) {
                ["\($0.startedAt)", $0.id]
            })
    }

    private func start(_ call: Call) async throws(V1Error) -> V1Answer {
        var (request, order) = try ApplicationCallRequest.read(
            call.body, addresses: call.addresses, streamURL: call.streamURL)
        request.trace = call.trace
        guard order == nil || call.scopes.contains(.media) else {
            throw V1Error(
                .authForbidden, "The field \"stream\" needs the scope media, which the key or token has not.")
        }
        guard request.record == nil || call.scopes.contains(.recordings) else {
            throw V1Error(
                .authForbidden, "The field \"record\" needs the scope recordings, which the key or token has not.")
        }
        let started = try await asking { () async throws(ApplicationRefusal) in
            try await calls.start(request, streaming: order, by: call.application)
        }
        return .call(started, status: 201)
    }

    private func command(_ name: ApplicationCommand.Name, _ call: Call) async throws(V1Error) -> V1Answer {
        let command = try ApplicationCommand(name, reading: call.body)
        let after = try await asking { () async throws(ApplicationRefusal) in
            try await calls.perform(
                command, in: call.session, by: call.application, expecting: call.version, tracing: call.trace)
        }
        // Calls that become one are a new call.
        return .call(after, status: after.id == call.session ? 200 : 201)
    }

    func asking<Found: Sendable>(
        _ ask: () async throws(ApplicationRefusal) -> Found
    ) async throws(V1Error) -> Found {
        do throws(ApplicationRefusal) {
            return try await ask()
        } catch {
            throw V1Error(error)
        }
    }
}

extension V1Answer {
    /// An answer that shows a call, with its version as `ETag`.
    static func call(_ call: ApplicationCall, status: Int = 200) -> V1Answer {
        let shown = V1Call(call)
        return .json(shown, status: status, headers: HTTPFields(of: shown.id, shown.entityTag, status: status))
    }
}

extension HTTPField.Name {
    /// The place of a request in a trace (W3C Trace Context §3.2).
    fileprivate static let traceparent = Self("traceparent")!
}

extension HTTPFields {
    /// The headers of an answer that shows a call.
    init(of id: String, _ entityTag: String, status: Int) {
        self = [.eTag: entityTag]
        if status == 201 { self[.location] = "/v1/calls/\(id)" }
    }
}
