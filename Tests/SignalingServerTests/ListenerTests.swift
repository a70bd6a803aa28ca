import CallControl
import Cryptography
import NIOSSL
import Primitives
import SignalingServer
import Testing

@Suite struct `Listeners` {
    private let tls: TLSConfiguration
    private let client: NIOSSLContext

    init() throws {
        let certificate = try Certificate(commonName: "localhost")
        tls = TLSConfiguration.makeServerConfiguration(
            certificateChain: try NIOSSLCertificate.fromPEMBytes(Array(certificate.certificatePEM.utf8)).map {
                .certificate($0)
            },
            privateKey: .privateKey(
                try NIOSSLPrivateKey(bytes: Array(certificate.privateKeyPEM.value.utf8), format: .pem)))
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.certificateVerification = .none
        client = try NIOSSLContext(configuration: configuration)
    }

    @Test func `TLS and plain HTTP serve the same, channels included`() async throws {
        try await TestServer.run(configure: { $0.listeners.insert(.init(host: "127.0.0.1", port: 0, tls: tls), at: 0) })
        { server in
            #expect(server.ports.count == 2)
            for (port, context) in [(server.ports[0], client), (server.ports[1], nil)] as [(Int, NIOSSLContext?)] {
                let request = try await RawClient.connect(port, tls: context)
                try await request.send(TestServer.text("GET", "/health", as: nil))
                #expect(HTTPText(try #require(await request.read(until: HTTPText.length))).status == 200)
                await request.close()

                let channel = try await RawClient.connect(port, tls: context)
                try await channel.send(WebSocketClient.handshake())
                #expect(HTTPText(try #require(await channel.read(until: HTTPText.headLength))).status == 101)
                let open = WebSocketClient(connection: channel)
                try await open.send(WebSocketClient.Frame.ping, [1])
                #expect(await open.receive()?.opcode == WebSocketClient.Frame.pong)
                await channel.close()
            }
        }
    }

    @Test(arguments: [true, false])
    func `metrics are where strangers do not come, if there is such a port`(_ hasPlainPort: Bool) async throws {
        try await TestServer.run(configure: {
            let plain = $0.listeners
            $0.listeners = [.init(host: "127.0.0.1", port: 0, tls: tls)] + (hasPlainPort ? plain : [])
        }) { server in
            let stranger = try await RawClient.connect(server.port, tls: client)
            try await stranger.send(TestServer.text("GET", "/metrics", as: nil))
            #expect(
                HTTPText(try #require(await stranger.read(until: HTTPText.length))).status == (hasPlainPort ? 404 : 200)
            )
            await stranger.close()
            guard hasPlainPort else { return }
            let tool = try await RawClient.connect(server.ports[1])
            try await tool.send(TestServer.text("GET", "/metrics", as: nil))
            #expect(HTTPText(try #require(await tool.read(until: HTTPText.length))).status == 200)
            await tool.close()
        }
    }

    @Test func `plain HTTP on a TLS port is sent away`() async throws {
        try await TestServer.run(configure: { $0.listeners = [.init(host: "127.0.0.1", port: 0, tls: tls)] }) {
            server in
            let lost = try await RawClient.connect(server.port)
            try await lost.send(TestServer.text("GET", "/health", as: nil))
            #expect(HTTPText(await lost.readToEnd()).status == 0)
        }
    }

    @Test func `a port that is taken ends the service with an error`() async throws {
        try await TestServer.run { server in
            await #expect(throws: (any Error).self) {
                try await TestServer.run(configure: { $0.listeners = [.init(host: "127.0.0.1", port: server.port)] }) {
                    _ in
                    Issue.record("the port is taken")
                }
            }
        }
    }
}
