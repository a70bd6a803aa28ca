import AdminServer
import ApplicationServer
import CallControl
import CallRuntime
import Cryptography
import EventLoops
import EventServer
import Foundation
package import Logging
import MediaServer
package import NIOCore
import NIOPosix
import NIOSSL
package import Observability
import Primitives
import PushClient
import PushDelivery
import RecordingServer
import SPiDR
import ServiceLifecycle
import SignalingServer
import Sockets
import Storage
import StreamClient
package import UnixSignals
import WebhookDelivery

/// A whole gateway, built from its configuration. `orbweaver serve` and tests run it.
package struct Gateway: Sendable {
    /// The metrics of all parts.
    package let metrics: GatewayMetrics
    private let configuration: GatewayConfiguration
    private let signaling: SignalingService
    private let drain: DrainService
    private let administration: AdminService
    private let signals: [UnixSignal]
    private let services: ServiceGroup
    /// Wakes the phones of the demo page; `nil`: nothing does.
    private let demoPush: DemoPush?
    private let logger: Logger

    /// Opens the database and the media ports, and connects the parts. The TCP ports open in ``run()``.
    ///
    /// - Parameters:
    ///   - level: what decides about the level of `logger`, if it can be changed at run time.
    ///   - signals: the signals that end the gateway in good order; none in tests.
    ///   - group: the event loops; they outlive the gateway.
    /// - Throws: ``ConfigurationError`` if settings contradict each other or name unusable files; `StorageError` if the
    ///   database cannot be opened; ``GatewayFailure`` if the media server cannot start.
    package static func build(
        _ configuration: GatewayConfiguration, logger: Logger, level: LogLevelSwitch? = nil,
        signals: [UnixSignal] = [],
        group: any EventLoopGroup = MultiThreadedEventLoopGroup.singleton
    ) async throws -> Gateway {
        try configuration.check()
        for warning in configuration.warnings {
            logger.warning("a setting is ignored", metadata: [LogKey.reason: "\(warning)"])
        }
        let clock = SystemClock(loops: group)
        var random = SecureRandomSource()
        let metrics = GatewayMetrics(version: GatewayVersion.current, startTime: clock.epochMilliseconds / 1_000)
        let listeners = try configuration.listeners()
        let pages = configuration.isDevelopment ? try DemoPages.load() : [:]
        let demoPush = try DemoPush(
            configuration, certificate: listeners.first?.tls?.certificateChain.first, random: &random)

        let lock = configuration.isDevelopment ? nil : try DatabaseCopy.lock(configuration.storagePath)
        let database = try GatewayDatabase(
            configuration.isDevelopment ? .temporary : .file(configuration.storagePath),
            checksPages: !configuration.isDevelopment, logger: logger)
        if configuration.isDevelopment {
            try await DemoUsers.add(to: database.users, configuration.authenticator.passwordCost)
            try await DemoApplication.add(to: database.applications)
        } else if try await database.users.isEmpty {
            logger.warning(
                "the database has no users: add some with `orbweaver user add`, or correct storage.path",
                metadata: [LogKey.path: "\(configuration.storagePath)"])
        }
        let logins = try await configuration.loginMemory(database.logins, clock: clock, random: &random, logger: logger)

        let users = WatchedUsers(database.users, clock: clock)
        let mediaEvents = MediaEventInbox()
        let eventFile = try configuration.callEventFile(logger: logger)
        let processName = random.nextToken(12, alphabet: .url).replacing("-", with: "a")
        let journal = try configuration.openJournal(in: database, clock: clock, logger: logger) {
            metrics.rowsSetAside.increment(by: UInt64($0))
        }
        let recordings = try configuration.openRecordings(
            in: database, journal: journal, clock: clock, random: random, metrics: metrics, logger: logger)
        let media = try makeMedia(configuration, metrics, recordings.recorder, logger) { call, event in
            mediaEvents.post(event, for: call)
        }
        if case .file(let name) = configuration.switchboard.call.earlyMedia?.source {
            do throws(MediaFileError) {
                try await media.load(file: name)
            } catch {
                throw ConfigurationError(problems: [
                    ConfigurationProblem(nil, "calls.early_media: \(error.clause)")
                ])
            }
        }
        let contents = try await journal.contents()
        metrics.rowsSetAside.increment(by: UInt64(contents.setAside.count))
        let pushConfiguration = demoPush?.configuration ?? configuration.push.configuration
        let pushDirectory = PushDirectory(
            limit: configuration.push.registrationsPerUser, restoring: contents.pushRegistrations,
            providers: pushConfiguration.providers, users: users,
            journal: journal, clock: clock, metrics: metrics, random: random)
        let pushClient = try makePushClient(pushConfiguration, pushDirectory, metrics, logger)
        let pushes = PushDelivery(
            pushDirectory, through: pushClient, restoring: contents.owedPushes, journal: journal, clock: clock,
            logger: logger)
        let dialer = try configuration.makeStreamDialer()
        let sockets = SocketDirectory()
        let switchboard = LocalSwitchboard(
            configuration: configuration.resolvedSwitchboard, users: users, media: media, mediaEvents: mediaEvents,
            channels: sockets, push: pushes, recordings: recordings, streams: dialer,
            applications: configuration.isDevelopment ? [DemoUsers.echo] : [],
            log: journal.callLog, eventLog: eventFile,
            journal: journal, clock: clock, random: random,
            observer: MetricsObserver(metrics: metrics),
            executors: group.makeIterator().map(EventLoopExecutor.init), logger: logger)
        await switchboard.restore(contents)
        try await recordings.recover()
        let register = ApplicationRegister(
            database.applications, switchboard, beside: configuration.isDevelopment ? [DemoUsers.echo] : [],
            logger: logger)
        await register.refresh()
        let authenticator = Authenticator(
            users: users, clock: clock, metrics: metrics, logger: logger, random: random, key: logins.key,
            remembered: logins.remembered, journal: logins.journal, configuration: configuration.resolvedAuthenticator)
        let tokens = try configuration.tokenKeyFile(clock: clock, logger: logger).map {
            TokenAuthenticator(
                configuration.tokens, keys: $0, users: users, sharingLimitsOf: authenticator, clock: clock,
                metrics: metrics, logger: logger)
        }
        let applications = ApplicationAuthenticator(
            database.applications, sharingLimitsOf: authenticator, key: logins.key,
            tokenTime: configuration.applicationTokenTime, clock: clock, metrics: metrics, logger: logger)
        let events = EventResponder(
            of: journal, calls: switchboard, applications: database.applications, users: users, clock: clock)
        let calls = CallResponder(
            switchboard, recordings: recordings, requests: database.administration, journal: journal, clock: clock,
            process: processName, keys: configuration.idempotencyKeys)
        let router = V1Router(
            [("/v1/events", events), ("/v1/calls", calls), ("/v1/recordings", calls)], sockets: [events, calls])
        let v1 = V1Gate(
            router,
            authenticator: V1Authenticator(
                database.applications, users: authenticator, tokens: tokens, clock: clock, metrics: metrics,
                logger: logger), sockets: router, events: journal.publicEvents)
        var signalingConfiguration = configuration.signaling
        signalingConfiguration.compression = configuration.listen.compression.mode
        signalingConfiguration.listeners = listeners
        signalingConfiguration.turn = try configuration.sharedTURNSecret()
        signalingConfiguration.guests.policy.realms = try configuration.callMeRealms()
        signalingConfiguration.channelCloseTimeout = configuration.drain.closePatience
        signalingConfiguration.confirmation = configuration.confirmation
        signalingConfiguration.maxConnections = fittingConnections(configuration, listeners: listeners.count, logger)
        let signaling = SignalingService(
            configuration: signalingConfiguration, switchboard: switchboard, sockets: sockets,
            authenticator: authenticator, tokens: tokens, applications: applications, v1: v1, users: users,
            books: database.addressBooks, routes: database.routes, push: pushDirectory, journal: journal,
            usedTokens: contents.usedTokens,
            clock: clock, metrics: metrics, pages: pages, pageService: demoPush?.service, group: group, logger: logger)

        let webhooks = try configuration.makeWebhooks(
            database: database, journal: journal, calls: switchboard, clock: clock, metrics: metrics, logger: logger)
        let drain = DrainService(
            signaling: signaling, switchboard: switchboard, configuration: configuration.drain, clock: clock,
            logger: logger)

        let controls = RunningGateway(
            configuration: configuration, maxConnections: signalingConfiguration.maxConnections,
            startedAt: clock.epochMilliseconds, metrics: metrics, users: users,
            authenticator: authenticator, tokens: tokens, applications: register, journal: journal,
            administration: switchboard, drain: drain, level: level ?? LogLevelSwitch(configuration.log.level))
        let administration = AdminService(
            configuration: configuration.adminListeners(tls: listeners.first?.tls),
            responder: AdminResponder(
                accounts: database.users, applications: database.applications, routes: database.routes,
                repository: database.administration,
                administration: switchboard,
                push: pushDirectory, pushNews: switchboard, pushTrial: pushes, controls: controls,
                journal: journal, events: journal.publicEvents, webhooks: webhooks,
                auditLimits: configuration.admin.audit, passwordCost: configuration.authenticator.passwordCost,
                clock: clock, ownUser: ProcessIdentity.user,
                process: processName, logger: logger),
            group: group, logger: logger)

        // Started in this order, shut down in reverse: drain first, while everything else still runs.
        let services: [any Service] = [
            DemoPushService(demo: demoPush),
            DatabaseService(database: database, lock: lock),
            JournalService(journal: journal),
            LoginJournalService(journal: logins.journal),
            CallEventService(file: eventFile),
            RecordingService(library: recordings, switchboard: switchboard),
            StreamService(dialer: dialer),
            MediaService(media: media),
            PushService(delivery: pushes, client: pushClient, switchboard: switchboard, clock: clock),
            SwitchboardService(switchboard: switchboard),
            WebhookService(webhooks: webhooks),
            AccountService(
                switchboard: switchboard, push: pushDirectory, applications: register, clock: clock, logger: logger),
            administration,
            signaling,
            PublicEventService(log: journal.publicEvents),
            drain,
        ]
        return Gateway(
            metrics: metrics, configuration: configuration, signaling: signaling, drain: drain,
            administration: administration, signals: signals,
            services: ServiceGroup(configuration: .init(services: services, logger: logger)), demoPush: demoPush,
            logger: logger)
    }

    /// Builds a gateway and runs it until SIGTERM or SIGINT, as `orbweaver serve` does.
    ///
    /// - Throws: the errors of ``build(_:logger:signals:group:)`` (``ConfigurationError``, `StorageError`,
    ///   ``GatewayFailure``) and of ``run()``.
    package static func serve(_ configuration: GatewayConfiguration) async throws {
        let level = LogLevelSwitch(configuration.log.level)
        let logger = configuration.log.makeLogger(label: "orbweaver", levelSwitch: level)
        _ = DescriptorLimit.raise()
        FileSizeLimit.reportAsError()
        try await build(configuration, logger: logger, level: level, signals: [.sigterm, .sigint]).run()
    }

    /// Serves until a signal or ``shutDown()``, and returns when everything has ended.
    ///
    /// - Throws: ``GatewayFailure`` if a TCP port cannot be opened; otherwise the error of the part that failed.
    package func run() async throws {
        // This comes before the gateway is announced. Until then a signal ends the process as it ends any other.
        let arriving = await UnixSignalsSequence(trapping: signals)
        try await withThrowingTaskGroup { group in
            group.addTask { await announce() }
            group.addTask { for await _ in arriving { await shutDown() } }
            defer { group.cancelAll() }
            do {
                try await runServices()
            } catch let error as IOError {
                throw GatewayFailure(opening: configuration, error)
            } catch is CancellationError where signaling.isDraining {
                // Parts that did not finish within the drain deadline were cut off: late, but wanted.
                logger.warning("the drain deadline has passed")
            }
        }
        logger.info("stopped")
    }

    /// Runs the services. The drain says when they are shut down, and when those that are left are cut off.
    ///
    /// - Throws: `CancellationError` if some were cut off; otherwise the error of the service that failed.
    private func runServices() async throws {
        try await withThrowingTaskGroup { group in
            group.addTask { try await services.run() }
            group.addTask {
                for await end in drain.endings {
                    await services.triggerGracefulShutdown()
                    try await SystemClock().sleep(until: end)
                }
                throw CancellationError()
            }
            defer { group.cancelAll() }
            try await group.next()
        }
    }

    /// Ends ``run()`` as a signal would. The second time it ends quickly, whatever `drain.announce` and `drain.calls`
    /// say.
    package func shutDown() async { await drain.stop(by: .signal) }

    /// The TCP port of the administration interface; `nil` if there is none. Waits until that is known; to be asked
    /// once.
    package func administrationPort() async -> Int? { await administration.port() }

    /// The TCP ports in the order main, plain. `nil` if one could not be opened. Waits until that is known.
    package func ports() async -> [Int]? { await signaling.ports() }

    private static func makeMedia(
        _ configuration: GatewayConfiguration, _ metrics: GatewayMetrics, _ recorder: any AudioRecorder,
        _ logger: Logger, events: @escaping @Sendable (CallID, MediaEvent) -> Void
    ) throws -> MediaServer {
        let media = try configuration.resolvedMedia()
        do {
            return try MediaServer(
                configuration: media, metrics: metrics, logger: logger, recorder: recorder, events: events)
        } catch {
            throw GatewayFailure(error)
        }
    }

    private static func makePushClient(
        _ configuration: PushConfiguration, _ directory: PushDirectory, _ metrics: GatewayMetrics, _ logger: Logger
    ) throws -> PushClient {
        do {
            return try PushClient(configuration, lookUp: directory.current, metrics: metrics, logger: logger)
        } catch let error as SocketError {
            throw GatewayFailure(startingPush: error)
        }
    }

    /// `listen.max_connections`, or fewer if the process may not have as many descriptors; then a warning is logged.
    private static func fittingConnections(_ configuration: GatewayConfiguration, listeners: Int, _ logger: Logger)
        -> Int
    {
        let media =
            configuration.media.tcpPort == nil
            ? 0 : configuration.workerCount * configuration.media.maximumConnectionsPerWorker
        let budget = DescriptorBudget(
            limit: DescriptorLimit.current, inUse: DescriptorLimit.inUse, mediaConnections: media,
            apps: configuration.push.configuration.applications.map { AppAccounts.count(in: $0.folder) } ?? 0)
        let (wanted, fitting) = (configuration.signaling.maxConnections, budget.connections(ofEachOf: listeners))
        guard fitting < wanted else { return wanted }
        logger.warning(
            "listen.max_connections is lowered: the limit of open files leaves room for fewer",
            metadata: [
                LogKey.count: "\(fitting)", LogKey.reason: "\(wanted) wanted, open files limited to \(budget.limit)",
            ])
        return fitting
    }

    private func announce() async {
        guard let ports = await ports() else { return }
        if let demoPush, let port = ports.first { await demoPush.service.serve(onPort: port) }
        logger.info(
            "serving",
            metadata: [
                LogKey.version: "\(GatewayVersion.current)",
                LogKey.port: "\(ports.map(String.init).joined(separator: ", "))",
                LogKey.media: "\(configuration.switchboard.media.rawValue)",
            ])
        if configuration.isDevelopment, let plain = ports.dropFirst().first {
            logger.warning("the demo users have a password that everybody knows: keep strangers away from these ports")
            logger.info(
                "the demo application answers at bot@\(DemoUsers.domain)",
                metadata: [LogKey.application: "demo", LogKey.key: "\(DemoApplication.key)"])
            let line =
                "Orbweaver is running. Open http://\(configuration.listen.plainHost):\(plain)/ for two phones on one page.\n"
            // Not `print`: in a pipe or a file its text would wait in a buffer until the end. A reader that has gone
            // misses the line.
            try? FileHandle.standardOutput.write(contentsOf: Data(line.utf8))
        }
    }
}
