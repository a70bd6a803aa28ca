package import CallRuntime
import EventLoops
import GatewayAPI
import HummingbirdCore
import HummingbirdTLS
package import Logging
package import NIOCore
package import Observability
import ServiceLifecycle

/// Serves REST requests and notification channels on the configured ports, from `run()` until the graceful shutdown.
///
/// On shutdown it stops accepting, closes every WebSocket with 1001, lets running requests finish, and returns. To end
/// calls while sockets are still open, call ``startDraining()``, end the calls, and then shut this service down.
package final class SignalingService: Service {
    private let configuration: SignalingConfiguration
    /// One for each listener, in the same order.
    private let channelSetups: [SignalingChannel]
    private let authenticator: Authenticator
    private let draining: DrainingFlag
    private let polls: PollDirectory
    private let v1: V1Gate?
    private let bound: BoundPorts
    private let sockets: SocketDirectory
    private let group: any EventLoopGroup
    private let metrics: GatewayMetrics
    private let logger: Logger

    /// Makes a service; ``run()`` opens its ports.
    ///
    /// - Parameters:
    ///   - sockets: the directory to which call handling writes its notifications.
    ///   - tokens: the check of bearer tokens; `nil`: they are not offered.
    ///   - applications: the check of tokens of applications; `nil`: they are not offered.
    ///   - v1: what answers below `/v1/`, and who checks the credentials there; `nil`: nothing does.
    ///   - users: the users whose database `/ready` answers for; the authenticator reads the same. `nil`: `/ready` does
    ///     not depend on a database.
    ///   - books: the address books of users; `nil`: they cannot be used.
    ///   - routes: the routes of users; `nil`: they cannot be used.
    ///   - push: the registrations for push; `nil`: there can be none.
    ///   - journal: what has to be durable before a request that changes something is answered.
    ///   - usedTokens: the single-use tokens that guests have come with before.
    ///   - pages: the pages by their paths, such as `/` and `/spidr-client.js`; empty if only the interface is served.
    ///   - pageService: what answers below a path of the pages; `nil`: nothing does.
    ///   - group: the event loops; they outlive the service.
    package init(
        configuration: SignalingConfiguration, switchboard: any Switchboard & Registrar & CallRecords & UserServices,
        sockets: SocketDirectory,
        authenticator: Authenticator, tokens: TokenAuthenticator? = nil, applications: ApplicationAuthenticator? = nil,
        v1: V1Gate? = nil, users: WatchedUsers? = nil, books: (any AddressBookRepository)? = nil,
        routes: (any RouteRepository)? = nil, push: (any PushRegistrar)? = nil,
        journal: any Journal = VolatileJournal(), usedTokens: [UsedToken] = [], clock: any RuntimeClock,
        metrics: GatewayMetrics, pages: [String: Page] = [:], pageService: (any PageService)? = nil,
        group: any EventLoopGroup,
        logger: Logger
    ) {
        self.configuration = configuration
        self.authenticator = authenticator
        self.sockets = sockets
        self.group = group
        self.metrics = metrics
        self.logger = logger
        self.v1 = v1
        draining = DrainingFlag()
        bound = BoundPorts(count: configuration.listeners.count)
        let guests = GuestAuthenticator(
            configuration.guests, defaultDomain: authenticator.defaultDomain, usedTokens: usedTokens, clock: clock,
            metrics: metrics)
        polls = PollDirectory(
            switchboard, sockets, on: group,
            times: PollSocket.Times(
                hold: TimeAmount(configuration.pollTime),
                absence: TimeAmount(configuration.pollTime + SignalingConfiguration.pollAbsence)))
        let responder = SignalingResponder(
            switchboard: switchboard, registrar: switchboard, records: switchboard, services: switchboard,
            authenticator: authenticator,
            tokens: tokens, applications: applications, guests: guests, v1: v1, metrics: metrics,
            draining: draining, users: users, books: books, bookLimits: configuration.addressBooks, routes: routes,
            push: push, journal: journal,
            polls: polls, pages: pages, pageService: pageService,
            limits: BodyLimits(accepted: configuration.maxBodyBytes), defaultDomain: authenticator.defaultDomain,
            turn: configuration.turn, pollTime: configuration.pollTime, clock: clock, logger: logger)
        let date = DateHeader(clock: clock)
        let compressors = CompressorsOfLoops()
        let broadcasts = v1?.events.map { EventBroadcasts($0, clock: clock) }
        channelSetups = configuration.listeners.map { [draining] listener in
            var responder = responder
            responder.hidesMetrics = listener.tls != nil && configuration.listeners.contains { $0.tls == nil }
            let exchange = HTTPExchange(
                responder: responder, registrar: switchboard, date: date, trustedProxies: configuration.trustedProxies,
                readsProxyHeaders: listener.readsProxyHeaders)
            return SignalingChannel(
                responder: { request, writer, channel in try await exchange.run(request, writer, channel) },
                configuration: configuration.channelSetup(defaultDomain: authenticator.defaultDomain),
                registrar: switchboard, tokens: tokens, trustedProxies: configuration.trustedProxies,
                readsProxyHeaders: listener.readsProxyHeaders, sockets: sockets, metrics: metrics, draining: draining,
                compressors: compressors, broadcasts: broadcasts, v1: v1)
        }
    }

    /// From now on `GET /ready` answers 503, and each connection ends with its next answer. Everything else goes on.
    package func announceDraining() { draining.announce() }

    /// Takes back ``announceDraining()``: `GET /ready` answers as before. Not possible after ``startDraining()``.
    package func withdrawDraining() { draining.withdraw() }

    /// Does the same as ``announceDraining()``, and from now on no new channel is opened.
    package func startDraining() { draining.set() }

    /// Whether ``startDraining()`` has been called, or the shutdown has started.
    package var isDraining: Bool { draining.isSet }

    /// The ports in the order of the configured listeners, once all of them are open. `nil` if one could not be opened.
    package func ports() async -> [Int]? { await bound.all() }

    /// Serves until the graceful shutdown.
    ///
    /// - Throws: `IOError` if a listener cannot be opened, `NIOSSLError` if its TLS configuration cannot be used, or
    ///   the error of a listener that fails. The other listeners end with it.
    package func run() async throws {
        do {
            try await withGracefulShutdownHandler {
                try await withThrowingTaskGroup { group in
                    for (index, listener) in configuration.listeners.enumerated() {
                        let server = try makeServer(listener, index)
                        group.addTask { try await server.run() }
                    }
                    group.addTask {
                        // A request that waits for its turn in the login queue would keep its connection, and so the
                        // server, from ending. Fails only when everything is cancelled.
                        guard (try? await gracefulShutdown()) != nil else { return }
                        self.draining.set()
                        self.polls.release()
                        self.v1?.interface.finish()
                        await self.authenticator.turnAway()
                    }
                    // A listener that ends early, with or without an error, ends the others too.
                    defer { group.cancelAll() }
                    for try await _ in group where !isDraining { return }
                }
            } onGracefulShutdown: {
                self.draining.set()
            }
        } catch {
            await end()
            throw error
        }
        await end()
    }

    private func end() async {
        bound.fail()
        await sockets.endWebSockets()
        await authenticator.shutdown()
    }

    /// How many connections may wait to be accepted. The kernel keeps no more than net.core.somaxconn (listen(2)).
    /// Clients that come back all at once fill a short queue. Those dropped from it are reset half a minute later.
    private static let backlog = 4_096

    private func makeServer(_ listener: SignalingConfiguration.Listener, _ index: Int) throws -> any Service {
        let channelSetup = channelSetups[index]
        let plain = HTTPServerBuilder { _ in channelSetup }
        let builder =
            if let tls = listener.tls { try HTTPServerBuilder.tls(plain, tlsConfiguration: tls) } else { plain }
        let permission = AcceptPermission()
        return try builder.buildServer(
            configuration: ServerConfiguration(
                address: .hostname(listener.host, port: listener.port),
                backlog: Self.backlog,
                availableConnectionsDelegate: permission
            ),
            eventLoopGroup: group,
            logger: logger,
            responder: channelSetup.responder,
            onServerRunning: { channel in
                do {
                    try await self.guardListener(channel, listener, permission)
                    self.bound.set(index, channel.localAddress?.port ?? listener.port)
                } catch {
                    // The listener was closed before it served a client.
                    self.bound.fail()
                }
            }
        )
    }

    /// Puts a gate in front of a listener, and lets it accept.
    private func guardListener(
        _ channel: any Channel, _ listener: SignalingConfiguration.Listener, _ permission: AcceptPermission
    ) async throws {
        let readsProxyHeaders = listener.readsProxyHeaders
        let (configuration, metrics, logger) = (configuration, metrics, logger)
        try await channel.eventLoop.submit {
            let limits = ConnectionTable.Configuration(
                maximum: configuration.maxConnections, perNetwork: configuration.maxConnectionsPerAddress)
            let gate = ConnectionGate(
                limits, trustedProxies: configuration.trustedProxies, readsProxyHeaders: readsProxyHeaders,
                writeTimeout: TimeAmount(configuration.writeTimeout), metrics: metrics,
                logger: logger, on: channel.eventLoop)
            try channel.limitKernelBuffers(
                sent: configuration.kernelBuffers.sent, unsent: configuration.kernelBuffers.unsent)
            try channel.pipeline.syncOperations.addHandler(gate, position: .first)
            permission.grant()
            channel.read()
        }.get()
    }
}
