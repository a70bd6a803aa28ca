import CallControl
import CallRuntime
import Cryptography
import Foundation
import GatewayAPI
import Logging
import NIOPosix
import Observability
import Primitives
import PushDelivery
import Registration
import ServiceLifecycle
import SignalingServer
import TestSupport

/// A real server on a loopback port, with recording neighbours.
struct TestServer: Sendable {
    /// In the order of the listeners.
    let ports: [Int]
    let switchboard: RecordingSwitchboard
    let sockets: SocketDirectory
    let users: MemoryUsers
    let books: MemoryAddressBooks
    let clock: ManualClock
    let metrics: GatewayMetrics
    let service: SignalingService
    private let group: ServiceGroup

    /// Runs the server for the length of the body.
    ///
    /// - Parameters:
    ///   - tokenKeys: the path of the file with the keys of bearer tokens; `nil`: they are not offered.
    ///   - applications: the applications that may log users in; `nil`: tokens of applications are not offered.
    ///   - v1: what answers below `/v1/`, to the keys of these applications; `nil`: nothing does.
    ///   - v1Sockets: what serves WebSockets there; `nil`: there are none.
    ///   - events: the log that clients follow on them.
    static func run(
        configure: (inout SignalingConfiguration) -> Void = { _ in }, pages: [String: Page] = [:],
        tokenKeys: String? = nil, applications: (any ApplicationRepository)? = nil, v1: (any V1Interface)? = nil,
        v1Sockets: (any V1Sockets)? = nil, events: (any PublicEvents)? = nil,
        _ body: (TestServer) async throws -> Void
    ) async throws {
        var configuration = SignalingConfiguration(listeners: [.init(host: "127.0.0.1", port: 0)])
        configure(&configuration)
        let (switchboard, sockets, clock) = (RecordingSwitchboard(), SocketDirectory(), ManualClock())
        let users = MemoryUsers(["joe": "secret", "ann": "hidden:too"])
        let books = MemoryAddressBooks()
        let metrics = GatewayMetrics(version: "test", startTime: 0)
        let logger = Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })
        var random = SeededRandomSource(seed: 7)
        var authentication = Authenticator.Configuration()
        authentication.defaultDomain = "example.com"
        authentication.passwordCost = PasswordHash.Cost(logN: 4)
        let watched = WatchedUsers(users, clock: clock)
        let authenticator = Authenticator(
            users: watched, clock: clock, metrics: metrics, logger: logger, random: random,
            key: CredentialDigest.Key(using: &random), configuration: authentication)
        let tokens = try tokenKeys.map {
            TokenAuthenticator(
                TokenPolicy(), keys: try TokenKeyFile($0, clock: clock, logger: logger), users: watched,
                sharingLimitsOf: authenticator, clock: clock, metrics: metrics, logger: logger)
        }
        let gate = v1.flatMap { v1 in
            applications.map {
                V1Gate(
                    v1,
                    authenticator: V1Authenticator(
                        $0, users: authenticator, tokens: tokens, clock: clock, metrics: metrics, logger: logger),
                    sockets: v1Sockets, events: events)
            }
        }
        let applications = applications.map {
            ApplicationAuthenticator(
                $0, sharingLimitsOf: authenticator, key: CredentialDigest.Key(using: &random), clock: clock,
                metrics: metrics, logger: logger)
        }
        let push = PushDirectory(
            limit: 3, users: watched, journal: VolatileJournal(), clock: clock, metrics: metrics, random: random)
        let service = SignalingService(
            configuration: configuration, switchboard: switchboard, sockets: sockets,
            authenticator: authenticator, tokens: tokens, applications: applications, v1: gate, users: watched,
            books: books,
            push: push,
            clock: clock, metrics: metrics, pages: pages,
            group: MultiThreadedEventLoopGroup.singleton,
            logger: logger)
        let group = ServiceGroup(configuration: .init(services: [service], logger: logger))
        try await withThrowingTaskGroup { tasks in
            tasks.addTask { try await group.run() }
            guard let ports = await service.ports() else { throw CancellationError() }
            let server = TestServer(
                ports: ports, switchboard: switchboard, sockets: sockets, users: users, books: books, clock: clock,
                metrics: metrics, service: service,
                group: group)
            do {
                try await body(server)
            } catch {
                await group.triggerGracefulShutdown()
                throw error
            }
            await group.triggerGracefulShutdown()
            try await tasks.waitForAll()
        }
    }

    /// Of the first listener.
    var port: Int { ports[0] }

    func shutDown() async { await group.triggerGracefulShutdown() }

    /// One request on a connection of its own.
    func request(
        _ method: String, _ path: String, _ body: String? = nil, as credentials: String? = "joe@example.com:secret",
        headers: [String] = []
    ) async throws -> HTTPText {
        let client = try await RawClient.connect(port)
        try await client.send(Self.text(method, path, body, as: credentials, headers: headers))
        let bytes = await client.read { method == "HEAD" ? HTTPText.headLength(of: $0) : HTTPText.length(of: $0) }
        await client.close()
        return HTTPText(bytes ?? [])
    }

    static func text(
        _ method: String, _ path: String, _ body: String? = nil, as credentials: String? = "joe@example.com:secret",
        headers: [String] = []
    ) -> String {
        var lines = ["\(method) \(path) HTTP/1.1", "Host: localhost"]
        if let credentials { lines.append("Authorization: Basic \(Data(credentials.utf8).base64EncodedString())") }
        if let body { lines += ["Content-Type: application/json", "Content-Length: \(body.utf8.count)"] }
        return (lines + headers + ["", body ?? ""]).joined(separator: "\r\n")
    }
}

extension SocketDirectory {
    /// Sends a notification at once.
    func transmit(_ frame: NotificationFrame, to socket: SocketID) {
        transmission(of: [AddressedFrame(frame, to: socket)])()
    }
}
