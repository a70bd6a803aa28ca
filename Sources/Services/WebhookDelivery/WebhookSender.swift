import CallControl
import CallRuntime
import Cryptography
import EventAPI
import Foundation
import HTTPClient
import Primitives

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
    var isGone = false
    var content = Content.nothing
}

/// Sends events to webhooks, signed (Standard Webhooks 1.0.0).
final class WebhookSender: Sendable {
    private let client: HTTPClient
    private let configuration: WebhookConfiguration
    private let clock: any RuntimeClock

    /// The longest content of an answer, in bytes.
    static let largestAnswer = 65_536

    /// Starts the thread that sends.
    ///
    /// - Throws: `SocketError` if no thread can be started.
    init(_ configuration: WebhookConfiguration, clock: any RuntimeClock) throws {
        self.configuration = configuration
        self.clock = clock
        var limits = HTTPClient.Configuration()
        limits.addresses.allowed = configuration.allowedAddresses
        limits.authorityFile = configuration.authorityPath
        limits.allowsPlainHTTP = configuration.allowsPlainHTTP
        // A server without HTTP/2 answers one request at a time on a connection. Webhooks of one server do not wait for
        // each other: one that does not answer is sent one event at a time (`WebhookQueue`).
        limits.connectionsPerHost = 64
        limits.requestsInFlightPerHost = 1_000
        // What a receiver says besides its status is no reason to send an event again.
        limits.largestResponse = Self.largestAnswer
        limits.cutsContent = true
        client = try HTTPClient(name: "webhooks", configuration: limits)
    }

    /// Sends an event, and waits for what becomes of it.
    ///
    /// - Parameter name: the name of the event, the same for each attempt.
    func send(_ content: [UInt8], named name: String, to webhook: Webhook) async -> WebhookAnswer {
        let seconds = clock.epochMilliseconds / 1_000
        let signed = WebhookSignature.signedBytes(name: name, seconds: seconds, content: content)
        let codes = webhook.keys.value.compactMap(Self.key).map { key in
            Data(HMAC.sha256(key: key, signed.span)).base64EncodedString()
        }
        var fields = [
            HTTPField("content-type", "application/json"), HTTPField("user-agent", "orbweaver"),
            HTTPField("webhook-id", name), HTTPField("webhook-timestamp", String(seconds)),
            HTTPField("webhook-signature", WebhookSignature.field(codes: codes)),
        ]
        if let trace = EventBody.traceContext(in: content) {
            fields.append(HTTPField("traceparent", trace.description))
        }
        let request = HTTPRequest(.post(content), webhook.url, fields: fields, timeout: configuration.attemptTime)
        do throws(HTTPFailure) {
            let response = try await client.response(to: request)
            let delay = response.value(of: "retry-after").flatMap { UInt32($0) }.map { Duration.seconds(Int64($0)) }
            let outcome = WebhookSignature.outcome(status: response.status, after: delay)
            return WebhookAnswer(
                outcome: outcome, isGone: response.status == WebhookSignature.goneStatus,
                content: outcome == .delivered ? Self.content(of: response) : .nothing)
        } catch {
            return WebhookAnswer(outcome: .unanswered(reason: error.description))
        }
    }

    private static func content(of response: HTTPResponse) -> WebhookAnswer.Content {
        let type = response.value(of: "content-type")?.lowercased() ?? ""
        guard type.prefix(while: { $0 != ";" && $0 != " " }) == "application/json" else { return .nothing }
        if response.isCut { return .tooLong }
        return response.content.isEmpty ? .nothing : .json(response.content)
    }

    /// Gives up all requests, and ends the thread.
    func shutDown() { client.shutDown() }

    /// A key in its text form.
    static func makeKey(random: inout some RandomSource) -> String {
        WebhookSignature.keyPrefix
            + Data(random.nextBytes(WebhookSignature.keySize)).base64EncodedString()
    }

    private static func key(_ text: String) -> [UInt8]? {
        Data(base64Encoded: String(text.dropFirst(WebhookSignature.keyPrefix.count))).map(Array.init)
    }
}
