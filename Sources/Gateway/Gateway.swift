import CallControl
import CallRuntime
import Cryptography
import Foundation
import Logging
import MediaServer
import NIOPosix
import NIOSSL
import Observability
import Primitives
import ServiceLifecycle
import SignalingServer
import Sockets
import Storage
import UnixSignals

/// The composition root: makes the parts, gives each its piece of the configuration, and starts and stops them in order.
///
///     start: media ─▶ switchboard ─▶ signalling ─▶ announcement
///     stop:  drain (calls end) ─▶ signalling (1001 to every socket) ─▶ switchboard ─▶ media
package struct Gateway {
    package static let version = "0.1.0"

    private let group: ServiceGroup

    /// Opens the database, binds the media ports and wires everything; nothing runs yet.
    package static func build(_ configuration: GatewayConfiguration, isDevelopment: Bool) async throws -> Gateway {
        let logger = LogOutput(level: configuration.logLevel, format: configuration.logFormat).makeLogger(label: "orbweaver")
        let metrics = GatewayMetrics(version: version, startTime: Int64(WallTime.unixNanoseconds / 1_000_000_000))
        let clock = SystemClock()
        var random = SecureRandomSource()
        let database = try GatewayDatabase(isDevelopment ? .temporary : .file(configuration.databasePath), logger: logger)
        if isDevelopment { try await DevelopmentUsers.add(to: database.users, domain: configuration.domain) }

        let mediaEvents = MediaEventInbox()
        let media = try MediaServer(
            configuration: try mediaConfiguration(configuration, isDevelopment: isDevelopment), metrics: metrics, logger: logger,
            events: { call, event in mediaEvents.post(event, for: call) })
        let sockets = SocketDirectory()
        let switchboard = LocalSwitchboard(
            configuration: switchboardConfiguration(configuration), users: database.users, media: media, mediaEvents: mediaEvents,
            channels: sockets, clock: clock, random: random, observer: RuntimeMetrics(metrics: metrics), logger: logger)

        var authentication = Authenticator.Configuration()
        authentication.defaultDomain = configuration.domain
        let authenticator = Authenticator(
            users: database.users, clock: clock, metrics: metrics, logger: logger, key: CredentialDigest.Key(using: &random),
            configuration: authentication)
        let signaling = SignalingService(
            configuration: SignalingConfiguration(listeners: try listeners(configuration, isDevelopment: isDevelopment)),
            switchboard: switchboard, sockets: sockets, authenticator: authenticator, clock: clock, metrics: metrics,
            pages: isDevelopment ? try DemoPages.load() : [:], group: MultiThreadedEventLoopGroup.singleton, logger: logger)

        let services: [any Service] = [
            MediaService(media: media), SwitchboardService(switchboard: switchboard), signaling,
            Announcement(signaling: signaling, media: media, logger: logger, isDevelopment: isDevelopment),
            DrainService(signaling: signaling, switchboard: switchboard, logger: logger),
        ]
        var lifecycle = ServiceGroupConfiguration(services: services, gracefulShutdownSignals: [.sigterm, .sigint], logger: logger)
        lifecycle.maximumGracefulShutdownDuration = configuration.drainDeadline
        return Gateway(group: ServiceGroup(configuration: lifecycle))
    }

    /// Runs until SIGTERM or SIGINT, and then until everything has ended or the drain deadline is over.
    package func run() async throws { try await group.run() }

    // MARK: Pieces of the configuration

    private static func switchboardConfiguration(_ configuration: GatewayConfiguration) -> LocalSwitchboard.Configuration {
        LocalSwitchboard.Configuration(
            media: configuration.mediaMode == .anchored ? .anchored : .direct, maximumCalls: configuration.maximumCalls,
            call: Call.Configuration(ringTime: configuration.ringTime),
            registration: Registration.Configuration(
                minimumExpires: configuration.registrationMinimum, maximumExpires: configuration.registrationMaximum,
                defaultExpires: configuration.registrationDefault, grace: configuration.registrationGrace,
                maximumSubscriptions: configuration.maximumSubscriptions,
                queue: NotificationQueue.Configuration(capacity: configuration.replayCount, maximumAge: configuration.replayAge)))
    }

    /// Some browsers never use loopback candidates, others on the same machine have nothing else: `--dev` offers both kinds.
    private static func mediaConfiguration(_ configuration: GatewayConfiguration, isDevelopment: Bool) throws -> MediaServer.Configuration {
        var bind = configuration.mediaBind
        if bind.isEmpty {
            bind = try NetworkInterfaces.addresses()
                .filter { $0.isUp && !$0.address.isLinkLocal && ($0.isLoopback ? isDevelopment : true) }
                .map(\.address)
        }
        guard !bind.isEmpty else { throw GatewayError("no interface has an address for media: set media.bind") }
        return MediaServer.Configuration(
            bind: bind, advertise: configuration.mediaAdvertise, firstPort: UInt16(clamping: configuration.mediaPort),
            workers: configuration.mediaWorkers ?? ProcessInfo.processInfo.activeProcessorCount,
            consentTimeout: configuration.consentTimeout)
    }

    private static func listeners(_ configuration: GatewayConfiguration, isDevelopment: Bool) throws -> [SignalingConfiguration.Listener] {
        var listeners = [
            SignalingConfiguration.Listener(
                host: configuration.listenHost, port: configuration.listenPort, tls: try tls(configuration, isDevelopment: isDevelopment))
        ]
        if let port = configuration.plainPort { listeners.append(SignalingConfiguration.Listener(host: "127.0.0.1", port: port)) }
        return listeners
    }

    private static func tls(_ configuration: GatewayConfiguration, isDevelopment: Bool) throws -> TLSConfiguration? {
        guard configuration.tlsMode == .on else { return nil }
        let chain: [NIOSSLCertificate]
        let key: NIOSSLPrivateKey
        if let certificateFile = configuration.tlsCertificate, let keyFile = configuration.tlsKey {
            do {
                chain = try NIOSSLCertificate.fromPEMFile(certificateFile)
                key = try NIOSSLPrivateKey(file: keyFile, format: .pem)
            } catch {
                throw GatewayError("tls.certificate '\(certificateFile)' and tls.key '\(keyFile)' cannot be used: \(error)")
            }
        } else if isDevelopment {
            let made = try Certificate(commonName: "localhost", alternativeNames: ["DNS:localhost", "IP:127.0.0.1", "IP:::1"], validityInDays: 30)
            chain = try NIOSSLCertificate.fromPEMBytes(Array(made.certificatePEM.utf8))
            key = try NIOSSLPrivateKey(bytes: Array(made.privateKeyPEM.value.utf8), format: .pem)
        } else {
            throw GatewayError("TLS needs tls.certificate and tls.key")
        }
        var tls = TLSConfiguration.makeServerConfiguration(certificateChain: chain.map { .certificate($0) }, privateKey: .privateKey(key))
        tls.minimumTLSVersion = .tlsv12
        return tls
    }
}

/// What keeps the gateway from starting, in a sentence for the operator.
package struct GatewayError: Error, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }
}
