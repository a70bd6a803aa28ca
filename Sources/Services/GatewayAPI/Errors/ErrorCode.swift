/// Every reason for which this interface refuses a request, named for programs.
///
/// A code keeps its meaning for ever and is never reused. `docs/errors.md` and `openapi/orbweaver.yaml` list the same
/// codes; a contract test compares the three.
package enum ErrorCode: String, CaseIterable, Sendable {
    // The request itself
    /// The request is not well-formed HTTP, has no `Host` or two, or has a broken escape in its path.
    case requestMalformed = "request.malformed"
    /// The head of the request is too large.
    case requestHeadersTooLarge = "request.headers_too_large"
    /// The body is larger than the configured limit.
    case requestBodyTooLarge = "request.body_too_large"
    /// The request needs a JSON body and has none.
    case requestBodyMissing = "request.body_missing"
    /// The `Content-Type` of the request is not JSON.
    case requestUnsupportedMediaType = "request.unsupported_media_type"
    /// The `Transfer-Encoding` of the body is not `chunked`.
    case requestUnsupportedTransferCoding = "request.unsupported_transfer_coding"
    /// The request did not arrive in time.
    case requestTimedOut = "request.timed_out"
    /// The body is not JSON.
    case requestMalformedJSON = "request.malformed_json"
    /// A field is missing; the reason names it.
    case requestMissingField = "request.missing_field"
    /// A field has the wrong type or a value that cannot be used; the reason names it.
    case requestInvalidValue = "request.invalid_value"
    /// The version in the path is not a number (spidr-wire §1.1).
    case requestMalformedVersion = "request.malformed_version"
    /// The version in the path is not 1 (spidr-wire §1.1).
    case requestUnsupportedVersion = "request.unsupported_version"

    // The resource
    /// There is nothing at this path.
    case resourceNotFound = "resource.not_found"
    /// The path exists, but not with this method. The header `Allow` has the methods (RFC 9110 §15.5.6).
    case resourceMethodNotAllowed = "resource.method_not_allowed"

    // Credentials, and what a guest may do
    /// The request has no `Authorization` header (spidr-wire §2).
    case authMissing = "auth.missing"
    /// The `Authorization` header is not base64 of `user:password` in UTF-8 (RFC 7617).
    case authMalformed = "auth.malformed"
    /// The scheme of the `Authorization` header is not `Basic`, nor `Bearer` where that is offered.
    case authUnsupportedScheme = "auth.unsupported_scheme"
    /// The user name or the password is wrong. The answer does not say which.
    case authWrongPassword = "auth.wrong_password"
    /// The bearer token is not accepted; the reason says why.
    case authInvalidToken = "auth.invalid_token"
    /// The bearer token has expired (spidr-wire §2).
    case authTokenExpired = "auth.token_expired"
    /// The signature of a request for a token is not that of the application in the path (spidr-wire §2).
    case authWrongSignature = "auth.wrong_signature"
    /// The application has no such user in its domain (spidr-wire §2).
    case authUnknownSubscriber = "auth.unknown_subscriber"
    /// There is no such application token of this user, or it was used before (spidr-wire §2).
    case authTokenNotFound = "auth.token_not_found"
    /// The session in `x-session` has ended, or never existed (spidr-wire §2).
    case authSessionEnded = "auth.session_ended"
    /// Too many wrong passwords for this account, from this network, or for both together.
    case authRateLimited = "auth.rate_limited"
    /// The credentials are right, but the path names another user.
    case authWrongUser = "auth.wrong_user"
    /// More logins wait than can be checked at once. The answer says when it is the turn of the client.
    case authBusy = "auth.busy"
    /// The user database cannot be read now.
    case authUnavailable = "auth.unavailable"
    /// This gateway does not offer calls of guests.
    case anonymousNotOffered = "anonymous.not_offered"
    /// A callMe token (in the path, `from` or `to`) is not a token of the realm (spidr-wire §7).
    case anonymousInvalidToken = "anonymous.invalid_token"
    /// The query `tokenrealm` is missing, or names no realm of this gateway (spidr-wire §7).
    case anonymousUnknownRealm = "anonymous.unknown_realm"
    /// The time in the token is too far from the gateway's (spidr-wire §7).
    case anonymousTokenExpired = "anonymous.token_expired"
    /// The operation is not for guests: they call one account, and neither transfer nor join.
    case anonymousNotAllowed = "anonymous.not_allowed"
    /// Too many subscriptions, calls, wrong tokens or guests from this network.
    case anonymousRateLimited = "anonymous.rate_limited"
    /// The gateway has as many guests as it takes, in all or for this account.
    case anonymousLimitReached = "anonymous.limit_reached"

    // Subscriptions and their channels
    /// The subscription has ended or never existed.
    case subscriptionNotFound = "subscription.not_found"
    /// The gateway offers none of the requested services (spidr-wire §3.1).
    case subscriptionUnsupportedServices = "subscription.unsupported_services"
    /// The user has as many subscriptions as allowed.
    case subscriptionLimitReached = "subscription.limit_reached"
    /// Too many subscriptions from this network, in a short time or at a time.
    case subscriptionRateLimited = "subscription.rate_limited"
    /// `notificationType` is not `WebSocket` (spidr-wire §3.1).
    case subscriptionUnsupportedNotificationType = "subscription.unsupported_notification_type"
    /// `expires` is not a positive number of seconds (spidr-wire §3.1).
    case subscriptionInvalidExpiry = "subscription.invalid_expiry"
    /// The subscription of the channel has ended or never existed.
    case channelNotFound = "channel.not_found"
    /// The same for a long poll, whose clients look for this status (spidr-wire §4.5).
    case channelGone = "channel.gone"
    /// The request for a channel is not a WebSocket upgrade, or not the first request on its connection.
    case channelUpgradeRequired = "channel.upgrade_required"

    // Calls
    /// The call has ended or never existed.
    case callNotFound = "call.not_found"
    /// The same as ``callNotFound``, in the answer to a state query (spidr-wire §6.8).
    case callSessionNotFound = "call.session_not_found"
    /// Another device of the user has answered the call.
    case callAlreadyAnswered = "call.already_answered"
    /// The operation does not fit the state of the call.
    case callNotAllowed = "call.not_allowed"
    /// A transfer of the call is under way, or another offer is open (spidr-wire §8.9).
    case callPending = "call.request_pending"
    /// No device can be rung at the address to which the call was to be forwarded (spidr-wire §6.4), or to which a
    /// click-to-call was to go (§10).
    case callUnreachable = "call.unreachable"
    /// The description cannot be read; the reason names the line.
    case callMalformedSDP = "call.malformed_sdp"
    /// The description needs something that the gateway does not do, or offers no usable media.
    case callUnsupportedSDP = "call.unsupported_sdp"
    /// The protocol has this operation, but the gateway does not, or not for a call like this.
    case callOperationNotSupported = "call.operation_not_supported"
    /// No such operation, or one of another resource.
    case callOperationUnknown = "call.operation_unknown"
    /// The gateway has as many calls as it takes.
    case callLimitReached = "call.limit_reached"
    /// The user has as many calls as one user may have at a time (`calls.max_per_user`).
    case callUserLimitReached = "call.user_limit_reached"
    /// The user has started, transferred or forwarded too many calls in a short time (`calls.starts_per_user`).
    case callRateLimited = "call.rate_limited"
    /// There is no such file in the media folder, or it cannot be played; the reason says why.
    case mediaUnplayable = "media.unplayable"
    /// More DTMF digits than 128 would wait to be sent on this leg.
    case mediaDigitsWaiting = "media.keys_waiting"
    /// The call log has no such record: the call goes on, or the record was deleted or dropped for its age.
    case logRecordNotFound = "log.record_not_found"

    // Messages, presence, events
    /// There is no user of the address that the message is for.
    case messageUnknownReceiver = "message.unknown_receiver"
    /// The receiver is away, and as many messages are kept as may be, in all or of this sender.
    case messageInboxFull = "message.inbox_full"
    /// The text of the message is longer than the configured limit (`messages.max_length`).
    case messageTooLong = "message.too_long"
    /// The user has sent too many messages in a short time, or changed the presence too often (`messages.per_user`).
    case messageRateLimited = "message.rate_limited"
    /// The user has no subscription, and so no presence but `closed`.
    case presenceNotSubscribed = "presence.not_subscribed"
    /// The user may not watch this: a user of another domain, or the voice mail of another user.
    case watchNotAllowed = "watch.not_allowed"
    /// The user watches as many users, or has as many subscriptions to events, as allowed.
    case watchLimitReached = "watch.limit_reached"
    /// There are no events of this type (RFC 6665 §8.3.2).
    case eventUnknownPackage = "event.unknown_package"
    /// The subscription to events has ended or never existed.
    case eventNotFound = "event.not_found"
    // Address books
    /// The address book has no entry of this nickname.
    case contactNotFound = "contact.not_found"
    /// The address book has an entry of this nickname already, or the request has two.
    case contactExists = "contact.exists"
    /// The address book has as many entries as it takes (`storage.address_book_entries`).
    case contactLimitReached = "contact.limit_reached"
    /// The user has no route of this name.
    case routeNotFound = "route.not_found"
    /// The user has no such registration for push (spidr-wire §11.1).
    case pushNotFound = "push.not_found"

    // The gateway
    /// The gateway is stopping and takes no new work.
    case serviceDraining = "service.draining"
    /// The stored data of users cannot be read now.
    case serviceUnavailable = "service.unavailable"
    /// The protocol has this service, but the gateway does not (spidr-wire §9–§11).
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
        case .authMissing, .authMalformed, .authUnsupportedScheme, .authInvalidToken: (401, 4)
        case .authTokenExpired, .authSessionEnded: (403, 65)
        case .authWrongPassword, .authWrongSignature: (403, 4)
        case .authUnknownSubscriber: (404, 10)
        case .authTokenNotFound: (403, 46)
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
        case .subscriptionRateLimited: (429, 19)
        case .subscriptionUnsupportedNotificationType: (400, 12)
        case .subscriptionInvalidExpiry: (400, 15)
        case .channelNotFound: (404, 39)
        case .channelGone: (410, 23)
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
        case .messageUnknownReceiver: (404, 10)
        case .messageInboxFull: (409, 51)
        case .messageTooLong: (413, 37)
        case .messageRateLimited, .watchLimitReached: (429, 19)
        case .presenceNotSubscribed: (409, 40)
        case .watchNotAllowed: (403, 37)
        case .eventUnknownPackage: (489, 12)
        case .eventNotFound: (404, 42)
        case .contactNotFound, .routeNotFound, .pushNotFound: (404, 42)
        case .contactExists, .contactLimitReached: (409, 37)
        case .serviceDraining, .serviceUnavailable: (503, 503)
        case .serviceNotProvided: (403, 35)
        }
    }
}
