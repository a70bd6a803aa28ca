import CallControl
package import CallRuntime
package import MediaServer
package import Observability
package import SDP
package import SignalingServer

/// Everything about the gateway that can be set, with defaults that work. Read once at start; each part gets its own piece.
///
/// What a part can be told stands in that part's own `Configuration`; here is only what concerns the whole process.
/// Every field that operators may set has an entry in ``ConfigurationKey/all``.
package struct GatewayConfiguration: Sendable {
    package struct Listen: Equatable, Sendable {
        package var host = "0.0.0.0"
        package var port: UInt16 = 8443
        /// A second listener, always without TLS.
        package var plainHost = "127.0.0.1"
        /// `nil`: there is none.
        package var plainPort: UInt16?
    }

    package enum TLSMode: String, CaseIterable, Sendable {
        case on
        /// Somebody else, in front of the gateway, does TLS.
        case off
    }

    package struct TLS: Equatable, Sendable {
        package var mode = TLSMode.on
        /// Path of a PEM file, the gateway's own certificate first.
        package var certificate: String?
        /// Path of a PEM file.
        package var key: String?
    }

    package var listen = Listen()
    package var tls = TLS()
    package var signaling = SignalingConfiguration(listeners: [])
    package var authenticator = Authenticator.Configuration()
    /// Threads that check passwords; `nil`: one per core.
    package var hashingThreads: Int?
    /// How long logins are remembered across restarts; `nil`: they are not.
    package var rememberedLogins: Duration? = .seconds(30 * 86_400)
    /// The file with the key of remembered logins; `nil`: beside the database.
    package var loginKeyPath: String?
    package var switchboard = LocalSwitchboard.Configuration(
        call: Call.Configuration(earlyMedia: Playback(.tone(.ringback))))
    package var callLog = MemoryCallLog.Configuration()
    /// `bind` and `advertise` are empty when the addresses of this machine are meant.
    package var media = MediaServer.Configuration(bind: [])
    /// `nil`: one per core.
    package var mediaWorkers: Int?
    /// The file with the secret that TURN servers share; `nil`: no credentials for them.
    package var turnSecretPath: String?
    /// The file with the realms of callMe tokens.
    package var callMeRealmsPath: String?
    /// How long credentials for TURN servers are good.
    package var turnTimeToLive = Duration.seconds(86_400)
    /// Whether peers without a common audio codec can talk.
    package var transcoding = Switch.on
    /// Whether keys that sound in the audio are passed on as keys.
    package var inbandKeys = Switch.off
    /// What every client is taken to want, unless it says otherwise for a call; Opus values over those of the set.
    package var mediaPreferences = MediaPreferences()
    /// One of the reference guide's; `nil`: Opus as descriptions say.
    package var opusSet: OpusParameterSet?
    package var storagePath = "orbweaver.sqlite"
    package var drain = Drain.Configuration()
    package var log = LogOutput()

    /// Demo users, a throw-away database, the demo page, a certificate made at start. Only a flag can say so.
    package private(set) var isDevelopment = false

    package init() {}

    /// What `--dev` starts from; file, environment and flags are laid over it.
    package static var development: GatewayConfiguration {
        var configuration = GatewayConfiguration()
        configuration.isDevelopment = true
        configuration.listen.plainPort = 8080
        configuration.authenticator.defaultDomain = DemoUsers.domain
        return configuration
    }
}

/// A setting that is on or off.
package enum Switch: String, Equatable, Sendable, CaseIterable {
    case on
    case off
}
