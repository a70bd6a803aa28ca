import CallControl
package import CallRuntime
import Logging
import MediaServer
import Observability
import Primitives
internal import Registration
import SignalingServer
import Storage

extension ConfigurationKey {
    /// Every setting, in the order in which it is documented.
    package static let all: [ConfigurationKey] =
        [
            listen, tls, media, mediaPreferences, sounds, turn, storage, registration, calls, events, applications,
            streams, webhooks, recordings, messages,
            presence, anonymous, auth, tokens, push, waking, drain, admin, log,
        ].flatMap { $0 }

    private static let listen = [
        ConfigurationKey(
            "listen", "host", \.listen.host, .host,
            "Address of the main port: 0.0.0.0 is every IPv4 address, \"::\" also IPv6."),
        ConfigurationKey("listen", "port", \.listen.port, .port, "TCP port of REST and WebSocket."),
        ConfigurationKey("listen", "plain_host", \.listen.plainHost, .host, "Address of the plain port."),
        ConfigurationKey(
            "listen", "plain_port", \.listen.plainPort, ValueFormat.port.orNone("off", "no such port"),
            "A second port without TLS, for local tools and health checks."),
        ConfigurationKey(
            "listen", "trusted_proxies", \.signaling.trustedProxies.ranges, .addressRanges,
            "Reverse proxies whose X-Forwarded-For is believed; none: clients are known by their connections alone."),
        ConfigurationKey(
            "listen", "proxy_protocol", \.listen.proxyProtocol, .choice,
            "required: trusted_proxies start each connection to listen.port with a PROXY header, before TLS."),
        ConfigurationKey(
            "listen", "max_connections", \.signaling.maxConnections, .count(1...1_000_000), "Open connections per port."
        ),
        ConfigurationKey(
            "listen", "max_connections_per_address", \.signaling.maxConnectionsPerAddress, .count(1...1_000_000),
            "Of these, connections of one IPv4 address or IPv6 /64 that are no notification channel."),
        ConfigurationKey(
            "listen", "write_timeout", \.signaling.writeTimeout, .duration(.seconds(1)...(.seconds(600))),
            "A connection whose client takes nothing of what it is sent for this long is ended."),
        ConfigurationKey(
            "listen", "max_body_bytes", \.signaling.maxBodyBytes, .count(16_384...16_777_216),
            "Largest request body; a larger one is refused with 413."),
        ConfigurationKey(
            "listen", "compression", \.listen.compression, .choice,
            "Whether notifications are compressed for clients that offer permessage-deflate (RFC 7692)."),
        ConfigurationKey(
            "listen", "channel_idle", \.signaling.channelIdleTimeout, .duration(.seconds(10)...(.seconds(3_600))),
            "A WebSocket on which the client has said nothing for this long is closed; clients send a ping every 30s."),
        ConfigurationKey(
            "listen", "poll_time", \.signaling.pollTime, .duration(.seconds(1)...(.seconds(120))),
            "How long a long poll waits for a notification; proxies have to be more patient."),
    ]

    private static let tls = [
        ConfigurationKey("tls", "mode", \.tls.mode, .choice, "off leaves TLS to a proxy in front of the gateway."),
        ConfigurationKey(
            "tls", "certificate", \.tls.certificate, ValueFormat.path.orNone("none", "only with --dev or tls.mode off"),
            "PEM file: the certificate, then its intermediates."),
        ConfigurationKey(
            "tls", "key", \.tls.key, ValueFormat.path.orNone("none", "only with --dev or tls.mode off"),
            "PEM file with the private key."),
    ]

