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
    private let arrivals = WebhookArrivals()

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
        client = try HTTPClient(name: "webhooks", configuration: limits, handedOut: arrivals.handOut)
    }

    /// Sends deliveries together. Their worker is told what becomes of them: once for all answers that come together.
    ///
    /// - Parameter log: the name of the log, for the names of the events.
    func send(
        _ deliveries: [WebhookQueue.Delivery], of log: String, to receiver: WebhookReceiver,
        for worker: WebhookWorker
    ) {
        let requests = deliveries.map { delivery -> (request: HTTPRequest, completion: HTTPClient.Completion) in
            let name = WebhookSignature.name(of: EventCursor(log: log, number: delivery.number))
            let completion: HTTPClient.Completion = { [arrivals] result in
                arrivals.note(WebhookArrivals.Arrival(delivery: delivery, answer: WebhookAnswer(result)), for: worker)
            }
            return (request(with: delivery.content, named: name, to: receiver), completion)
        }
        client.send(requests)
    }

    /// Sends an event, and waits for what becomes of it.
    ///
    /// - Parameter name: the name of the event.
    func send(_ content: [UInt8], named name: String, to receiver: WebhookReceiver) async -> WebhookAnswer {
        do throws(HTTPFailure) {
            let response = try await client.response(to: request(with: content, named: name, to: receiver))
            return WebhookAnswer(.success(response))
        } catch {
            return WebhookAnswer(.failure(error))
        }
    }

    /// A request with an event, signed.
    ///
    /// - Parameter name: the name of the event, the same for each attempt.
    private func request(with content: [UInt8], named name: String, to receiver: WebhookReceiver) -> HTTPRequest {
        let seconds = clock.epochMilliseconds / 1_000
        let signed = WebhookSignature.signedBytes(name: name, seconds: seconds, content: content)
        let codes = receiver.keys.value.map { key in
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
        return HTTPRequest(.post(content), receiver.url, fields: fields, timeout: configuration.attemptTime)
    }

    /// Gives up all requests, and ends the thread.
    func shutDown() { client.shutDown() }

    /// A key in its text form.
    static func makeKey(random: inout some RandomSource) -> String {
        WebhookSignature.keyPrefix
            + Data(random.nextBytes(WebhookSignature.keySize)).base64EncodedString()
    }
}
