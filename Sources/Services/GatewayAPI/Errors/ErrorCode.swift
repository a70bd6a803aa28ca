/// Every reason for which this interface refuses a request, named for programs.
///
/// A code keeps its meaning for ever and is never reused. `docs/errors.md` and `openapi/orbweaver.yaml` list the same
/// codes; a contract test compares the three.
package enum ErrorCode: String, CaseIterable, Sendable {
    // The request itself
    case requestMalformed = "request.malformed"
    case requestHeadersTooLarge = "request.headers_too_large"
    case requestBodyTooLarge = "request.body_too_large"
    case requestBodyMissing = "request.body_missing"
    case requestUnsupportedMediaType = "request.unsupported_media_type"
    case requestUnsupportedTransferCoding = "request.unsupported_transfer_coding"
    case requestTimedOut = "request.timed_out"
    case requestMalformedJSON = "request.malformed_json"
    case requestMissingField = "request.missing_field"
    case requestInvalidValue = "request.invalid_value"
    case requestMalformedVersion = "request.malformed_version"
    case requestUnsupportedVersion = "request.unsupported_version"

    // The resource
    case resourceNotFound = "resource.not_found"
    case resourceMethodNotAllowed = "resource.method_not_allowed"

    // Credentials, and what a guest may do
    case authMissing = "auth.missing"
    case authMalformed = "auth.malformed"
    case authUnsupportedScheme = "auth.unsupported_scheme"
    case authWrongPassword = "auth.wrong_password"
    case authRateLimited = "auth.rate_limited"
    case authWrongUser = "auth.wrong_user"
    case authBusy = "auth.busy"
    case authUnavailable = "auth.unavailable"
    case anonymousNotOffered = "anonymous.not_offered"
    case anonymousInvalidToken = "anonymous.invalid_token"
    case anonymousUnknownRealm = "anonymous.unknown_realm"
    case anonymousTokenExpired = "anonymous.token_expired"
    case anonymousNotAllowed = "anonymous.not_allowed"
    case anonymousRateLimited = "anonymous.rate_limited"
    case anonymousLimitReached = "anonymous.limit_reached"

    // Subscriptions and their channels
    case subscriptionNotFound = "subscription.not_found"
    case subscriptionUnsupportedServices = "subscription.unsupported_services"
    case subscriptionLimitReached = "subscription.limit_reached"
    case subscriptionUnsupportedNotificationType = "subscription.unsupported_notification_type"
    case subscriptionInvalidExpiry = "subscription.invalid_expiry"
    case channelNotFound = "channel.not_found"
    case channelUpgradeRequired = "channel.upgrade_required"

    // Calls
    case callNotFound = "call.not_found"
    case callSessionNotFound = "call.session_not_found"
    case callAlreadyAnswered = "call.already_answered"
    case callNotAllowed = "call.not_allowed"
    case callPending = "call.request_pending"
    case callUnreachable = "call.unreachable"
    case callMalformedSDP = "call.malformed_sdp"
    case callUnsupportedSDP = "call.unsupported_sdp"
    case callOperationNotSupported = "call.operation_not_supported"
    case callOperationUnknown = "call.operation_unknown"
    case callLimitReached = "call.limit_reached"
    case callUserLimitReached = "call.user_limit_reached"
    case callRateLimited = "call.rate_limited"
    case mediaUnplayable = "media.unplayable"
    case mediaDigitsWaiting = "media.keys_waiting"
    case logRecordNotFound = "log.record_not_found"

    // The gateway
    case serviceDraining = "service.draining"
    case serviceUnavailable = "service.unavailable"
    case serviceNotProvided = "service.not_provided"
}

extension ErrorCode {
    /// The HTTP status of the answer (spidr-wire §1.4).
    package var httpStatus: Int { meaning.http }

    /// `statusCode` in the body (spidr-wire §1.6).
    package var statusCode: Int { meaning.status }

    private var meaning: (http: Int, status: Int) {
        switch self {
        case .requestMalformed: (400, 38)
        case .requestHeadersTooLarge: (431, 38)
        case .requestBodyTooLarge: (413, 38)
        case .requestBodyMissing: (400, 5)
        case .requestUnsupportedMediaType: (415, 38)
        case .requestUnsupportedTransferCoding: (501, 38)
        case .requestTimedOut: (408, 38)
        case .requestMalformedJSON: (400, 1004)
        case .requestMissingField: (400, 5)
        case .requestInvalidValue: (400, 37)
        case .requestMalformedVersion: (400, 8)
        case .requestUnsupportedVersion: (400, 30)
        case .resourceNotFound: (404, 18)
        case .resourceMethodNotAllowed: (405, 18)
        case .authMissing, .authMalformed, .authUnsupportedScheme: (401, 4)
        case .authWrongPassword: (403, 4)
        case .authRateLimited: (429, 4)
        case .authWrongUser: (403, 27)
        case .authBusy, .authUnavailable: (503, 503)
        case .anonymousNotOffered: (403, 35)
        case .anonymousInvalidToken: (403, 46)
        case .anonymousUnknownRealm: (403, 64)
        case .anonymousTokenExpired: (403, 65)
        case .anonymousNotAllowed: (403, 27)
        case .anonymousRateLimited: (429, 4)
        case .anonymousLimitReached: (503, 503)
        case .subscriptionNotFound: (404, 39)
        case .subscriptionUnsupportedServices: (403, 35)
        case .subscriptionLimitReached: (403, 19)
        case .subscriptionUnsupportedNotificationType: (400, 12)
        case .subscriptionInvalidExpiry: (400, 15)
        case .channelNotFound: (404, 39)
        case .channelUpgradeRequired: (426, 38)
        case .callNotFound: (404, 42)
        case .callSessionNotFound: (404, 47)
        case .callAlreadyAnswered, .callNotAllowed: (409, 37)
        case .callPending: (491, 491)
        case .callUnreachable: (404, 10)
        case .callMalformedSDP: (400, 16)
        case .callUnsupportedSDP: (400, 37)
        case .callOperationNotSupported: (403, 35)
        case .callOperationUnknown: (400, 37)
        case .callLimitReached: (503, 503)
        case .callUserLimitReached, .callRateLimited: (429, 19)
        case .mediaUnplayable: (404, 18)
        case .mediaDigitsWaiting: (429, 37)
        case .logRecordNotFound: (404, 42)
        case .serviceDraining, .serviceUnavailable: (503, 503)
        case .serviceNotProvided: (403, 35)
        }
    }
}
