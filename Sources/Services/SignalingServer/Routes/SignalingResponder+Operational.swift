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
    func answer(_ request: Request, _ resource: OperationalResource) async throws(Refusal) -> Answer {
        switch resource {
        case .alive:
            return .text(.ok, #"{"status":"alive"}"#, contentType: "application/json")
        case .localization:
            let languages = LocalizationResponse(acceptLanguage: request.headers[.acceptLanguage])
            return .json(.ok, WireJSON.encode(languages))
        case .ready:
            return await readiness()
        case .metrics where hidesMetrics:
            throw Refusal(APIError(.resourceNotFound, "Metrics are at the port without TLS."), in: .problem)
        case .metrics:
            return .text(.ok, metrics.render(), contentType: GatewayMetrics.contentType)
        case .page:
            guard let page = pages[request.uri.path] else {
                throw Refusal(APIError(.resourceNotFound, "There is nothing at this path."), in: .problem)
            }
            return Answer(.ok, contentType: page.contentType, body: page.bytes)
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
