package import GatewayAPI
package import HTTPTypes

/// Everything the server answers, by path; `openapi/orbweaver.yaml` describes the same list.
package enum Endpoint: String, CaseIterable, Sendable {
    case subscriptions = "/rest/version/{version}/user/{user}/subscription"
    case subscription = "/rest/version/{version}/user/{user}/subscription/{id}"
    case channel = "/rest/version/{version}/user/{user}/websocket/{id}"
    case calls = "/rest/version/{version}/user/{user}/callControl"
    case call = "/rest/version/{version}/user/{user}/callControl/callSessions/{id}"
    case callMedia = "/rest/version/{version}/user/{user}/callControl/callSessions/{id}/media"
    case callStatistics = "/rest/version/{version}/user/{user}/callControl/callSessions/{id}/statistics"
    case dispositions = "/rest/version/{version}/user/{user}/calldisposition"
    /// Guests are not served; everything below the scope gets the same answer.
    case anonymous = "/rest/version/{version}/anonymous/{user}/{id}"
    case isAlive = "/rest/version/{version}/isAlive"
    case health = "/health"
    case ready = "/ready"
    case metrics = "/metrics"
    /// The pages given to the server, such as the demo.
    case page = "/"

    package var template: String { rawValue }

    /// Besides these, `OPTIONS` is answered everywhere, and `HEAD` where `GET` is.
    package var methods: [HTTPRequest.Method] {
        switch self {
        case .subscriptions, .calls, .callMedia, .dispositions: [.post]
        case .subscription: [.put, .delete]
        case .call: [.get, .put, .delete]
        case .callStatistics, .channel, .isAlive, .health, .ready, .metrics, .page: [.get]
        case .anonymous: [.get, .post, .put, .delete]
        }
    }

    package func allows(_ method: HTTPRequest.Method) -> Bool {
        methods.contains(method == .head ? .get : method)
    }

    /// The `Allow` header (RFC 9110 §10.2.1).
    package var allow: String {
        let implied: [HTTPRequest.Method] = methods.contains(.get) ? [.head, .options] : [.options]
        return (methods + implied).map(\.rawValue).joined(separator: ", ")
    }

    /// How errors of this resource are wrapped (spidr-wire §1.5).
    package var errorWrapper: ErrorWrapper {
        switch self {
        case .subscriptions, .subscription: .subscribe
        case .calls, .call: .callControl
        case .callMedia: .media
        case .callStatistics: .statistics
        case .dispositions: .callDisposition
        case .anonymous: .authorization
        case .channel, .isAlive, .health, .ready, .metrics, .page: .none
        }
    }
}
