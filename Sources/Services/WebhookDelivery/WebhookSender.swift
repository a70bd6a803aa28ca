import CallControl
import CallRuntime
import Cryptography
import EventAPI
import Foundation
import HTTPClient
import Primitives

/// Sends events to webhooks, signed (Standard Webhooks 1.0.0).
final class WebhookSender: Sendable {
    private let client: HTTPClient
    private let configuration: WebhookConfiguration
    private let clock: any RuntimeClock

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
        // each other.
        limits.connectionsPerHost = 64
        limits.requestsInFlightPerHost = 1_000
        client = try HTTPClient(name: "webhooks", configuration: limits)
    }

    /// Sends an event, and waits for what becomes of it.
    ///
    /// - Parameter name: the name of the event, the same for each attempt.
    /// - Returns: what has become of it, and whether the receiver wants no more events.
    func send(
        _ content: [UInt8], named name: String, to webhook: Webhook
    ) async -> (outcome: WebhookQueue.Outcome, isGone: Bool) {
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
            return (
                WebhookSignature.outcome(status: response.status, after: delay),
                response.status == WebhookSignature.goneStatus
            )
        } catch {
            return (.failed(reason: error.description), false)
        }
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
