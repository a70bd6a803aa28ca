package import GatewayAPI
package import HTTPTypes

extension Endpoint {
    /// The methods of the endpoint. Besides these, `OPTIONS` is answered everywhere, and `HEAD` where `GET` is.
    package var methods: [HTTPRequest.Method] {
        switch self {
        case .subscriptions, .guestSubscriptions, .calls, .guestCalls, .callMedia, .dispositions, .applicationTokens,
            .messages, .presence, .presenceWatcher, .eventSubscriptions, .contacts, .clickToCall:
            [.post]
        case .subscription, .guestSubscription, .eventSubscription: [.put, .delete]
        case .applePushDevices, .googlePushDevices, .webhookPushDevices: [.get, .post]
        case .applePushDevice, .googlePushDevice, .webhookPushDevice: [.get, .put, .delete]
        case .deviceSubscription: [.put]
        case .routeList: [.get, .put]
        case .call, .guestCall, .contact: [.get, .put, .delete]
        case .logHistory, .logRecord: [.get, .delete]
        case .callSessions, .callStatistics, .directory, .userProfile, .voicemail, .addressBook, .channel,
            .guestChannel, .poll, .guestPoll, .localization, .isAlive, .health, .ready, .metrics, .page:
            [.get]
        }
    }

    /// Whether the endpoint answers the method; `OPTIONS` is handled before.
    package func allows(_ method: HTTPRequest.Method) -> Bool {
        methods.contains(method == .head ? .get : method)
    }

    /// The value of the `Allow` header (RFC 9110 §10.2.1).
    package var allow: String {
        let implied: [HTTPRequest.Method] = methods.contains(.get) ? [.head, .options] : [.options]
        return (methods + implied).map(\.rawValue).joined(separator: ", ")
    }
}

extension AbsentService {
    /// The methods that clients use with the service. The answer is the same for all methods.
    package var methods: [HTTPRequest.Method] {
        switch self {
        case .imrn: [.post]
        }
    }
}