    private static let media = [
        ConfigurationKey(
            "media", "mode", \.switchboard.media, .choice,
            "anchored: media goes through the gateway; direct: descriptions pass untouched, media goes from peer to peer."
        ),
        ConfigurationKey(
            "media", "bind", \.media.bind, .addresses,
            "Local addresses to receive media on; auto: those of all interfaces, without link-local ones, and loopback only with --dev."
        ),
        ConfigurationKey(
            "media", "advertise", \.media.advertise, .addresses,
            "Addresses put into candidates; behind NAT or in a container the public ones. auto: those media is received on."
        ),
        ConfigurationKey(
            "media", "port", \.media.firstPort, .port,
            "UDP port of the first worker; each further worker takes the next port."),
        ConfigurationKey(
            "media", "tcp_port", \.media.tcpPort, ValueFormat.port.orNone("none", "UDP only"),
            "TCP port of the first worker, for peers whose network lets no UDP through; each further worker takes the next port."
        ),
        ConfigurationKey(
            "media", "workers", \.mediaWorkers, ValueFormat.count(1...256).orNone("auto", "one per core"),
            "Media threads, each with its own UDP port."),
        ConfigurationKey(
            "media", "consent_timeout", \.media.consentTimeout, .duration(.seconds(5)...(.seconds(300))),
            "A leg without a valid connectivity check or SRTP packet for this long is over (RFC 7675)."),
        ConfigurationKey(
            "media", "transcode", \.transcoding, .choice,
            "Whether peers that share no audio codec can talk; the gateway then transcodes."),
        ConfigurationKey(
            "media", "folder", \.media.mediaFolder, ValueFormat.path.orNone("none", "nothing can be played from files"),
            "Folder with WAV, Ogg/Opus and MP3 files that can be played to a call."),
        ConfigurationKey(
            "media", "tones", \.media.toneRegion, .choice, "Whose ringback, busy and other tones are played."),
        ConfigurationKey(
            "media", "inband_keys", \.inbandDTMF, .choice,
            "Whether DTMF digits are recognised in transcoded G.711 audio of peers that know no telephone events."
        ),
        ConfigurationKey(
            "media", "pacing", \.pacing, .choice,
            "Whether a busy media worker starts its turns half a millisecond apart, which halves the cost of a packet."),
        ConfigurationKey(
            "media", "max_calls_per_worker", \.media.maximumCallsPerWorker, .count(1...100_000),
            "Calls one worker carries at a time."),
        ConfigurationKey(
            "media", "max_load", \.maximumLoad,
            ValueFormat.count(10...100).orNone("none", "only the number of calls counts"),
            "Percent of a processor from which on a media worker takes no new calls."),
    ]

    private static let turn = [
        ConfigurationKey(
            "turn", "secret_file", \.turnSecretPath, ValueFormat.path.orNone("none", "clients get no credentials"),
            "File with the secret that the gateway shares with TURN servers: static-auth-secret in coturn."),
        ConfigurationKey(
            "turn", "time_to_live", \.turnTimeToLive, .duration(.seconds(60)...(.seconds(30 * 86_400))),
            "How long the credentials that a client gets with its subscription are good."),
    ]

    private static let storage = [
        ConfigurationKey(
            "storage", "path", \.storagePath, .path,
            "The SQLite file with the users, the subscriptions, the calls and their records; its folder must exist."),
        ConfigurationKey(
            "storage", "call_event_age", \.journal.callAge, .duration(.seconds(120)...(.seconds(86_400 * 30))),
            "How long the events of a call are kept after its end."),
        ConfigurationKey(
            "storage", "call_event_bytes", \.journal.callBytes, .count(1_000_000...1_000_000_000_000),
            "Bytes that the events of ended calls may take; the oldest calls make room."),
        ConfigurationKey(
            "storage", "address_book_entries", \.signaling.addressBooks.entries, .count(1...100_000),
            "Entries in the address book of one user."),
        ConfigurationKey(
            "storage", "address_book_field_bytes", \.signaling.addressBooks.fieldBytes, .count(64...4_096),
            "Bytes in one field of an entry."),
    ]

    private static let registration = [
        ConfigurationKey(
            "registration", "domain", \.authenticator.defaultDomain, .domain, "Completes user names without a domain."),
        ConfigurationKey(
            "registration", "default_expires", \.switchboard.registration.defaultExpires, .duration(lifeTimes),
            "Life time of a subscription whose request names none."),
        ConfigurationKey(
            "registration", "minimum_expires", \.switchboard.registration.minimumExpires, .duration(lifeTimes),
            "Shorter wishes are raised to this."),
        ConfigurationKey(
            "registration", "maximum_expires", \.switchboard.registration.maximumExpires, .duration(lifeTimes),
            "Longer wishes are lowered to this."),
        ConfigurationKey(
            "registration", "grace", \.switchboard.registration.grace, .duration(.zero...(.seconds(300))),
            "An expired subscription can still be extended for this long before it is gone."),
        ConfigurationKey(
            "registration", "max_per_user", \.switchboard.registration.maximumSubscriptions, .count(1...1_000),
            "Subscriptions of one user."),
        ConfigurationKey(
            "registration", "max_subscriptions", \.switchboard.maximumSubscriptions, .count(1...10_000_000),
            "Subscriptions of all users and guests; further ones are refused with 503."),
        ConfigurationKey(
            "registration", "max_per_network", \.switchboard.networks.maximumSubscriptions, .count(1...10_000_000),
            "Subscriptions of users from one IPv4 address or IPv6 /64."),
        ConfigurationKey(
            "registration", "network_requests", \.switchboard.networks.rate.burst, .count(1...1_000_000),
            "Subscriptions that users may make in a row from one IPv4 address or IPv6 /64."),
        ConfigurationKey(
            "registration", "network_interval", \.switchboard.networks.rate.interval,
            .duration(.milliseconds(1)...(.seconds(3_600))), "After this time one more is allowed from there."),
        ConfigurationKey(
            "registration", "user_requests", \.switchboard.subscriptionRate.burst, .count(1...1_000_000),
            "Subscriptions that a user may ask for in a row."),
        ConfigurationKey(
            "registration", "user_interval", \.switchboard.subscriptionRate.interval,
            .duration(.milliseconds(1)...(.seconds(3_600))), "After this time the user may ask for one more."),
        ConfigurationKey(
            "registration", "queue_length", \.switchboard.registration.queue.capacity, .count(1...10_000),
            "Notifications kept per subscription for a client that comes back."),
        ConfigurationKey(
            "registration", "queue_age", \.switchboard.registration.queue.maximumAge,
            .duration(.seconds(1)...(.seconds(3_600))),
            "Older notifications are not sent to a client that comes back."),
        ConfigurationKey(
            "registration", "replay_limit", \.switchboard.registration.queue.replayLimit, .count(1...100),
            "Notifications sent without being confirmed, which are sent again; clients recognise 50 duplicates."),
        ConfigurationKey(
            "registration", "answer_time", \.switchboard.registration.answerTime, .duration(.zero...(.seconds(2))),
            "How long a client hears nothing of a call after the answer to its own request about it."),
        ConfigurationKey(
            "registration", "session_time", \.switchboard.registration.sessionTime, .duration(.zero...(.seconds(2))),
            "The same after an answer that names a new session, unless the client makes a request about it earlier."),
        ConfigurationKey(
            "registration", "close_delay", \.switchboard.registration.closeDelay, .duration(.zero...(.seconds(10))),
            "How long the WebSocket of a subscription stays open after its client has deleted it."),
    ]

