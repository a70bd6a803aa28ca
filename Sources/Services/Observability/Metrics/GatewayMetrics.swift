package import CallControl
package import Push

/// Every metric of the gateway. The process has one value, which is handed to each service.
///
/// Names follow `orbweaver_<thing>[_<unit>][_total]` in base units. Peers never choose the value of a label.
package final class GatewayMetrics: Sendable {
    // MARK: Calls

    /// Calls that ring or are connected, now.
    package let callsActive: Gauge
    /// Calls that have ended, by cause.
    package let callsEnded: CounterFamily<EndingWord>
    /// Calls that did not start, or rang no device, because of a limit; by limit.
    package let callsRefused: CounterFamily<CallRefusal>
    /// Devices that calls have woken by push, by what became of them.
    package let deviceWakes: CounterFamily<WakeStep>
    /// Calls for which devices slept on, by limit.
    package let wakesRefused: CounterFamily<WakeRefusal>
    /// Requests about calls that were understood, by what they asked for and what became of them.
    package let callRequests: CounterTable<CallRequest.Kind, CallRequest.Outcome>
    /// The time from `callStart` to the answer.
    package let callSetup: Histogram

    // MARK: Signalling

    /// Open TCP connections for requests and notification channels, now.
    package let connectionsActive: Gauge
    /// Connections that were refused before a byte was read, by reason.
    package let connectionsRefused: CounterFamily<ConnectionRefusal>
    /// Connections without a channel that the gateway closed without being asked, by reason.
    package let connectionsClosed: CounterFamily<ConnectionClosure>
    /// Subscriptions that have not ended, now.
    package let subscriptionsActive: Gauge
    /// Open notification channels, now.
    package let webSocketsActive: Gauge
    /// Notification channels that were closed, by reason.
    package let webSocketsClosed: CounterFamily<WebSocketClosure>
    /// Answered HTTP requests, by class of status.
    package let httpRequests: CounterFamily<HTTPStatusClass>
    /// Refused credentials, by reason.
    package let authenticationFailures: CounterFamily<AuthenticationFailure>
    /// Logins that needed the slow password hash, by result.
    package let passwordChecks: CounterFamily<PasswordCheck>
    /// Logins that wait for the slow password hash, now.
    package let passwordChecksWaiting: Gauge
    /// Logins that were accepted without a password check, because they were known before the start.
    package let loginsRestored: Counter
    /// Passwords that were hashed anew after a login, because their records cost less than they should.
    package let passwordsUpgraded: Counter
    /// Notifications written to a channel for the first time.
    package let notificationsSent: Counter
    /// Notifications sent again after a reconnect.
    package let notificationsReplayed: Counter
    /// Notifications dropped from a full replay queue before the client came back.
    package let notificationsDiscarded: Counter
    /// Rows of the database that could not be understood, at the start or when they were to be continued.
    package let rowsSetAside: Counter

    // MARK: Media

    /// Legs with media, now; two per anchored call.
    package let mediaSessionsActive: Gauge
    /// Legs that lost their media path or never had one, by reason.
    package let mediaSessionsFailed: CounterFamily<MediaSessionFailure>
    /// RTP packets accepted from peers.
    package let rtpPacketsReceived: Counter
    /// Bytes of the RTP packets accepted from peers.
    package let rtpBytesReceived: Counter
    /// RTP packets sent to peers.
    package let rtpPacketsSent: Counter
    /// Bytes of the RTP packets sent to peers.
    package let rtpBytesSent: Counter
    /// RTCP datagrams accepted from peers.
    package let rtcpPacketsReceived: Counter
    /// RTCP datagrams sent to peers.
    package let rtcpPacketsSent: Counter
    /// Datagrams and packets that went no further, by reason.
    package let packetsDropped: CounterFamily<PacketDropReason>
    /// Packets that were not sent, because the kernel refused a datagram or the reader of a TCP connection was too
    /// slow.
    package let mediaSendFailures: Counter
    /// DTMF digits that were dropped, because as many waited to be sent as may wait.
    package let mediaDigitsDropped: Counter
    /// Messages of programs on streams that could not be read, or not be taken.
    package let streamMessagesRefused: Counter
    /// Commands of calls for which a media worker had no room.
    package let mediaCommandsRefused: Counter
    /// How much of the time that media workers may use is left before new calls are refused, in percent.
    package let mediaRoom: Gauge

    // MARK: ICE, DTLS, SRTP

    /// Open TCP connections that carry media or are about to (RFC 6544), now.
    package let mediaConnectionsActive: Gauge
    /// TCP connections for media that were closed, by reason.
    package let mediaConnectionsClosed: CounterFamily<MediaConnectionClosure>

    /// Connectivity checks that were answered with success.
    package let stunRequests: Counter
    /// STUN messages that were refused or ignored, by reason.
    package let stunRefused: CounterFamily<STUNRefusal>
    /// DTLS handshakes that ended, by result.
    package let dtlsHandshakes: CounterFamily<DTLSOutcome>
    /// Packets that could not be protected or unprotected, by reason.
    package let srtpFailures: CounterFamily<SRTPFailure>

    // MARK: Push

    /// Pushes that have ended, by provider and result.
    package let pushes: CounterTable<PushProvider, PushResult>
    /// Requests to push providers, by provider: more than pushes, where some are sent again.
    package let pushRequests: CounterFamily<PushProvider>
    /// Pushes that have not ended, now.
    package let pushesActive: Gauge
    /// Registrations for push, now.
    package let pushRegistrations: Gauge
    /// Attempts to send events to webhooks of applications, by what they led to.
    package let webhookAttempts: CounterFamily<WebhookResult>

    // MARK: Recordings

    /// Recordings that go on, now.
    package let recordingsActive: Gauge
    /// Recordings that are over, by reason.
    package let recordingsEnded: CounterFamily<RecordingEnd>
    /// Opus packets that a recording left out, because they were more than the time has room for, or came too late.
    package let recordingPacketsDropped: Counter

    private let families: [MetricFamily]

    /// Makes all metrics, at zero.
    ///
    /// - Parameters:
    ///   - version: the value of the label of `orbweaver_build_info`.
    ///   - startTime: the start of the process, in seconds since 1970.
    package init(version: String, startTime: Int64) {
        var registry = MetricRegistry()
        registry.constant(
            "orbweaver_build_info", "The running version; the value is always 1.",
            labels: [MetricSample.Label(name: "version", value: version)], value: "1")
        // The only name without the prefix: dashboards for any process know it.
        registry.constant(
            "process_start_time_seconds", "When the process started, in seconds since 1970.", value: String(startTime))

        callsActive = registry.gauge("orbweaver_calls_active", "Calls that are ringing or connected.")
        callsEnded = registry.counters(
            "orbweaver_calls_total", "Calls that have ended, by cause.", by: EndingWord.self)
        callsRefused = registry.counters(
            "orbweaver_calls_refused_total", "Calls that a limit kept from starting or from ringing, by limit.",
            by: CallRefusal.self)
        deviceWakes = registry.counters(
            "orbweaver_device_wakes_total", "Devices that calls have woken by push, by what became of them.",
            by: WakeStep.self)
        wakesRefused = registry.counters(
            "orbweaver_wakes_refused_total", "Calls for which a limit let devices sleep on, by limit.",
            by: WakeRefusal.self)
        callRequests = registry.counters(
            "orbweaver_call_requests_total",
            "Requests about calls that were understood, by what they asked for and what became of them.",
            by: CallRequest.Kind.self, and: CallRequest.Outcome.self)
        callSetup = registry.histogram(
            "orbweaver_call_setup_seconds", "From the caller's request to the callee's answer.",
            bounds: Self.setupBounds)

        connectionsActive = registry.gauge(
            "orbweaver_connections_active", "Open TCP connections for requests and notification channels.")
        connectionsRefused = registry.counters(
            "orbweaver_connections_refused_total", "Connections turned away before a byte was read, by reason.",
            by: ConnectionRefusal.self)
        connectionsClosed = registry.counters(
            "orbweaver_connections_closed_total",
            "Connections without a channel that the gateway ended unasked, by reason.",
            by: ConnectionClosure.self)
        subscriptionsActive = registry.gauge("orbweaver_subscriptions_active", "Subscriptions that have not ended.")
        webSocketsActive = registry.gauge("orbweaver_websockets_active", "Open notification channels.")
        webSocketsClosed = registry.counters(
            "orbweaver_websockets_closed_total", "Notification channels that were closed, by reason.",
            by: WebSocketClosure.self)
        httpRequests = registry.counters(
            "orbweaver_http_requests_total", "Answered HTTP requests, by class of status.", by: HTTPStatusClass.self)
        authenticationFailures = registry.counters(
            "orbweaver_authentication_failures_total", "Refused credentials, by reason.", by: AuthenticationFailure.self
        )
        passwordChecks = registry.counters(
            "orbweaver_password_checks_total", "Logins whose password had to be checked, by what became of it.",
            by: PasswordCheck.self)
        passwordChecksWaiting = registry.gauge(
            "orbweaver_password_checks_waiting", "Logins that wait for the check of their password.")
        loginsRestored = registry.counter(
            "orbweaver_logins_restored_total",
            "Logins from before the start that were accepted without a check of the password.")
        passwordsUpgraded = registry.counter(
            "orbweaver_passwords_upgraded_total",
            "Passwords hashed anew after a login, because their records cost less than auth.password_cost.")
        notificationsSent = registry.counter(
            "orbweaver_notifications_sent_total", "Notifications written to a channel for the first time.")
        notificationsReplayed = registry.counter(
            "orbweaver_notifications_replayed_total", "Notifications written again after a client came back.")
        notificationsDiscarded = registry.counter(
            "orbweaver_notifications_discarded_total", "Notifications dropped from a full replay queue.")
        rowsSetAside = registry.counter(
            "orbweaver_rows_set_aside_total", "Rows of the database that could not be understood.")

        mediaSessionsActive = registry.gauge("orbweaver_media_sessions_active", "Legs whose media the gateway carries.")
        mediaSessionsFailed = registry.counters(
            "orbweaver_media_sessions_failed_total", "Legs that lost their media path or never had one, by reason.",
            by: MediaSessionFailure.self)
        rtpPacketsReceived = registry.counter(
            "orbweaver_rtp_packets_received_total", "RTP packets accepted from peers.")
        rtpBytesReceived = registry.counter(
            "orbweaver_rtp_received_bytes_total", "Bytes of the RTP packets accepted from peers.")
        rtpPacketsSent = registry.counter("orbweaver_rtp_packets_sent_total", "RTP packets sent to peers.")
        rtpBytesSent = registry.counter("orbweaver_rtp_sent_bytes_total", "Bytes of the RTP packets sent to peers.")
        rtcpPacketsReceived = registry.counter(
            "orbweaver_rtcp_packets_received_total", "RTCP datagrams accepted from peers.")
        rtcpPacketsSent = registry.counter("orbweaver_rtcp_packets_sent_total", "RTCP datagrams sent to peers.")
        packetsDropped = registry.counters(
            "orbweaver_packets_dropped_total", "Datagrams and packets that went no further, by reason.",
            by: PacketDropReason.self)
        mediaSendFailures = registry.counter(
            "orbweaver_media_send_failures_total", "Packets that the kernel refused, or a slow reader had no room for.")
        streamMessagesRefused = registry.counter(
            "orbweaver_stream_messages_refused_total",
            "Messages of programs on audio streams that could not be read or taken.")
        mediaDigitsDropped = registry.counter(
            "orbweaver_media_keys_dropped_total",
            "DTMF digits that were not sent or told, because there were too many.")
        mediaCommandsRefused = registry.counter(
            "orbweaver_media_commands_refused_total", "Commands of calls that a media worker had no room for.")
        mediaRoom = registry.gauge(
            "orbweaver_media_room_percent",
            "The time that media workers have left before new calls are refused, in percent of what they may use.")

        mediaConnectionsActive = registry.gauge("orbweaver_media_connections_active", "Open TCP connections for media.")
        mediaConnectionsClosed = registry.counters(
            "orbweaver_media_connections_closed_total", "TCP connections for media that were closed, by reason.",
            by: MediaConnectionClosure.self)
        stunRequests = registry.counter("orbweaver_stun_requests_total", "Connectivity checks answered with success.")
        stunRefused = registry.counters(
            "orbweaver_stun_refused_total", "STUN messages refused or ignored, by reason.", by: STUNRefusal.self)
        dtlsHandshakes = registry.counters(
            "orbweaver_dtls_handshakes_total", "DTLS handshakes that came to an end, by result.", by: DTLSOutcome.self)
        srtpFailures = registry.counters(
            "orbweaver_srtp_failures_total", "Packets that could not be protected or unprotected, by reason.",
            by: SRTPFailure.self)
        pushes = registry.counters(
            "orbweaver_pushes_total", "Pushes that have ended, by provider and result.", by: PushProvider.self,
            and: PushResult.self)
        pushRequests = registry.counters(
            "orbweaver_push_requests_total", "Requests to push providers, repeated ones included.",
            by: PushProvider.self)
        pushesActive = registry.gauge("orbweaver_pushes_active", "Pushes that wait or have no answer yet.")
        pushRegistrations = registry.gauge("orbweaver_push_registrations", "Devices that have registered for push.")
        webhookAttempts = registry.counters(
            "orbweaver_webhook_attempts_total", "Attempts to send events to webhooks of applications, by result.",
            by: WebhookResult.self)
        recordingsActive = registry.gauge("orbweaver_recordings_active", "Recordings of calls that go on.")
        recordingsEnded = registry.counters(
            "orbweaver_recordings_total", "Recordings of calls that are over, by reason.", by: RecordingEnd.self)
        recordingPacketsDropped = registry.counter(
            "orbweaver_recording_packets_dropped_total",
            "Packets left out of recordings: more than the time has room for, or too late.")
        families = registry.families
    }

    /// The body of `GET /metrics`, with the media type ``contentType``.
    package func render() -> String {
        var text = ""
        text.reserveCapacity(32_768)
        for family in families { family.write(to: &text) }
        return text
    }

    /// The media type of the Prometheus text exposition format.
    package static let contentType = "text/plain; version=0.0.4; charset=utf-8"

    /// The upper bounds of the call set-up times: from a machine that answers at once to a person who lets it ring.
    private static let setupBounds: [Duration] = [
        .milliseconds(50), .milliseconds(100), .milliseconds(250), .milliseconds(500), .seconds(1), .milliseconds(2500),
        .seconds(5),
        .seconds(10), .seconds(20), .seconds(40), .seconds(60), .seconds(120),
    ]
}
