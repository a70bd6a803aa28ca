import CallControl
import CallRuntime
import EventAPI
import Primitives
import RecordingServer
import Storage
import StreamClient
import WebhookDelivery

extension ConfigurationKey {
    /// Events of calls for other programs.
    static let events = [
        ConfigurationKey(
            "events", "age", \.journal.eventAge, .duration(.seconds(60)...(.seconds(365 * 86_400))),
            "How long an event of a call is kept for programs that come back."),
        ConfigurationKey(
            "events", "count", \.journal.events, .count(0...100_000_000),
            "Events of calls that are kept for them; the oldest make room. 0: the latest in memory."),
        ConfigurationKey(
            "events", "bytes", \.journal.eventBytes, .count(0...1_000_000_000_000),
            "Bytes that these events may take; the oldest make room. 0: 2500 for each of events.count."),
        ConfigurationKey(
            "events", "keys", \.switchboard.call.tellsKeys, .onOrOff,
            "Whether a DTMF digit is an event in a call in which no application hears it."),
    ]

    /// Recordings of calls.
    static let recordings = [
        ConfigurationKey(
            "recordings", "folder", \.recordings.folder, ValueFormat.path.orNone("none", "calls are not recorded"),
            "Folder that recordings of calls are written to; it must exist, and nobody else may read it."),
        ConfigurationKey(
            "recordings", "age", \.recordings.age, .duration(.seconds(1)...(.seconds(3_650 * 86_400))),
            "How long a recording is kept after its end."),
        ConfigurationKey(
            "recordings", "bytes", \.recordings.bytes, .count(1...1_000_000_000_000_000),
            "Bytes that the recordings of all applications may take together; the oldest make room."),
    ]

    /// Streams that the gateway opens.
    static let streams = [
        ConfigurationKey(
            "streams", "connections", \.streams.connections, .count(1...100_000),
            "WebSockets of streams that the gateway opens, all applications together."),
        ConfigurationKey(
            "streams", "connect_time", \.streams.connectTime, .duration(.milliseconds(100)...(.seconds(60))),
            "How long the program of a stream has to take the WebSocket."),
        ConfigurationKey(
            "streams", "allowed_addresses", \.streams.allowedAddresses, .addressRanges,
            "Addresses that the Internet does not route, and that streams may be opened to all the same."),
        ConfigurationKey(
            "streams", "authority_file", \.streams.authorityPath,
            ValueFormat.path.orNone("system", "those of this machine"),
            "PEM file with the certificate authorities that may vouch for the programs of streams."),
        ConfigurationKey(
            "streams", "plain_ws", \.streams.plain, .choice,
            "on: URLs may be ws:, which anybody on the way can hear."),
    ]

    /// Requests of applications.
    static let applications = [
        ConfigurationKey(
            "applications", "idempotency_keys", \.idempotencyKeys, .count(100...10_000_000),
            "Idempotency keys that one application may use in a day; further ones are refused.")
    ]

    /// Webhooks of applications.
    static let webhooks = [
        ConfigurationKey(
            "webhooks", "per_application", \.webhooks.perApplication, .count(1...1_000),
            "Webhooks that one application may have."),
        ConfigurationKey(
            "webhooks", "retry_time", \.webhooks.queue.retryTime, .duration(.seconds(1)...(.seconds(30 * 86_400))),
            "How long an event is tried that a webhook does not take; then it is given up until an operator asks for it."
        ),
        ConfigurationKey(
            "webhooks", "longest_delay", \.webhooks.queue.longestDelay, .duration(.seconds(1)...(.seconds(86_400))),
            "The longest wait between two attempts; the first waits about 2s, and each further one twice as long."),
        ConfigurationKey(
            "webhooks", "requests_in_flight", \.webhooks.queue.inFlight, .count(1...100),
            "Requests to one webhook that have no answer yet. Events of one call are sent one after the other."),
        ConfigurationKey(
            "webhooks", "answer_time", \.webhooks.attemptTime, .duration(.milliseconds(100)...(.seconds(60))),
            "How long the answer of a webhook is waited for."),
        ConfigurationKey(
            "webhooks", "outbox", \.webhooks.outbox, .count(1...10_000_000),
            "Events that one webhook is owed; further ones stay in the log, as long as that keeps them."),
        ConfigurationKey(
            "webhooks", "allowed_addresses", \.webhooks.allowedAddresses, .addressRanges,
            "Addresses that the Internet does not route, and that events may be sent to all the same."),
        ConfigurationKey(
            "webhooks", "authority_file", \.webhooks.authorityPath,
            ValueFormat.path.orNone("system", "those of this machine"),
            "PEM file with the certificate authorities that may vouch for webhooks."),
        ConfigurationKey(
            "webhooks", "plain_http", \.webhooks.plainHTTP, .choice,
            "on: URLs may be http:, which anybody on the way can read."),
    ]
}
