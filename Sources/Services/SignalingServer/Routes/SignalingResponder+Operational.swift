import GatewayAPI
import HTTPTypes
import HummingbirdCore
package import NIOCore
import Observability

/// A page or script that is served unchanged.
package struct Page: Sendable {
    /// The media type, for the header `Content-Type`.
    package var contentType: String
    /// The body.
    package var bytes: ByteBuffer

    /// Makes a page of its parts.
    package init(contentType: String, bytes: [UInt8]) {
        self.contentType = contentType
        self.bytes = ByteBuffer(bytes: bytes)
    }
}

/// Resources for operators, load balancers and browsers, which need no credentials.
extension SignalingResponder {
    func operationalAnswer(_ request: Request, _ route: Route) async throws(Refusal) -> Answer {
        switch route.endpoint {
        case .isAlive, .health:
            return .text(.ok, #"{"status":"alive"}"#, contentType: "application/json")
        case .ready:
            return await readiness()
        case .metrics where hidesMetrics:
            throw Refusal(APIError(.resourceNotFound, "Metrics are at the port without TLS."), in: .none)
        case .metrics:
            return .text(.ok, metrics.render(), contentType: GatewayMetrics.contentType)
        case .page:
            guard let page = pages[request.uri.path] else {
                throw Refusal(APIError(.resourceNotFound, "There is nothing at this path."), in: .none)
            }
            return Answer(.ok, contentType: page.contentType, body: page.bytes)
        case .subscriptions, .subscription, .channel, .calls, .callSessions, .call, .callMedia, .callStatistics,
            .dispositions, .logHistory,
            .logRecord, .guestSubscriptions, .guestSubscription, .guestChannel, .guestCalls, .guestCall:
            preconditionFailure("resources of users and guests are answered elsewhere")
        }
    }

    private func readiness() async -> Answer {
        if draining.isAnnounced {
            return .text(.serviceUnavailable, #"{"status":"draining"}"#, contentType: "application/json")
        }
        guard await users?.areReadable() ?? true else {
            return .text(
                .serviceUnavailable, #"{"status":"unavailable","reason":"the user database cannot be read"}"#,
                contentType: "application/json")
        }
        return .text(.ok, #"{"status":"ready"}"#, contentType: "application/json")
    }
}
