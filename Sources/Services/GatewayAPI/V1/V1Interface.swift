package import HTTPTypes
package import Primitives

/// What answers the requests below `/v1/`, which the ports of clients serve. Who makes a request is known before it
/// gets here.
package protocol V1Interface: Sendable {
    /// The methods that are possible at a path, for preflights of browsers; none if nothing is there.
    func methods(at path: String) -> [HTTPRequest.Method]
    /// Answers a request, refusals included. `HEAD` comes as `GET`.
    func answer(_ request: V1Request) async -> V1Answer
    /// Ends all streams, since the gateway stops.
    func finish()
}

/// A request below `/v1/`, as the server has read its head.
package struct V1Request: Sendable {
    /// The method.
    package var method: HTTPRequest.Method
    /// The path without the query.
    package var path: String
    /// The text behind the question mark; `nil`: none.
    package var query: String?
    /// The headers.
    package var headers: HTTPFields
    /// Who makes it.
    package var principal: V1Principal
    /// Where it comes from; `nil`: not known.
    package var network: SourceNetwork?
    /// Reads the body; called at most once.
    package var body: BodyReader

    /// Reads the body of a request; fails with what is wrong with it.
    package typealias BodyReader = @Sendable () async throws(V1Error) -> [UInt8]

    /// Makes a request of its parts; each parameter is the property of that name.
    package init(
        method: HTTPRequest.Method, path: String, query: String? = nil, headers: HTTPFields = [:],
        principal: V1Principal, network: SourceNetwork? = nil, body: @escaping BodyReader
    ) {
        self.method = method
        self.path = path
        self.query = query
        self.headers = headers
        self.principal = principal
        self.network = network
        self.body = body
    }
}

/// The answer to a request below `/v1/`.
package struct V1Answer: Sendable {
    /// What the body is.
    package enum Body: Sendable {
        /// Bytes, which are all there.
        case bytes([UInt8])
        /// Bytes that come as they are made, until the stream ends or the client has gone.
        case stream(AsyncStream<[UInt8]>)
    }

    /// The HTTP status.
    package var status: Int
    /// The media type of the body.
    package var contentType: String
    /// The body.
    package var body: Body
    /// Further headers.
    package var headers: HTTPFields

    /// Makes an answer of its parts; each parameter is the property of that name.
    package init(_ status: Int, contentType: String, _ body: Body, headers: HTTPFields = [:]) {
        self.status = status
        self.contentType = contentType
        self.body = body
        self.headers = headers
    }

    /// An answer with a JSON body.
    package static func json(_ value: some Encodable, status: Int = 200, headers: HTTPFields = [:]) -> V1Answer {
        V1Answer(status, contentType: "application/json", .bytes(WireJSON.encode(value)), headers: headers)
    }

    /// The refusal of a request.
    ///
    /// - Parameter allow: the methods that are possible, for a refusal of the method.
    package static func refusal(_ error: V1Error, allow: String? = nil) -> V1Answer {
        var answer = V1Answer(
            error.code.httpStatus, contentType: "application/problem+json", .bytes(error.body))
        if let seconds = error.retryAfterSeconds { answer.headers[.retryAfter] = String(seconds) }
        if let call = error.call { answer.headers[.eTag] = call.entityTag }
        // The headers that an answer of this status must have (RFC 9110 §15.5, RFC 6750 §3).
        switch error.code.httpStatus {
        case 401:
            answer.headers[.wwwAuthenticate] =
                error.code == .authMissing
                ? #"Bearer realm="orbweaver""# : #"Bearer realm="orbweaver", error="invalid_token""#
        case 405: answer.headers[.allow] = allow
        case 426: (answer.headers[.upgrade], answer.headers[.connection]) = ("websocket", "upgrade")
        default: break
        }
        return answer
    }
}
