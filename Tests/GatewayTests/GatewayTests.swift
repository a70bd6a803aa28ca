import Foundation
import FoundationNetworking
import Logging
import NIOCore
import NIOPosix
import Testing

import Gateway

/// The whole gateway, on ports that the system chooses.
@Suite(.timeLimit(.minutes(10))) struct GatewayTests {
    private let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    private func development(_ settings: [(String, String)] = []) throws -> GatewayConfiguration {
        let ports = [("listen.port", "0"), ("listen.plain_port", "0"), ("media.port", "0"), ("media.workers", "1")]
        let overrides = (ports + settings).map { ConfigurationLoader.Override(path: $0.0, value: $0.1, flag: "--set") }
        return try ConfigurationLoader(isDevelopment: true, overrides: overrides).load().configuration
    }

    /// Runs `body` with the ports of a running gateway; the gateway must end in good order after.
    private func withGateway(_ configuration: GatewayConfiguration, _ body: (Gateway, [Int]) async throws -> Void)
        async throws
    {
        let gateway = try await Gateway.build(configuration, logger: logger)
        async let running: Void = gateway.run()
        let ports = try #require(await gateway.ports())
        try await body(gateway, ports)
        await gateway.shutDown()
        try await running
    }

    private func request(_ port: Int, _ path: String, user: String? = nil, body: String? = nil) async throws -> (
        status: Int, text: String, type: String?
    ) {
        var request = URLRequest(url: try #require(URL(string: "http://127.0.0.1:\(port)\(path)")))
        if let user {
            request.setValue("Basic " + Data(user.utf8).base64EncodedString(), forHTTPHeaderField: "Authorization")
        }
        if let body {
            request.httpMethod = "POST"
            request.httpBody = Data(body.utf8)
            request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        }
        let (data, response) = try await URLSession.shared.data(for: request)
        let http = try #require(response as? HTTPURLResponse)
        return (http.statusCode, String(decoding: data, as: UTF8.self), http.value(forHTTPHeaderField: "Content-Type"))
    }

    @Test func `a development gateway answers on both ports, and knows its demo users`() async throws {
        try await withGateway(try development()) { gateway, ports in
            try await HealthProbe(host: "127.0.0.1", port: ports[0], usesTLS: true).ask(.health, within: .seconds(120))
            try await HealthProbe(host: "127.0.0.1", port: ports[1], usesTLS: false).ask(.ready, within: .seconds(120))

            let page = try await request(ports[1], "/")
            #expect(page.status == 200)
            #expect(page.type == "text/html; charset=utf-8")
            let script = try await request(ports[1], "/spidr-client.js")
            #expect(script.type == "text/javascript; charset=utf-8")
            #expect(page.text.contains(#"src="/demo/demo.js""#))
            #expect(try await request(ports[1], "/demo/demo.js").type == "text/javascript; charset=utf-8")
            #expect(try await request(ports[1], "/demo/index.html").text == page.text)

            let path = "/rest/version/1/user/alice@dev.local/subscription"
            let wish = #"{"subscribeRequest":{"expires":3600,"service":["call"],"notificationType":"WebSocket"}}"#
            #expect(try await request(ports[1], path, user: "alice@dev.local:dev", body: wish).status == 201)
            #expect(try await request(ports[1], path, user: "alice@dev.local:wrong", body: wish).status == 403)

            let metrics = try await request(ports[1], "/metrics").text
            #expect(metrics.contains("\norbweaver_subscriptions_active 1\n"))
            #expect(metrics.contains("\norbweaver_authentication_failures_total{reason=\"wrong_password\"} 1\n"))
        }
    }

    @Test func `without --dev there are no demo users and no demo page`() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "gateway-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        defer { #expect(throws: Never.self) { try FileManager.default.removeItem(at: folder) } }
        let settings = [
            ("tls.mode", "off"), ("listen.host", "127.0.0.1"), ("listen.port", "0"), ("media.bind", "127.0.0.1"),
            ("media.port", "0"),
            ("media.workers", "1"), ("storage.path", folder.appending(path: "g.sqlite").path),
        ].map { ConfigurationLoader.Override(path: $0.0, value: $0.1, flag: "--set") }
        let configuration = try ConfigurationLoader(overrides: settings).load().configuration
        try await withGateway(configuration) { gateway, ports in
            #expect(ports.count == 1)
            #expect(try await request(ports[0], "/").status == 404)
            let users = try UserAdministration(configuration)
            #expect(try await users.list().isEmpty)
            // A user added while the gateway runs can log in at once.
            try await users.add("zoe@example.com", password: "secret", displayName: "Zoe")
            try users.close()
            let path = "/rest/version/1/user/zoe@example.com/subscription"
            let wish = #"{"subscribeRequest":{"service":["call"],"notificationType":"WebSocket"}}"#
            #expect(try await request(ports[0], path, user: "zoe@example.com:secret", body: wish).status == 201)
        }
    }

    @Test func `what is wrong with the configuration is told before anything opens`() async throws {
        await #expect(throws: ConfigurationError.self) {
            try await Gateway.build(GatewayConfiguration(), logger: logger)
        }
    }

    @Test func `a port that is taken is named`() async throws {
        try await withGateway(try development()) { _, ports in
            let second = try await Gateway.build(
                try development([("listen.plain_port", "\(ports[1])")]), logger: logger)
            let failure = await #expect(throws: GatewayFailure.self) { try await second.run() }
            #expect(failure?.description.contains("127.0.0.1 port \(ports[1])") == true)
            #expect(failure?.description.hasSuffix("another process listens there already") == true)
            #expect(await second.ports() == nil)
        }
    }

    @Test func `a client that does not finish its request cannot hold up the end`() async throws {
        let gateway = try await Gateway.build(try development([("drain.deadline", "2s")]), logger: logger)
        async let running: Void = gateway.run()
        let ports = try #require(await gateway.ports())
        let client = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup).connect(
            host: "127.0.0.1", port: ports[1]
        ).get()
        try await client.writeAndFlush(
            ByteBuffer(string: "POST /health HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nabc"))
        await gateway.shutDown()
        // Without the deadline it would wait for the rest of the request until the time limit of these tests.
        try await running
        try await client.closeFuture.get()
    }

    @Test func `before it stops it says so for a while and serves on; whoever is in a hurry asks again`() async throws {
        let gateway = try await Gateway.build(
            try development([("drain.announce", "200s"), ("drain.deadline", "400s")]), logger: logger)
        async let running: Void = gateway.run()
        let ports = try #require(await gateway.ports())
        await gateway.shutDown()
        while try await request(ports[1], "/ready").status == 200 { await Task.yield() }
        let path = "/rest/version/1/user/alice@dev.local/subscription"
        let wish = #"{"subscribeRequest":{"service":["call"],"notificationType":"WebSocket"}}"#
        #expect(try await request(ports[1], path, user: "alice@dev.local:dev", body: wish).status == 201)
        await gateway.shutDown()
        // Long before any of its deadlines, or the time limit of these tests.
        try await running
    }

    @Test func `a probe says what is wrong`() async throws {
        let nobody = HealthProbe(host: "127.0.0.1", port: 1, usesTLS: false)
        let failure = await #expect(throws: HealthProbe.Failure.self) {
            try await nobody.ask(.health, within: .seconds(120))
        }
        #expect(failure?.description == "nothing listens on 127.0.0.1:1")
    }
}
