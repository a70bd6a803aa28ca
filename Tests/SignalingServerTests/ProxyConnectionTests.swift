import Cryptography
import NIOSSL
import Observability
import Primitives
import SignalingServer
import Testing

/// Connections that start with a PROXY header, on a real server: 127.0.0.1 is a trusted proxy, 127.0.0.2 is none.
@Suite(.timeLimit(.minutes(10))) struct `Connections with PROXY headers` {
    private static let path = "/rest/version/1/user/joe@example.com/subscription"
    private static let body = #"{"subscribeRequest":{"service":["call"]}}"#
    private let health = TestServer.text("GET", "/health", as: nil)

    private func run(_ body: (TestServer) async throws -> Void) async throws {
        try await run(configure: { _ in }, body)
    }

    private func run(
        configure set: (inout SignalingConfiguration) -> Void, tls: TLSConfiguration? = nil,
        _ body: (TestServer) async throws -> Void
    ) async throws {
        try await TestServer.run(
            configure: {
                $0.listeners = [.init(host: "127.0.0.1", port: 0, tls: tls, readsProxyHeaders: true)]
                $0.trustedProxies = TrustedProxies(["127.0.0.1", "10.0.0.0/8"].compactMap { IPAddressRange($0) })
                set(&$0)
            }, body)
    }

    /// The status of the answer on a connection that starts with this header; `nil`: it was closed without one.
    private func status(
        _ server: TestServer, _ header: [UInt8], _ text: String? = nil, from source: String? = nil,
        tls: NIOSSLContext? = nil
    ) async throws -> Int? {
        let client = try await RawClient.connect(server.port, from: source, tls: tls, preamble: header)
        try? await client.send(text ?? health)
        let answer = await client.read(until: HTTPText.length).map { HTTPText($0).status }
        await client.close()
        return answer
    }

    private func login(_ server: TestServer, _ header: [UInt8], _ password: String, forwarded: String? = nil)
        async throws -> Int?
    {
        let headers = forwarded.map { ["X-Forwarded-For: \($0)"] } ?? []
        return try await status(
            server, header, TestServer.text("POST", Self.path, Self.body, as: "joe:\(password)", headers: headers))
    }

    @Test func `limits count the client that the header tells`() async throws {
        try await run { server async throws in
            let (one, other) = (ProxyHeaderBytes.version2(of: "192.0.2.1"), ProxyHeaderBytes.version2(of: "192.0.2.2"))
            for guess in 1...5 { #expect(try await login(server, one, "\(guess)") == 403) }
            #expect(try await login(server, one, "secret") == 429)
            #expect(try await login(server, Array("PROXY TCP4 192.0.2.1 10.0.0.1 1 2\r\n".utf8), "secret") == 429)
            #expect(try await login(server, other, "secret") == 201)
        }
    }

    @Test func `behind the header X-Forwarded-For is read only from a trusted proxy`() async throws {
        try await run { server async throws in
            for guess in 1...5 {
                let stranger = ProxyHeaderBytes.version2(of: "192.0.2.1")
                #expect(try await login(server, stranger, "\(guess)", forwarded: "198.51.100.\(guess)") == 403)
            }
            // The same client, through a proxy in front of the proxy.
            let proxy = ProxyHeaderBytes.version2(of: "10.1.1.1")
            #expect(try await login(server, proxy, "secret", forwarded: "192.0.2.1") == 429)
            #expect(try await login(server, proxy, "secret", forwarded: "192.0.2.3") == 201)
        }
    }

    @Test(arguments: [ProxyHeader.local, Array("PROXY UNKNOWN\r\n".utf8)])
    func `without a client the proxy counts, whatever its request says`(_ header: [UInt8]) async throws {
        try await run { server async throws in
            for guess in 1...5 {
                #expect(try await login(server, header, "\(guess)", forwarded: "198.51.100.\(guess)") == 403)
            }
            #expect(try await login(server, header, "secret", forwarded: "198.51.100.6") == 429)
        }
    }

    @Test func `a header may come one byte at a time, and the request right behind it`() async throws {
        // The bytes take as long as the machine has other things to do.
        try await run(configure: { $0.firstRequestTimeout = .seconds(3_600) }) { server async throws in
            let client = try await RawClient.connect(server.port)
            for byte in ProxyHeaderBytes.version2(of: "192.0.2.1") + Array(health.utf8) {
                try await client.send([byte])
            }
            #expect(HTTPText(try #require(await client.read(until: HTTPText.length))).status == 200)
            // The connection goes on as any other.
            try await client.send(health)
            #expect(HTTPText(try #require(await client.read(until: HTTPText.length))).status == 200)
            await client.close()
            #expect(
                try await status(server, ProxyHeaderBytes.version2(of: "192.0.2.1") + Array(health.utf8), "") == 200)
        }
    }

    @Test func `the header stands before TLS, and a channel opens behind both`() async throws {
        let (server, client) = try ServerIdentity.tls()
        try await run(configure: { _ in }, tls: server) { server async throws in
            let header = ProxyHeaderBytes.version2(of: "192.0.2.1")
            #expect(try await status(server, header, tls: client) == 200)
            let channel = try await RawClient.connect(server.port, tls: client, preamble: header)
            try await channel.send(WebSocketClient.handshake())
            #expect(HTTPText(try #require(await channel.read(until: HTTPText.headLength))).status == 101)
            await channel.close()
            #expect(try await status(server, [], tls: client) == nil)
            #expect(server.metrics.connectionsClosed[.proxyHeader].value == 1)
        }
    }

    @Test(arguments: [
        [], ProxyHeaderBytes.version2(0x21, 0x12, Array(repeating: 1, count: 12)),
        Array("PROXY TCP4 192.0.2.1\r\n".utf8),
        ProxyHeaderBytes.version2(0x21, 0x11, Array(repeating: 1, count: 5_000)),
    ])
    func `a trusted proxy without a valid header is sent away, and counted`(_ header: [UInt8]) async throws {
        try await run { server async throws in
            #expect(try await status(server, header) == nil)
            #expect(server.metrics.connectionsClosed[.proxyHeader].value == 1)
        }
    }

    @Test func `a header from anybody else is no HTTP, and tells nothing`() async throws {
        try await run { server async throws in
            #expect(try await status(server, [], from: "127.0.0.2") == 200)
            let headers = [
                ProxyHeaderBytes.version2(of: "192.0.2.1"), Array("PROXY UNKNOWN\r\n".utf8), ProxyHeader.local,
            ]
            for header in headers { #expect(try await status(server, header, from: "127.0.0.2") == 400) }
            #expect(server.metrics.connectionsClosed[.malformed].value == 3)
            #expect(server.metrics.connectionsClosed[.proxyHeader].value == 0)
        }
    }

    @Test func `without the setting a header is no HTTP`() async throws {
        try await run(configure: { $0.listeners[0].readsProxyHeaders = false }) { server async throws in
            #expect(try await status(server, ProxyHeaderBytes.version2(of: "192.0.2.1")) == 400)
            #expect(try await status(server, []) == 200)
        }
    }

    @Test func `half a header is waited for no longer than a first request`() async throws {
        try await run(configure: { $0.firstRequestTimeout = .milliseconds(200) }) { server async throws in
            let client = try await RawClient.connect(server.port, preamble: Array(ProxyHeader.local.prefix(9)))
            #expect(await client.readToEnd().isEmpty)
            #expect(server.metrics.connectionsClosed[.silent].value == 1)
        }
    }

    @Test func `a proxy that ends its direction within the header is let go`() async throws {
        try await run { server async throws in
            let client = try await RawClient.connect(server.port, sendsOn: true)
            try await client.send(Array(ProxyHeader.local.prefix(9)))
            try await client.finishSending()
            #expect(await client.readToEnd().isEmpty)
        }
    }

    @Test func `connections count for the client's address, and those of the proxy for none`() async throws {
        try await run(configure: { $0.maxConnectionsPerAddress = 2 }) { server async throws in
            func open(_ header: [UInt8]) async throws -> RawClient {
                let client = try await RawClient.connect(server.port, preamble: header)
                try await client.send(health)
                #expect(HTTPText(try #require(await client.read(until: HTTPText.length))).status == 200)
                return client
            }
            let first = try await open(ProxyHeaderBytes.version2(of: "192.0.2.1"))
            let others = [
                try await open(ProxyHeaderBytes.version2(of: "192.0.2.1")), try await open(ProxyHeader.local),
                try await open(ProxyHeader.local), try await open(ProxyHeader.local),
                try await open(ProxyHeaderBytes.version2(of: "192.0.2.2")),
            ]
            #expect(server.metrics.connectionsClosed[.evicted].value == 0)
            // One more of the first address takes the place of its oldest.
            let last = try await open(ProxyHeaderBytes.version2(of: "192.0.2.1"))
            #expect(await first.readToEnd().isEmpty)
            #expect(server.metrics.connectionsClosed[.evicted].value == 1)
            for client in others + [last] {
                try await client.send(health)
                #expect(HTTPText(try #require(await client.read(until: HTTPText.length))).status == 200)
                await client.close()
            }
        }
    }
}
