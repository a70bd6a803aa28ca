package import Logging
package import Observability
package import Primitives

/// Everything that can be set, with defaults that work. Read once at start; every part gets its own piece.
///
/// `Setting.all` says how each field is called in a file, in the environment and on the command line.
package struct GatewayConfiguration: Equatable, Sendable {
    package enum TLSMode: String, CaseIterable, Sendable {
        case on
        case off
    }

    package enum MediaMode: String, CaseIterable, Sendable {
        case anchored
        case direct
    }

    package var listenHost = "0.0.0.0"
    package var listenPort = 8443
    /// Plain HTTP on 127.0.0.1 beside the listener above; `nil` is none.
    package var plainPort: Int?

    package var tlsMode = TLSMode.on
    package var tlsCertificate: String?
    package var tlsKey: String?

    package var mediaMode = MediaMode.anchored
    /// Empty: every interface address.
    package var mediaBind: [IPAddress] = []
    /// Empty: the addresses bound.
    package var mediaAdvertise: [IPAddress] = []
    package var mediaPort = 7000
    /// `nil`: one per core.
    package var mediaWorkers: Int?
    package var consentTimeout = Duration.seconds(30)

    package var databasePath = "orbweaver.sqlite"

    package var domain = "localhost"
    package var registrationDefault = Duration.seconds(3_600)
    package var registrationMinimum = Duration.seconds(60)
    package var registrationMaximum = Duration.seconds(86_400)
    package var registrationGrace = Duration.seconds(5)
    package var maximumSubscriptions = 10
    package var replayCount = 100
    package var replayAge = Duration.seconds(60)

    package var ringTime = Duration.seconds(60)
    package var maximumCalls = 20_000

    package var drainDeadline = Duration.seconds(20)

    package var logLevel = Logger.Level.info
    package var logFormat = LogOutput.Format.text

    package init() {}

    /// What `--dev` changes before anything else is read.
    package static var development: GatewayConfiguration {
        var configuration = GatewayConfiguration()
        configuration.plainPort = 8080
        configuration.domain = "dev.local"
        return configuration
    }
}
