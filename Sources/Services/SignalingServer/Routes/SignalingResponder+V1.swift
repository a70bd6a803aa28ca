package import CallRuntime
package import GatewayAPI
import HTTPTypes
import HummingbirdCore
import NIOCore
import Primitives
import Sockets

/// What answers below `/v1/`, and who checks the credentials there.
package struct V1Gate: Sendable {
    /// Answers requests.
    package let interface: any V1Interface
    /// Says who makes a request.
    package let authenticator: V1Authenticator
    /// Serves WebSockets; `nil`: there are none.
    package let sockets: (any V1Sockets)?
    /// The log whose events clients follow on WebSockets; `nil`: on none.
    package let events: (any PublicEvents)?

    /// Makes a gate of its parts; each parameter is the property of that name.
    package init(
        _ interface: any V1Interface, authenticator: V1Authenticator, sockets: (any V1Sockets)? = nil,
        events: (any PublicEvents)? = nil
    ) {
        self.interface = interface
        self.authenticator = authenticator
        self.sockets = sockets
        self.events = events
    }

    /// Whether a path is below `/v1/`, or `/v1` itself.
    static func serves(_ path: String) -> Bool { path == "/v1" || path.hasPrefix("/v1/") }
}

extension SignalingResponder {
    /// Answers a request below `/v1/`. Who makes it is checked before anything else is looked at: without credentials a
    /// client learns nothing.
    func answer(_ request: Request, by gate: V1Gate, from requester: Requester) async -> Answer {
        if request.method == .options { return .v1Options(gate.interface.methods(at: request.uri.path)) }
        var closesConnection = false
        let found: V1Answer
        do throws(V1Error) {
            let principal = try await gate.authenticator.principal(request.headers[.authorization], from: requester)
            let body = V1Body(request, limits)
            var headers = request.headers
            // A range is for GET alone (RFC 9110 §14.2).
            if request.method == .head { headers[.range] = nil }
            found = await gate.interface.answer(
                V1Request(
                    method: request.method == .head ? .get : request.method, path: request.uri.path,
                    query: request.uri.query, headers: headers, principal: principal,
                    network: requester.address.map { SourceNetwork($0) },
                    body: { () async throws(V1Error) in try await body.read() }))
            closesConnection = body.isLeftUnread
        } catch {
            found = .refusal(error)
        }
        noteAnswer(found.status, to: request.method, at: "/v1")
        var answer = Answer(found, isHead: request.method == .head)
        if closesConnection {
            answer.closesConnection = true
            answer.headers[.connection] = "close"
        }
        return answer
    }
}

/// The body of a request, read when it is asked for.
private final class V1Body: Sendable {
    private let request: Request
    private let limits: BodyLimits
    private let leftUnread = Lock(false)

    init(_ request: Request, _ limits: BodyLimits) {
        self.request = request
        self.limits = limits
    }

    /// Whether a part of a body that was refused is still on its way.
    var isLeftUnread: Bool { leftUnread.withLock { $0 } }

    func read() async throws(V1Error) -> [UInt8] {
        do throws(BodyError) {
            return Array(try await request.collectBody(limits).readableBytesView)
        } catch {
            let refusal = error.refusal(limit: limits.accepted, in: .problem)
            leftUnread.withLock { $0 = refusal.closesConnection }
            throw V1Error(refusal.error)
        }
    }
}

extension Answer {
    /// An answer of `/v1`.
    ///
    /// - Parameter isHead: whether only its head is sent.
    init(_ answer: V1Answer, isHead: Bool) {
        let status = HTTPResponse.Status(code: answer.status)
        switch answer.body {
        case .bytes(let bytes):
            self.init(status, contentType: answer.contentType, body: ByteBuffer(bytes: bytes))
            // The length stays: it says what GET would have returned (RFC 9110 §9.3.2).
            if isHead { body.clear() }
        case .stream(let stream):
            self.init(status, contentType: answer.contentType, body: ByteBuffer())
            // Its length is not known, so its parts are chunks.
            headers[.contentLength] = nil
            if !isHead { self.stream = stream }
        }
        headers[.accessControlExposeHeaders] =
            "ETag, Location, Retry-After, Idempotent-Replayed, Accept-Ranges, Content-Range, Content-Disposition"
        for field in answer.headers { headers[field.name] = field.value }
    }

    /// The answer to a preflight on `/v1`.
    ///
    /// - Parameter methods: what is possible at the path; empty: nothing.
    fileprivate static func v1Options(_ methods: [HTTPRequest.Method]) -> Answer {
        var answer = Answer.options(nil)
        let implied: [HTTPRequest.Method] = methods.contains(.get) ? [.head, .options] : [.options]
        if !methods.isEmpty { answer.headers[.allow] = (methods + implied).map(\.rawValue).joined(separator: ", ") }
        answer.headers[.accessControlAllowMethods] = "GET, POST, PUT, PATCH, DELETE"
        answer.headers[.accessControlAllowHeaders] =
            "Authorization, Content-Type, Accept, Idempotency-Key, If-Match, If-Range, Last-Event-ID, Range, X-Requested-With"
        return answer
    }
}
