import Primitives

/// A refusal in `application/problem+json` (RFC 9457), with additional members of this gateway: `code`, `retryAfter`
/// and `line`.
///
/// `type` says that the problem means no more than the HTTP status. Programs tell problems apart by `code`, as in all
/// other refusals.
package struct ProblemBody: Hashable, Sendable, Codable {
    /// Always `about:blank` (RFC 9457 §4.2.1).
    package let type: String
    /// The reason phrase of the status; `nil` for a status that neither RFC 9110 nor RFC 6585 names.
    package let title: String?
    /// The HTTP status of the answer.
    package let status: Int
    /// ``APIError/reason``: a sentence for people.
    package let detail: String
    /// The name of the ``ErrorCode``.
    package let code: String
    /// Milliseconds, at least one; the same time as in the header `Retry-After`. `nil`: waiting does not help.
    package let retryAfter: Int64?
    /// The line of the body that is wrong, from 1. `nil`: not a matter of lines.
    package var line: Int?

    /// Makes the problem of a refusal. The state of a call is not part of it.
    package init(_ error: APIError) {
        type = "about:blank"
        status = error.code.httpStatus
        title = Self.phrase(of: status)
        detail = error.reason
        code = error.code.rawValue
        retryAfter = error.retryAfterMilliseconds
    }

    /// Makes the problem of an interface with codes of its own; each parameter is the property of that name, but
    /// `retryAfter` is a duration here.
    package init(status: Int, code: String, detail: String, retryAfter: Duration?, line: Int?) {
        type = "about:blank"
        title = Self.phrase(of: status)
        self.status = status
        self.detail = detail
        self.code = code
        self.retryAfter = retryAfter.map { max(1, ($0.wholeNanoseconds + 999_999) / 1_000_000) }
        self.line = line
    }

    /// The reason phrase of a status: RFC 9110 §15, and RFC 6585 for 429 and 431.
    private static func phrase(of status: Int) -> String? {
        switch status {
        case 400: "Bad Request"
        case 401: "Unauthorized"
        case 403: "Forbidden"
        case 404: "Not Found"
        case 405: "Method Not Allowed"
        case 408: "Request Timeout"
        case 409: "Conflict"
        case 413: "Content Too Large"
        case 415: "Unsupported Media Type"
        case 422: "Unprocessable Content"
        case 426: "Upgrade Required"
        case 429: "Too Many Requests"
        case 431: "Request Header Fields Too Large"
        case 501: "Not Implemented"
        case 503: "Service Unavailable"
        default: nil
        }
    }
}
