/// Every reason for which a request on `/v1` is refused. A code keeps its meaning for ever. `openapi/v1.yaml` and
/// `docs/errors.md` list the same codes.
package enum V1ErrorCode: String, CaseIterable, Sendable {
    /// The path, the query or the body cannot be read.
    case requestMalformed = "request.malformed"
    /// A parameter of the query is not known, or has a value that cannot be used.
    case requestInvalidParameter = "request.invalid_parameter"
    /// A header has a value that cannot be used.
    case requestInvalidHeader = "request.invalid_header"
    /// The path is that of a WebSocket, which the request does not ask for.
    case requestUpgradeRequired = "request.upgrade_required"
    /// The body is larger than allowed.
    case requestBodyTooLarge = "request.body_too_large"
    /// The body is announced as another type than JSON.
    case requestUnsupportedMediaType = "request.unsupported_media_type"
    /// The request needs a body and has none.
    case requestBodyMissing = "request.body_missing"
    /// The body is not a JSON object.
    case requestMalformedJSON = "request.malformed_json"
    /// A field of the body is missing.
    case requestMissingField = "request.missing_field"
    /// A field of the body is not known, or has a value that cannot be used.
    case requestInvalidValue = "request.invalid_value"
    /// The file has none of the bytes that are asked for.
    case requestRangeNotSatisfiable = "request.range_not_satisfiable"
    /// The idempotency key is no text of 1 to 255 visible characters.
    case idempotencyKeyInvalid = "idempotency.key_invalid"
    /// The key was used for another request within the last 24 hours.
    case idempotencyKeyReused = "idempotency.key_reused"
    /// The application has as many keys as are remembered.
    case idempotencyLimited = "idempotency.limited"
    /// There is nothing at this path.
    case resourceNotFound = "resource.not_found"
    /// The path exists, but not with this method.
    case resourceMethodNotAllowed = "resource.method_not_allowed"
    /// There are no credentials.
    case authMissing = "auth.missing"
    /// The credentials cannot be read.
    case authMalformed = "auth.malformed"
    /// The credentials are of a kind that is not accepted.
    case authUnsupportedScheme = "auth.unsupported_scheme"
    /// The key or token is not known, or not signed as it must be.
    case authInvalidToken = "auth.invalid_token"
    /// The key or token has expired.
    case authTokenExpired = "auth.token_expired"
    /// The user's password is wrong, or there is no such user.
    case authWrongPassword = "auth.wrong_password"
    /// Too many wrong credentials came from this network.
    case authRateLimited = "auth.rate_limited"
    /// Whoever asks may not do this.
    case authForbidden = "auth.forbidden"
    /// Too many passwords are being checked.
    case authBusy = "auth.busy"
    /// Credentials cannot be checked at present.
    case authUnavailable = "auth.unavailable"
    /// The application has no such call.
    case callNotFound = "call.not_found"
    /// The call has another version than `If-Match` says.
    case callVersionMismatch = "call.version_mismatch"
    /// The state of the call does not allow the command.
    case callNotAllowed = "call.not_allowed"
    /// The address from which the call is to come is not one of the application.
    case callNotOwner = "call.not_owner"
    /// A limit of the application is reached.
    case callLimited = "call.limited"
    /// The application has no such recording.
    case recordingNotFound = "recording.not_found"
    /// The recording goes on.
    case recordingNotEnded = "recording.not_ended"
    /// Events behind the place are not kept any more, or it is one of another log.
    case eventsGone = "events.gone"
    /// This gateway does not have what the request asks for.
    case serviceNotProvided = "service.not_provided"
    /// The gateway cannot take the request at present.
    case serviceUnavailable = "service.unavailable"

    /// The HTTP status of the answer.
    package var httpStatus: Int {
        switch self {
        case .requestMalformed, .requestInvalidParameter, .requestInvalidHeader, .requestBodyMissing,
            .requestMalformedJSON, .requestMissingField, .requestInvalidValue, .idempotencyKeyInvalid:
            400
        case .authMissing, .authMalformed, .authUnsupportedScheme, .authInvalidToken, .authTokenExpired,
            .authWrongPassword:
            401
        case .authForbidden, .callNotOwner, .serviceNotProvided: 403
        case .resourceNotFound, .callNotFound, .recordingNotFound: 404
        case .resourceMethodNotAllowed: 405
        case .callNotAllowed, .recordingNotEnded: 409
        case .eventsGone: 410
        case .callVersionMismatch: 412
        case .requestBodyTooLarge: 413
        case .requestUnsupportedMediaType: 415
        case .requestRangeNotSatisfiable: 416
        case .idempotencyKeyReused: 422
        case .requestUpgradeRequired: 426
        case .authRateLimited, .callLimited, .idempotencyLimited: 429
        case .authBusy, .authUnavailable, .serviceUnavailable: 503
        }
    }
}
