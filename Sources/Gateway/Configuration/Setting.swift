import Logging
import Observability
import Primitives

/// One thing that can be set: its name in a file, what it takes, what it means, and where it goes.
package struct Setting: Sendable {
    /// `section.key`; in the environment `ORBWEAVER_SECTION_KEY`.
    package let name: String
    /// What a value looks like, for messages and help.
    package let form: String
    /// One sentence for people.
    package let meaning: String
    let apply: @Sendable (SettingValue, inout GatewayConfiguration) throws(SettingError) -> Void
    /// The value in a configuration, as it would be written.
    package let read: @Sendable (GatewayConfiguration) -> String

    package var environmentName: String { "ORBWEAVER_" + name.uppercased().replacing(".", with: "_") }
}

extension Setting {
    package static let all: [Setting] = [
        Setting(
            name: "listen.host", form: "an address or host name", meaning: "Where REST and WebSocket listen.",
            apply: { (value, into) throws(SettingError) in into.listenHost = try value.text() }, read: { $0.listenHost }),
        Setting(
            name: "listen.port", form: "a port, 0…65535", meaning: "The one TCP port of REST and WebSocket; 0 lets the system choose.",
            apply: { (value, into) throws(SettingError) in into.listenPort = try value.integer(0...65_535) }, read: { String($0.listenPort) }),
        Setting(
            name: "listen.plain_port", form: "a port, or none",
            meaning: "A second listener on 127.0.0.1 without TLS, for a proxy on this machine.",
            apply: { (value, into) throws(SettingError) in into.plainPort = try value.optional { (v) throws(SettingError) in try v.integer(0...65_535) } },
            read: { $0.plainPort.map(String.init) ?? "none" }),
        Setting(
            name: "tls.mode", form: "on or off", meaning: "off serves plain HTTP, for a proxy that ends TLS; it must be written down.",
            apply: { (value, into) throws(SettingError) in into.tlsMode = try value.choice() }, read: { $0.tlsMode.rawValue }),
        Setting(
            name: "tls.certificate", form: "a file, or none", meaning: "The certificate chain, PEM.",
            apply: { (value, into) throws(SettingError) in into.tlsCertificate = try value.optional { (v) throws(SettingError) in try v.text() } },
            read: { $0.tlsCertificate ?? "none" }),
        Setting(
            name: "tls.key", form: "a file, or none", meaning: "The private key of the certificate, PEM.",
            apply: { (value, into) throws(SettingError) in into.tlsKey = try value.optional { (v) throws(SettingError) in try v.text() } }, read: { $0.tlsKey ?? "none" }),
        Setting(
            name: "media.mode", form: "anchored or direct",
            meaning: "anchored: media goes through the gateway; direct: descriptions pass untouched, media goes from peer to peer.",
            apply: { (value, into) throws(SettingError) in into.mediaMode = try value.choice() }, read: { $0.mediaMode.rawValue }),
        Setting(
            name: "media.bind", form: "a list of addresses", meaning: "Where media listens; an empty list is every interface address.",
            apply: { (value, into) throws(SettingError) in into.mediaBind = try value.addresses() }, read: { list($0.mediaBind) }),
        Setting(
            name: "media.advertise", form: "a list of addresses",
            meaning: "What is written into candidates, for containers and NAT; an empty list is the addresses bound.",
            apply: { (value, into) throws(SettingError) in into.mediaAdvertise = try value.addresses() }, read: { list($0.mediaAdvertise) }),
        Setting(
            name: "media.port", form: "a port, 0…65535", meaning: "The UDP port of the first media worker; each further one takes the next.",
            apply: { (value, into) throws(SettingError) in into.mediaPort = try value.integer(0...65_535) }, read: { String($0.mediaPort) }),
        Setting(
            name: "media.workers", form: "1…256, or none", meaning: "Media threads; none is one per core.",
            apply: { (value, into) throws(SettingError) in into.mediaWorkers = try value.optional { (v) throws(SettingError) in try v.integer(1...256) } },
            read: { $0.mediaWorkers.map(String.init) ?? "none" }),
        Setting(
            name: "media.consent_timeout", form: "5s…5m", meaning: "A leg without a connectivity check for this long has lost its peer.",
            apply: { (value, into) throws(SettingError) in into.consentTimeout = try value.duration(.seconds(5)...(.seconds(300))) }, read: { text($0.consentTimeout) }),
        Setting(
            name: "storage.path", form: "a file", meaning: "The database of users; made if it is not there.",
            apply: { (value, into) throws(SettingError) in into.databasePath = try value.text() }, read: { $0.databasePath }),
        Setting(
            name: "registration.domain", form: "a domain", meaning: "The domain of addresses and logins that name none.",
            apply: { (value, into) throws(SettingError) in into.domain = try value.text() }, read: { $0.domain }),
        Setting(
            name: "registration.default_expires", form: "1s…30d", meaning: "The life of a subscription that asks for none.",
            apply: { (value, into) throws(SettingError) in into.registrationDefault = try value.duration(oneSecondToAMonth) }, read: { text($0.registrationDefault) }),
        Setting(
            name: "registration.minimum_expires", form: "1s…30d", meaning: "Shorter wishes are raised to this.",
            apply: { (value, into) throws(SettingError) in into.registrationMinimum = try value.duration(oneSecondToAMonth) }, read: { text($0.registrationMinimum) }),
        Setting(
            name: "registration.maximum_expires", form: "1s…30d", meaning: "Longer wishes are cut to this.",
            apply: { (value, into) throws(SettingError) in into.registrationMaximum = try value.duration(oneSecondToAMonth) }, read: { text($0.registrationMaximum) }),
        Setting(
            name: "registration.grace", form: "0s…10m", meaning: "How long an expired subscription can still be extended.",
            apply: { (value, into) throws(SettingError) in into.registrationGrace = try value.duration(.zero...(.seconds(600))) }, read: { text($0.registrationGrace) }),
        Setting(
            name: "registration.maximum_per_user", form: "1…100", meaning: "Subscriptions one user may have at a time.",
            apply: { (value, into) throws(SettingError) in into.maximumSubscriptions = try value.integer(1...100) }, read: { String($0.maximumSubscriptions) }),
        Setting(
            name: "registration.replay_count", form: "1…10000", meaning: "Notifications kept per subscription for a client that reconnects.",
            apply: { (value, into) throws(SettingError) in into.replayCount = try value.integer(1...10_000) }, read: { String($0.replayCount) }),
        Setting(
            name: "registration.replay_age", form: "0s…1h", meaning: "How long they are kept.",
            apply: { (value, into) throws(SettingError) in into.replayAge = try value.duration(.zero...(.seconds(3_600))) }, read: { text($0.replayAge) }),
        Setting(
            name: "calls.ring_time", form: "5s…10m", meaning: "A call that nobody answers ends after this.",
            apply: { (value, into) throws(SettingError) in into.ringTime = try value.duration(.seconds(5)...(.seconds(600))) }, read: { text($0.ringTime) }),
        Setting(
            name: "calls.maximum", form: "1…1000000", meaning: "Calls at a time.",
            apply: { (value, into) throws(SettingError) in into.maximumCalls = try value.integer(1...1_000_000) }, read: { String($0.maximumCalls) }),
        Setting(
            name: "drain.deadline", form: "1s…1h", meaning: "After SIGTERM, calls and sockets have this long to end.",
            apply: { (value, into) throws(SettingError) in into.drainDeadline = try value.duration(.seconds(1)...(.seconds(3_600))) }, read: { text($0.drainDeadline) }),
        Setting(
            name: "log.level", form: "trace, debug, info, notice, warning, error or critical", meaning: "The least important lines written.",
            apply: { (value, into) throws(SettingError) in into.logLevel = try value.choice() }, read: { $0.logLevel.rawValue }),
        Setting(
            name: "log.format", form: "text or json", meaning: "Lines for people, or a JSON object per line for collectors.",
            apply: { (value, into) throws(SettingError) in into.logFormat = try value.choice() }, read: { $0.logFormat.rawValue }),
    ]

    private static let oneSecondToAMonth = Duration.seconds(1)...Duration.seconds(30 * 86_400)

    private static func list(_ addresses: [IPAddress]) -> String { "[" + addresses.map(\.description).joined(separator: ", ") + "]" }

    /// In the largest unit that divides it.
    private static func text(_ duration: Duration) -> String {
        let milliseconds = duration.wholeNanoseconds / 1_000_000
        for (unit, size) in [("h", Int64(3_600_000)), ("m", 60_000), ("s", 1_000)] where milliseconds % size == 0 && milliseconds >= size {
            return "\(milliseconds / size)\(unit)"
        }
        return milliseconds == 0 ? "0s" : "\(milliseconds)ms"
    }
}
