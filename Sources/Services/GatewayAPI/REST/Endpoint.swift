/// Every path that the server answers; `openapi/orbweaver.yaml` describes the same list.
package enum Endpoint: String, CaseIterable, Sendable {
    case subscriptions = "/rest/version/{version}/user/{user}/subscription"
    case subscription = "/rest/version/{version}/user/{user}/subscription/{id}"
    case channel = "/rest/version/{version}/user/{user}/websocket/{id}"
    case calls = "/rest/version/{version}/user/{user}/callControl"
    case callSessions = "/rest/version/{version}/user/{user}/callControl/callSessions"
    case call = "/rest/version/{version}/user/{user}/callControl/callSessions/{id}"
    case callMedia = "/rest/version/{version}/user/{user}/callControl/callSessions/{id}/media"
    case callStatistics = "/rest/version/{version}/user/{user}/callControl/callSessions/{id}/statistics"
    case dispositions = "/rest/version/{version}/user/{user}/calldisposition"
    case logHistory = "/rest/version/{version}/user/{user}/logHistory"
    case logRecord = "/rest/version/{version}/user/{user}/logRecord/{id}"
    case guestSubscriptions = "/rest/version/{version}/anonymous/{user}/subscription"
    case guestSubscription = "/rest/version/{version}/anonymous/{user}/subscription/{id}"
    case guestChannel = "/rest/version/{version}/anonymous/{user}/websocket/{id}"
    case guestCalls = "/rest/version/{version}/anonymous/{user}/callMe"
    case guestCall = "/rest/version/{version}/anonymous/{user}/callMe/callSessions/{id}"
    case isAlive = "/rest/version/{version}/isAlive"
    case health = "/health"
    case ready = "/ready"
    case metrics = "/metrics"
    /// The pages given to the server, such as the demo: every other path outside `/rest` and `/notification`.
    case page = "/"

    /// The path, with `{version}`, `{user}` and `{id}` in place of the segments that vary.
    package var template: String { rawValue }

    /// How errors of this resource are wrapped (spidr-wire §1.5).
    package var errorWrapper: ErrorWrapper {
        switch self {
        case .subscriptions, .subscription, .guestSubscriptions, .guestSubscription: .subscribe
        case .calls, .callSessions, .call: .callControl
        case .guestCalls, .guestCall: .callMe
        case .callMedia: .media
        case .callStatistics: .statistics
        case .logHistory: .logHistory
        case .logRecord: .logRecord
        case .dispositions: .callDisposition
        case .channel, .guestChannel, .isAlive, .health, .ready, .metrics, .page: .none
        }
    }

    /// How an error of this kind is wrapped: guests are refused in `authorizationResponse`, as their clients expect it; but where a
    /// subscription is extended or deleted, clients read `subscribeResponse` without looking (spidr-wire §1.5).
    package func errorWrapper(of error: APIError) -> ErrorWrapper {
        let isGuests = self == .guestSubscriptions || self == .guestCalls || self == .guestCall
        return isGuests && [403, 429].contains(error.code.httpStatus) ? .authorization : errorWrapper
    }
}
