import CallControl
package import CallRuntime
internal import Cryptography
package import MediaServer
package import Observability
internal import Primitives
package import RecordingServer
package import SDP
package import SignalingServer
package import Storage
package import StreamClient
package import WebhookDelivery

/// Everything about the gateway that can be set, with defaults that work. It is read once at the start, and each part
/// gets its own piece.
///
/// The settings of a part stand in that part's own `Configuration`. Here are only those that concern the whole process.
/// Every field that operators may set has an entry in ``ConfigurationKey/all``.
package struct GatewayConfiguration: Sendable {
    /// The TCP ports for REST and notification channels.
    package struct Listen: Equatable, Sendable {
        /// The host name or IP address of the main listener.
        package var host = "0.0.0.0"
        /// The TCP port of the main listener; with 0 the system chooses one.
        package var port: UInt16 = 8443
        /// The host name or IP address of a second listener, always without TLS.
        package var plainHost = "127.0.0.1"
        /// The TCP port of the second listener; with 0 the system chooses one. `nil`: there is none.
        package var plainPort: UInt16?
        /// Whether the connections of trusted proxies to the main listener start with a PROXY header.
        package var proxyProtocol = ProxyProtocol.off
        /// Whether notifications are compressed.
        package var compression = Compression.off
    }

    /// How notifications are compressed.
    package enum Compression: String, CaseIterable, Sendable {
        /// Not at all.
        case off
        /// Each by itself.
        case message
        /// With references to those before, which takes memory for each channel.
        case channel

        var mode: DeflateAgreement.Mode? {
            switch self {
            case .off: nil
            case .message: .perMessage
            case .channel: .perChannel
            }
        }
    }

    /// Whether trusted proxies use the PROXY protocol.
    package enum ProxyProtocol: String, CaseIterable, Sendable {
        /// They do not.
        case off
        /// They start every connection with a header of version 1 or 2; without one it is refused.
        case required
    }

    /// Whether the main listener uses TLS.
    package enum TLSMode: String, CaseIterable, Sendable {
        /// The gateway does TLS.
        case on
        /// A proxy in front of the gateway does TLS.
        case off
    }

    /// TLS on the main listener.
    package struct TLS: Equatable, Sendable {
        /// Whether the main listener uses TLS.
        package var mode = TLSMode.on
        /// The path of a PEM file with the certificate chain, the gateway's own certificate first.
        package var certificate: String?
        /// The path of a PEM file with the private key, without a passphrase.
        package var key: String?
    }

    /// Where the administration interface is served, and what is kept of it.
    package struct Admin: Equatable, Sendable {
        /// The Unix socket.
        package var socket = AdminSocket.auto
        /// The host name or IP address of the TCP listener; `nil`: there is none.
        package var host: String?
        /// The TCP port; with 0 the system chooses one.
        package var port: UInt16 = 8444
        /// How much of the audit log is kept.
        package var audit = AuditLimits()
    }

    /// Where the Unix socket of the administration interface is.
    package enum AdminSocket: Equatable, Sendable {
        /// Beside the database; with `--dev`, whose database is thrown away, nowhere.
        case auto
        /// Nowhere.
        case off
        /// At this path.
        case path(String)
    }

    /// The TCP ports for REST and notification channels.
    package var listen = Listen()
    /// TLS on the main listener.
    package var tls = TLS()
    /// The limits of the signalling server. Its listeners and secrets are filled in at the start.
    package var signaling = SignalingConfiguration(listeners: [])
    /// How credentials are checked.
    package var authenticator = Authenticator.Configuration()
    /// How many threads check passwords. `nil`: one per core.
    package var hashingThreads: Int?
    /// How long logins are remembered across restarts. `nil`: they are not.
    package var rememberedLogins: Duration? = .seconds(30 * 86_400)
    /// The path of the file with the key of remembered logins. `nil`: beside the database.
    package var loginKeyPath: String?
    /// The path of the file with the keys of bearer tokens. `nil`: tokens are not accepted.
    package var tokenKeysPath: String?
    /// How long a token that an application gets for a user may be used.
    package var applicationTokenTime = ApplicationAuthenticator.defaultTokenTime
    /// What bearer tokens must say.
    package var tokens = TokenPolicy()
    /// How calls and registrations are handled.
    package var switchboard = LocalSwitchboard.Configuration(
        call: Call.Configuration(earlyMedia: Playback(.tone(.ringback))))
    /// The path of the file that all events of calls are appended to. `nil`: they are not kept.
    package var eventLogPath: String?
    /// How media is handled. `bind` and `advertise` are empty if the addresses of this machine are meant.
    package var media = MediaServer.Configuration(bind: [])
    /// How many media workers run. `nil`: one per core.
    package var mediaWorkers: Int?
    /// The path of the file with the secret that TURN servers share. `nil`: clients get no credentials for them.
    package var turnSecretPath: String?
    /// The path of the file with the realms of callMe tokens. `nil`: there are none.
    package var callMeRealmsPath: String?
    /// How long credentials for TURN servers are valid.
    package var turnTimeToLive = Duration.seconds(86_400)
    /// Whether the gateway transcodes for peers without a common audio codec.
    package var transcoding = Switch.on
    /// Whether DTMF tones in the audio are passed on as telephone events.
    package var inbandDTMF = Switch.off
    /// `media.pacing`: whether a worker with many packets lets some of them gather before it handles them.
    package var pacing = Switch.on
    /// `media.max_load`: from which load of a media worker on its new calls are refused, in percent of a processor;
    /// `nil`: only their number counts.
    package var maximumLoad: Int? = 90
    /// What every client is assumed to want to receive, unless it says otherwise for a call. Its Opus values override
    /// those of ``opusSet``.
    package var mediaPreferences = MediaPreferences()
    /// A set of Opus parameters from the reference guide. `nil`: Opus as descriptions say.
    package var opusSet: OpusParameterSet?
    /// The path of the database file.
    package var storagePath = "orbweaver.sqlite"
    /// How long what is kept for the next process stays there.
    package var journal = JournalStore.Configuration()
    /// How many idempotency keys of one application are remembered, 1 or more.
    package var idempotencyKeys = 100_000
    /// The limits of webhooks.
    package var webhooks = WebhookConfiguration()
    /// The limits of streams that the gateway opens.
    package var streams = StreamClientConfiguration()
    /// Where recordings of calls are kept, and for how long.
    package var recordings = RecordingConfiguration()
    /// Push providers and the keys for them.
    package var push = Push()
    /// How the gateway stops.
    package var drain = Drain.Configuration()
    /// The administration interface.
    package var admin = Admin()
    /// How log lines are written.
    package var log = LogOutput()

    /// Whether the gateway was started with `--dev`: demo users, a throw-away database, the demo page, and a
    /// certificate made at the start. Only the flag sets it.
    package private(set) var isDevelopment = false

    /// Makes a configuration with the default values.
    package init() {}

    /// The configuration that `--dev` starts from. File, environment and flags change it.
    package static var development: GatewayConfiguration {
        var configuration = GatewayConfiguration()
        configuration.isDevelopment = true
        configuration.listen.plainPort = 8080
        configuration.authenticator.defaultDomain = DemoUsers.domain
        // Bots that are being written run on the same machine.
        configuration.streams.allowsPlain = true
        configuration.streams.allowedAddresses = ["127.0.0.0/8", "::1/128"].compactMap { IPAddressRange($0) }
        // The demo users' password is public, and four of them are hashed at every start.
        configuration.authenticator.passwordCost = PasswordHash.Cost(p: 1)
        return configuration
    }
}

/// A setting that is on or off.
package enum Switch: String, Equatable, Sendable, CaseIterable {
    /// The gateway does what the setting names.
    case on
    /// The gateway does not do what the setting names.
    case off
}

extension StreamClientConfiguration {
    /// Whether URLs with `ws:` are permitted.
    var plain: Switch {
        get { allowsPlain ? .on : .off }
        set { allowsPlain = newValue == .on }
    }
}

extension WebhookConfiguration {
    /// Whether URLs with `http:` are permitted.
    var plainHTTP: Switch {
        get { allowsPlainHTTP ? .on : .off }
        set { allowsPlainHTTP = newValue == .on }
    }
}
