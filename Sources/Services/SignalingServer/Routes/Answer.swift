import GatewayAPI
import HTTPTypes
import NIOCore

/// The answer to a request, before it becomes HTTP parts.
struct Answer: Sendable {
    var status: HTTPResponse.Status
    var headers: HTTPFields
    var body: ByteBuffer
    /// What follows the body as it is made; `nil`: nothing, and the body is whole.
    var stream: AsyncStream<[UInt8]>?
    /// Whether the connection is closed after this answer.
    var closesConnection = false

    init(_ status: HTTPResponse.Status, contentType: String, body: ByteBuffer) {
        self.status = status
        self.body = body
        headers = Self.commonHeaders
        // Appending is cheap; the subscript would first index every field by name.
        headers.append(HTTPField(name: .contentType, value: contentType))
        headers.append(HTTPField(name: .contentLength, value: String(body.readableBytes)))
    }

    /// An answer with a JSON body. Every success has one: clients take an empty body for a failure (spidr-wire §1.3).
    static func json(_ status: HTTPResponse.Status, _ body: [UInt8]) -> Answer {
        Answer(status, contentType: "application/json", body: ByteBuffer(bytes: body))
    }

    static func text(_ status: HTTPResponse.Status, _ text: String, contentType: String = "text/plain; charset=utf-8")
        -> Answer
    {
        Answer(status, contentType: contentType, body: ByteBuffer(string: text))
    }

    /// The answer to a preflight (spidr-wire §1.2).
    ///
    /// - Parameter endpoint: `nil` if nothing is at the path. A browser learns that from the request itself.
    static func options(_ endpoint: Endpoint?) -> Answer {
        var answer = Answer(.noContent, contentType: "", body: ByteBuffer())
        answer.headers[.contentType] = nil
        // A 204 has no length (RFC 9110 §8.6).
        answer.headers[.contentLength] = nil
        answer.headers[.allow] = endpoint?.allow
        answer.headers[.accessControlAllowMethods] = "GET, POST, PUT, DELETE"
        answer.headers[.accessControlAllowHeaders] = allowedHeaders
        answer.headers[.accessControlMaxAge] = "600"
        return answer
    }

    /// The answer that refuses a request.
    ///
    /// - Parameter endpoint: `nil` if nothing is at the path.
    static func refusal(_ refusal: Refusal, at endpoint: Endpoint?) -> Answer {
        let error = refusal.error
        var answer = Answer(
            HTTPResponse.Status(code: error.code.httpStatus), contentType: refusal.form.contentType,
            body: ByteBuffer(bytes: error.encoded(in: refusal.form)))
        if let seconds = error.retryAfterSeconds { answer.headers[.retryAfter] = String(seconds) }
        // The headers that an answer of this status must have (RFC 9110 §15.5).
        switch error.code.httpStatus {
        case 401:
            answer.headers[.wwwAuthenticate] =
                error.code == .authInvalidToken
                ? #"Bearer realm="orbweaver", error="invalid_token""#  // RFC 6750 §3
                : #"Basic realm="orbweaver", charset="UTF-8""#
        case 405: answer.headers[.allow] = endpoint?.allow
        case 426:
            answer.headers[.upgrade] = "websocket"
            // RFC 6455 §4.4
            answer.headers[.secWebSocketVersion] = "13"
        default: break
        }
        if refusal.closesConnection {
            answer.closesConnection = true
            answer.headers[.connection] = "close"
        }
        return answer
    }

    /// The headers of every answer. Browser clients live on other origins. The gateway uses no cookies, so any origin
    /// may ask: credentials come in a header that only the client's own code can set.
    private static let commonHeaders: HTTPFields = [
        .accessControlAllowOrigin: "*",
        .accessControlExposeHeaders: "Retry-After",
        .cacheControl: "no-store",
        .xContentTypeOptions: "nosniff",
    ]

    private static let allowedHeaders =
        "Authorization, Content-Type, Accept, X-Requested-With, X-Cpaas-Agent, x-token, x-session"
}