    private static let auth = [
        ConfigurationKey(
            "auth", "account_failures", \.authenticator.throttle.claim.burst, .count(1...1_000),
            "Wrong passwords in a row per account, from each network."),
        ConfigurationKey(
            "auth", "account_interval", \.authenticator.throttle.claim.interval, .duration(intervals),
            "After this time one more wrong password is allowed for an account from that network."),
        ConfigurationKey(
            "auth", "stranger_failures", \.authenticator.throttle.account.burst, .count(1...100_000),
            "Wrong passwords in a row per account, from all networks together without a login to it."),
        ConfigurationKey(
            "auth", "stranger_interval", \.authenticator.throttle.account.interval, .duration(intervals),
            "After this time one more of them is allowed."),
        ConfigurationKey(
            "auth", "network_failures", \.authenticator.throttle.network.burst, .count(1...100_000),
            "Wrong passwords in a row per IPv4 address or IPv6 /64."),
        ConfigurationKey(
            "auth", "network_interval", \.authenticator.throttle.network.interval, .duration(intervals),
            "After this time one more wrong password is allowed from a network."),
        ConfigurationKey(
            "auth", "revalidation", \.authenticator.revalidation, .duration(.milliseconds(100)...(.seconds(300))),
            "How long a password that another process has changed may still be accepted."),
        ConfigurationKey(
            "auth", "password_cost", \.authenticator.passwordCost, .passwordCost,
            "What the scrypt hash of a password costs; a cheaper one is replaced after a login."),
        ConfigurationKey(
            "auth", "hashing_threads", \.hashingThreads, ValueFormat.count(1...64).orNone("auto", "one per core"),
            "Threads that check passwords, with what other threads leave of the cores."),
        ConfigurationKey(
            "auth", "remember", \.rememberedLogins,
            ValueFormat.duration(.seconds(3_600)...(.seconds(90 * 86_400))).orNone(
                "off", "a restart forgets all logins"),
            "How long after its last use a login is remembered, so that after a restart its password need not be checked."
        ),
        ConfigurationKey(
            "auth", "remember_key_file", \.loginKeyPath,
            ValueFormat.path.orNone("auto", "storage.path with .key behind it"),
            "File with the key of remembered logins; made if it is not there."),
    ]

    private static let drain = [
        ConfigurationKey(
            "drain", "announce", \.drain.announce, .duration(.zero...(.seconds(600))),
            "From SIGTERM on, everything is served for this long while /ready says no, so that load balancers notice."),
        ConfigurationKey(
            "drain", "calls", \.drain.calls, .choice,
            "end: then calls are ended; wait: they may end by themselves, while no new ones start."),
        ConfigurationKey(
            "drain", "deadline", \.drain.deadline, .duration(.seconds(1)...(.seconds(86_400))),
            "From SIGTERM to the end of the process: calls that are left are ended with a reason, then sockets closed."),
    ]

    private static let log = [
        ConfigurationKey("log", "level", \.log.level, .choice, "The least important events that are written."),
        ConfigurationKey(
            "log", "format", \.log.format, .choice,
            "text for people, json (one object per line) for collectors; to standard error."),
    ]

    private static let lifeTimes = Duration.seconds(1)...(.seconds(30 * 86_400))
    private static let intervals = Duration.milliseconds(100)...(.seconds(3_600))
}

extension LocalSwitchboard.Configuration.Media: CaseIterable {
    /// The values of `media.mode`.
    package static var allCases: [Self] { [.anchored, .direct] }
}
