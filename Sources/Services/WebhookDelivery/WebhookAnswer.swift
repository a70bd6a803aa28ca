import EventAPI
import HTTPClient

/// What has become of an attempt to send an event.
struct WebhookAnswer: Sendable {
    /// What came with an answer that takes the event.
    enum Content: Sendable {
        /// Nothing, or what is no JSON.
        case nothing
        /// JSON, by its media type.
        case json([UInt8])
        /// JSON that is longer than is accepted.
        case tooLong
    }

    /// Whether the receiver has taken it.
    let outcome: WebhookQueue.Outcome
    /// The receiver wants no more events.
    let isGone: Bool
    let content: Content

    /// - Parameter result: the response, or why there is none.
    init(_ result: Result<HTTPResponse, HTTPFailure>) {
        switch result {
        case .success(let response):
            let delay = response.value(of: "retry-after").flatMap { UInt32($0) }.map { Duration.seconds(Int64($0)) }
            outcome = WebhookSignature.outcome(status: response.status, after: delay)
            isGone = response.status == WebhookSignature.goneStatus
            content = outcome == .delivered ? Self.content(of: response) : .nothing
        case .failure(let failure):
            outcome = .unanswered(reason: failure.description)
            isGone = false
            content = .nothing
        }
    }

    private static func content(of response: HTTPResponse) -> Content {
        let type = response.value(of: "content-type")?.lowercased() ?? ""
        guard type.prefix(while: { $0 != ";" && $0 != " " }) == "application/json" else { return .nothing }
        if response.isCut { return .tooLong }
        return response.content.isEmpty ? .nothing : .json(response.content)
    }
}
