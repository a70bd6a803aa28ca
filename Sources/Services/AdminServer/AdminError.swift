package import CallRuntime
import GatewayAPI

/// A refusal: a problem (RFC 9457) with a code for programs.
package struct AdminError: Error, Equatable, Sendable {
    /// What was refused and why, for programs.
    package var code: AdminErrorCode
    /// A sentence for people that says what is wrong.
    package var detail: String
    /// How long the caller waits before the request can succeed; `nil`: waiting does not help.
    package var retryAfter: Duration?
    /// The line of the body that is wrong, from 1; `nil`: not a matter of lines.
    package var line: Int?

    /// Makes a refusal of its parts; each parameter is the property of that name.
    package init(_ code: AdminErrorCode, _ detail: String, retryAfter: Duration? = nil, line: Int? = nil) {
        self.code = code
        self.detail = detail
        self.retryAfter = retryAfter
        self.line = line
    }

    /// The refusal for what the store says.
    package init(_ error: StorageError) {
        switch error {
        case .userExists: self.init(.userExists, "\(error).")
        case .noSuchUser(let address): self.init(.userNotFound, "There is no user \(address).")
        case .authNameTaken(let name): self.init(.authNameTaken, "Another user logs in as \(name).")
        case .applicationExists(let name):
            self.init(.applicationExists, "There is an application named \(name) already.")
        case .noSuchApplication(let name): self.init(.applicationNotFound, "There is no application named \(name).")
        case .applicationAddressTaken(let address, let name):
            self.init(.applicationAddressTaken, "\(address) is an address of the application \(name).")
        case .failed(let sentence): self.init(.serviceUnavailable, "\(sentence).", retryAfter: .seconds(5))
        }
    }

    /// The body of the answer.
    package var body: [UInt8] {
        WireJSON.encode(
            ProblemBody(
                status: code.httpStatus, code: code.rawValue, detail: detail, retryAfter: retryAfter, line: line))
    }

    /// ``retryAfter`` for the `Retry-After` header: whole seconds, rounded up, at least one.
    package var retryAfterSeconds: Int64? {
        retryAfter.map { max(1, ($0.components.attoseconds > 0 ? 1 : 0) + $0.components.seconds) }
    }
}

/// Every reason for which the administration interface refuses a request. A code keeps its meaning for ever.
/// `openapi/admin.yaml` and `docs/administration.md` list the same codes.
package enum AdminErrorCode: String, CaseIterable, Sendable {
    /// The path or the query cannot be read.
    case requestMalformed = "request.malformed"
    /// A parameter of the query is not known, or has a value that cannot be used.
    case requestInvalidParameter = "request.invalid_parameter"
    /// The body is larger than allowed.
    case requestBodyTooLarge = "request.body_too_large"
    /// The request needs a body and has none.
    case requestBodyMissing = "request.body_missing"
    /// The body is not a JSON object.
    case requestMalformedJSON = "request.malformed_json"
    /// A field of the body is missing.
    case requestMissingField = "request.missing_field"
    /// A field of the body is not known, or has a value that cannot be used.
    case requestInvalidValue = "request.invalid_value"
    /// The idempotency key is no text of 1 to 255 visible characters.
    case idempotencyKeyInvalid = "idempotency.key_invalid"
    /// The key was used for another request within the last 24 hours.
    case idempotencyKeyReused = "idempotency.key_reused"
    /// The same request is being carried out.
    case idempotencyInProgress = "idempotency.in_progress"
    /// There is nothing at this path.
    case resourceNotFound = "resource.not_found"
    /// The path exists, but not with this method.
    case resourceMethodNotAllowed = "resource.method_not_allowed"
    /// There is no token.
    case authMissing = "auth.missing"
    /// The header is not `Bearer` and a token.
    case authMalformed = "auth.malformed"
    /// The token is not known.
    case authInvalidToken = "auth.invalid_token"
    /// The token has expired.
    case authTokenExpired = "auth.token_expired"
    /// Too many wrong tokens came from this address.
    case authRateLimited = "auth.rate_limited"
    /// The role of the token does not allow this.
    case authForbidden = "auth.forbidden"
    /// There is no such user.
    case userNotFound = "user.not_found"
    /// There is a user of this address.
    case userExists = "user.exists"
    /// Another user logs in with this name.
    case authNameTaken = "user.auth_name_taken"
    /// A line of an import cannot be used; nothing was imported.
    case importLineInvalid = "import.line_invalid"
    /// There is no such subscription.
    case subscriptionNotFound = "subscription.not_found"
    /// There is no such registration for push.
    case pushNotFound = "push.not_found"
    /// There is no such call.
    case callNotFound = "call.not_found"
    /// There is no such token.
    case tokenNotFound = "token.not_found"
    /// There is a token of this name.
    case tokenExists = "token.exists"
    /// There is no such application.
    case applicationNotFound = "application.not_found"
    /// There is an application of this name.
    case applicationExists = "application.exists"
    /// Another application has this address.
    case applicationAddressTaken = "application.address_taken"
    /// The application has no such key.
    case applicationKeyNotFound = "application.key_not_found"
    /// The application has as many keys as it may have.
    case applicationKeyLimit = "application.key_limit"
    /// The application has no such webhook.
    case webhookNotFound = "webhook.not_found"
    /// The application has as many webhooks as it may have.
    case webhookLimited = "webhook.limited"
    /// There is no drain to cancel.
    case drainNotStarted = "drain.not_started"
    /// The drain has gone too far to be cancelled, or a signal has started it.
    case drainNotCancellable = "drain.not_cancellable"
    /// The database refuses.
    case serviceUnavailable = "service.unavailable"

    /// The HTTP status of the answer.
    package var httpStatus: Int {
        switch self {
        case .requestMalformed, .requestInvalidParameter, .requestBodyMissing, .requestMalformedJSON,
            .requestMissingField, .requestInvalidValue, .idempotencyKeyInvalid, .importLineInvalid:
            400
        case .requestBodyTooLarge: 413
        case .idempotencyKeyReused: 422
        case .idempotencyInProgress, .userExists, .authNameTaken, .tokenExists, .applicationExists,
            .applicationAddressTaken, .applicationKeyLimit, .webhookLimited, .drainNotStarted, .drainNotCancellable:
            409
        case .resourceNotFound, .userNotFound, .subscriptionNotFound, .pushNotFound, .callNotFound, .tokenNotFound,
            .applicationNotFound, .applicationKeyNotFound, .webhookNotFound:
            404
        case .resourceMethodNotAllowed: 405
        case .authMissing, .authMalformed, .authInvalidToken, .authTokenExpired: 401
        case .authRateLimited: 429
        case .authForbidden: 403
        case .serviceUnavailable: 503
        }
    }
}
