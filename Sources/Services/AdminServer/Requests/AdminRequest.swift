package import HTTPTypes

/// A request as the shell has read it from a connection.
package struct AdminRequest: Sendable {
    /// The method.
    package var method: HTTPRequest.Method
    /// The path without the query.
    package var path: String
    /// The text behind the question mark; `nil`: none.
    package var query: String?
    /// The headers.
    package var headers: HTTPFields
    /// Where it comes from.
    package var peer: AdminPeer
    /// Reads the body; called at most once, and only if the caller may make the request.
    package var body: BodyReader

    /// Reads the body of a request; fails with what is wrong with it.
    package typealias BodyReader = @Sendable () async throws(AdminError) -> [UInt8]

    /// Makes a request of its parts; each parameter is the property of that name.
    package init(
        method: HTTPRequest.Method, path: String, query: String?, headers: HTTPFields, peer: AdminPeer,
        body: @escaping BodyReader
    ) {
        self.method = method
        self.path = path
        self.query = query
        self.headers = headers
        self.peer = peer
        self.body = body
    }
}

/// The answer to a request.
package struct AdminAnswer: Sendable {
    /// What the body is.
    package enum Body: Sendable {
        /// Bytes, which are all there.
        case bytes([UInt8])
        /// Bytes that come as they are made, until the stream or the connection ends.
        case stream(AsyncStream<[UInt8]>)
    }

    /// The HTTP status.
    package var status: Int
    /// The media type of the body.
    package var contentType: String
    /// The body.
    package var body: Body
    /// Further headers.
    package var headers: HTTPFields = [:]

    /// Makes an answer of its parts; each parameter is the property of that name.
    package init(_ status: Int, contentType: String, _ body: Body) {
        self.status = status
        self.contentType = contentType
        self.body = body
    }

    /// An answer with a JSON body.
    static func json(_ value: some Encodable, status: Int = 200) -> AdminAnswer {
        AdminAnswer(status, contentType: "application/json", .bytes(AdminJSON.encode(value)))
    }

    /// The refusal of a request.
    static func refusal(_ error: AdminError, allow: String? = nil) -> AdminAnswer {
        var answer = AdminAnswer(error.code.httpStatus, contentType: "application/problem+json", .bytes(error.body))
        if let seconds = error.retryAfterSeconds { answer.headers[.retryAfter] = String(seconds) }
        // The headers that an answer of this status must have (RFC 9110 §15.5, RFC 6750 §3).
        switch error.code.httpStatus {
        case 401:
            answer.headers[.wwwAuthenticate] =
                error.code == .authMissing
                ? #"Bearer realm="orbweaver administration""#
                : #"Bearer realm="orbweaver administration", error="invalid_token""#
        case 405: answer.headers[.allow] = allow
        default: break
        }
        return answer
    }
}
