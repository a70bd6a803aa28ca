import CallControl
import CallRuntime
import Cryptography
import Foundation
import NIOSSL
import Observability
import Primitives
import Registration
import SignalingServer
import Testing

@Suite(.timeLimit(.minutes(10))) struct `Connections` {
    private let joe = address("joe")
    private let channel = ChannelID("ws-7d0e")
    private let health = TestServer.text("GET", "/health", as: nil)
    private let metrics = TestServer.text("GET", "/metrics", as: nil)
    private let audit = TestServer.text(
        "PUT", "/rest/version/1/user/joe@example.com/callControl/callSessions/A1",
        #"{"callControlRequest":{"type":"audit"}}"#)

    private func ask(_ client: RawClient, _ text: String? = nil) async throws -> Int {
        try await client.send(text ?? health)
        return HTTPText(await client.read(until: HTTPText.length) ?? []).status
    }

    /// Whether a connection is reset before or after it seemed to stand.
    private func isRefused(_ port: Int, from source: String? = nil) async -> Bool {
        guard let client = try? await RawClient.connect(port, from: source) else { return true }
        return await client.readToEnd().isEmpty
    }

    // MARK: - Readers that do not read

    @Test(arguments: [false, true])
    func `answers that are never read end their connection, and are counted`(_ overTLS: Bool) async throws {
        let (server, client) = try ServerIdentity.tls()
        try await TestServer.run(configure: {
            if overTLS { $0.listeners = [.init(host: "127.0.0.1", port: 0, tls: server)] }
            $0.writeTimeout = .milliseconds(200)
        }) { server in
            let reader = try await RawClient.connect(server.port, tls: overTLS ? client : nil, receiveBuffer: 4_096)
            #expect(try await ask(reader) == 200)
            try await reader.stopReading()
            try await reader.send(String(repeating: metrics, count: 800))
            _ = await reader.readToEnd()
            #expect(server.metrics.connectionsClosed[.unread].value == 1)
        }
    }

    @Test func `a client that sends hundreds of requests ahead gets every answer, in order`() async throws {
        try await TestServer.run { server in
            let client = try await RawClient.connect(server.port)
            let other = TestServer.text("GET", "/missing", as: nil)
            try await client.send(String(repeating: health + other, count: 300))
            for _ in 1...300 {
                #expect(HTTPText(try #require(await client.read(until: HTTPText.length))).status == 200)
                #expect(HTTPText(try #require(await client.read(until: HTTPText.length))).status == 404)
            }
            await client.close()
        }
    }

    @Test func `a client that has sent all its requests may end its direction, and still gets every answer`()
        async throws
    {
        try await TestServer.run { server in
            let client = try await RawClient.connect(server.port)
            try await client.send(String(repeating: health, count: 50))
            try await client.finishSending()
            let answers = String(decoding: await client.readToEnd(), as: UTF8.self)
            #expect(answers.components(separatedBy: "HTTP/1.1 200").count == 51)
        }
    }

    @Test func `requests with bodies may be sent ahead as well`() async throws {
        try await TestServer.run { server in
            let client = try await RawClient.connect(server.port)
            try await client.send(String(repeating: audit, count: 40))
            for _ in 1...40 { #expect(HTTPText(try #require(await client.read(until: HTTPText.length))).status == 200) }
            await client.close()
        }
    }

    @Test func `a client that sends far ahead and ends its direction is sent away`() async throws {
        try await TestServer.run(configure: { $0.bytesAhead = 20_000 }) { server in
            let latch = Latch()
            await server.switchboard.set(onRequest: { await latch.wait() })
            let client = try await RawClient.connect(server.port)
            try await client.send(audit)
            await server.switchboard.wait { $0.contains(.started(self.joe)) }
            // More than is kept, less than the kernel takes.
            try await client.send(String(repeating: health, count: 800))
            try await client.finishSending()
            _ = await client.readToEnd()
            #expect(server.metrics.connectionsClosed[.flooding].value == 1)
            latch.open()
        }
    }

    @Test func `a channel whose client stops reading is reset after the write timeout, however little waits for it`()
        async throws
    {
        try await TestServer.run(configure: {
            $0.writeTimeout = .milliseconds(200)
            $0.slowReaderBytes = 100 << 20
        }) { server in
            let client = try await RawClient.connect(server.port, autoRead: false, receiveBuffer: 4_096)
            try await client.send(WebSocketClient.handshake())
            await server.switchboard.wait { $0.contains(.opened(joe, channel)) }
            let socket = try #require(await server.switchboard.socket)
            let notice = Notice.aliceHears(String(repeating: "v", count: 50_000))
            for id in 1...20 {
                let frame = NotificationFrame(
                    eventID: UInt64(id), time: 0, user: joe, channel: channel, notice: notice)
                server.sockets.transmit(frame, to: socket)
            }
            await server.switchboard.wait { $0.last == .closed(joe, channel) }
            #expect(server.metrics.webSocketsClosed[.tooSlow].value == 1)
            #expect(server.metrics.connectionsClosed[.unread].value == 0)
            _ = await client.readToEnd()
        }
    }

    // MARK: - Refused while they send

    @Test(arguments: [(false, true), (false, false), (true, false)])
    func `a client that sends far more than is read of it gets its refusal`(
        _ overTLS: Bool, _ isFirst: Bool
    ) async throws {
        let (server, client) = try ServerIdentity.tls()
        try await TestServer.run(configure: {
            if overTLS { $0.listeners = [.init(host: "127.0.0.1", port: 0, tls: server)] }
            $0.linger = (.seconds(600), 32 << 20)
        }) { server in
            let sender = try await RawClient.connect(server.port, tls: overTLS ? client : nil, sendsOn: true)
            if !isFirst { #expect(try await ask(sender) == 200) }
            try await sender.stopReading()
            // More than the kernels' buffers take of it: were the connection closed at once, this would fail.
            try await sender.send("GET / HTTP/1.1\r\nHost: a\r\nX-Long: " + String(repeating: "x", count: 16_000_000))
            try await sender.resumeReading()
            let answer = HTTPText(try #require(await sender.read(until: HTTPText.length)))
            await sender.close()
            #expect(answer.status == 431)
            #expect(answer.body.contains("request.headers_too_large"))
            #expect(answer["connection"] == "close")
            #expect(server.metrics.connectionsClosed[.malformed].value == 1)
        }
    }

    @Test(arguments: [(Duration.seconds(600), 200_000), (.milliseconds(50), .max)])
    func `a client that goes on sending after its refusal is cut off`(_ time: Duration, _ bytes: Int) async throws {
        try await TestServer.run(configure: { $0.linger = (time, bytes) }) { server in
            let sender = try await RawClient.connect(server.port, sendsOn: true)
            let piece = String(repeating: "x", count: 100_000)
            try await sender.send("GET / HTTP/1.1\r\nHost: a\r\nX-Long: ")
            while (try? await sender.send(piece)) != nil {}
            #expect(server.metrics.connectionsClosed[.malformed].value == 1)
        }
    }

    // MARK: - Too many

    @Test func `one more connection of an address takes the place of the one that was idle longest`() async throws {
        try await TestServer.run(configure: { $0.maxConnectionsPerAddress = 3 }) { server in
            var clients: [RawClient] = []
            for _ in 1...3 {
                clients.append(try await RawClient.connect(server.port))
                #expect(try await ask(clients[clients.count - 1]) == 200)
            }
            #expect(try await ask(clients[0]) == 200)
            let fourth = try await RawClient.connect(server.port)
            #expect(try await ask(fourth) == 200)
            #expect(await clients[1].readToEnd().isEmpty)
            #expect(try await ask(clients[0]) == 200)
            #expect(try await ask(clients[2]) == 200)
            #expect(server.metrics.connectionsClosed[.evicted].value == 1)
        }
    }

    @Test func `while all of its requests are worked on, one more connection of an address is refused, of another not`()
        async throws
    {
        try await TestServer.run(configure: { $0.maxConnectionsPerAddress = 2 }) { server in
            let latch = Latch()
            await server.switchboard.set(onRequest: { await latch.wait() })
            let busy = [try await RawClient.connect(server.port), try await RawClient.connect(server.port)]
            for client in busy { try await client.send(audit) }
            await server.switchboard.wait { $0.count { $0 == .started(self.joe) } == 2 }
            #expect(await isRefused(server.port))
            #expect(server.metrics.connectionsRefused[.address].value == 1)
            let other = try await RawClient.connect(server.port, from: "127.0.0.2")
            #expect(try await ask(other) == 200)
            latch.open()
            for client in busy { #expect(HTTPText(await client.read(until: HTTPText.length) ?? []).status == 200) }
        }
    }

    @Test func `the phones of an office keep their channels, however many there are behind one address`() async throws {
        try await TestServer.run(configure: { $0.maxConnectionsPerAddress = 2 }) { server in
            var phones: [WebSocketClient] = []
            for _ in 1...6 {
                let (phone, answer) = try await WebSocketClient.open(server.port)
                #expect(answer.status == 101)
                phones.append(phone)
            }
            #expect(try await ask(try await RawClient.connect(server.port)) == 200)
            for phone in phones {
                try await phone.send(WebSocketClient.Frame.ping, [1])
                #expect(await phone.receive()?.opcode == WebSocketClient.Frame.pong)
            }
        }
    }

    @Test func `an address that holds all connections keeps nobody out, idle or in half a request`() async throws {
        try await TestServer.run(configure: { $0.maxConnections = 8 }) { server in
            let half = TestServer.text(
                "POST", "/rest/version/1/user/joe@example.com/subscription", headers: ["Content-Length: 10"])
            var held: [RawClient] = []
            for index in 0..<8 {
                held.append(try await RawClient.connect(server.port))
                if index % 2 == 0 {
                    #expect(try await ask(held[index]) == 200)
                } else {
                    try await held[index].send(half + "{")
                }
            }
            for _ in 1...6 {
                let other = try await RawClient.connect(server.port, from: "127.0.0.2")
                #expect(try await ask(other) == 200)
                await other.close()
                held.append(try await RawClient.connect(server.port))
            }
            #expect(server.metrics.connectionsRefused[.full].value == 0)
        }
    }

    @Test func `a port full of channels turns others away at once`() async throws {
        try await TestServer.run(configure: { $0.maxConnections = 2 }) { server in
            for _ in 1...2 { _ = try await WebSocketClient.open(server.port) }
            #expect(await isRefused(server.port, from: "127.0.0.2"))
            #expect(server.metrics.connectionsRefused[.full].value == 1)
        }
    }

    // MARK: - Counted

    @Test func `refusals at the edge are counted like other answers`() async throws {
        try await TestServer.run { server in
            await server.switchboard.set(channelsExist: false)
            let texts = [
                "GARBAGE\r\n\r\n", "GET / HTTP/1.1\r\nHost: a\r\nX-Long: " + String(repeating: "x", count: 70_000),
                WebSocketClient.handshake(),
            ]
            for (index, text) in texts.enumerated() { try await expectRefusal(text, UInt64(index + 1), of: server) }
            #expect(server.metrics.connectionsClosed[.malformed].value == 2)
        }
        try await TestServer.run(configure: { $0.requestTimeout = .milliseconds(50) }) { server in
            let half = TestServer.text(
                "POST", "/rest/version/1/user/joe@example.com/subscription", headers: ["Content-Length: 10"])
            try await expectRefusal(half, 1, of: server)
            #expect(server.metrics.connectionsClosed[.slowRequest].value == 1)
        }
    }

    /// - Parameter count: how many refusals the server has counted after this one.
    private func expectRefusal(_ text: String, _ count: UInt64, of server: TestServer) async throws {
        let client = try await RawClient.connect(server.port)
        try await client.send(text)
        #expect(400..<500 ~= HTTPText(await client.readToEnd()).status)
        // A request that had begun is counted by whoever was to answer it, when its connection has ended.
        while server.metrics.httpRequests[.clientError].value < count { try await Task.sleep(for: .milliseconds(2)) }
        #expect(server.metrics.httpRequests[.clientError].value == count)
    }

    @Test func `a connection that asks nothing is counted`() async throws {
        try await TestServer.run(configure: { $0.firstRequestTimeout = .milliseconds(50) }) { server in
            let silent = try await RawClient.connect(server.port)
            #expect(await silent.readToEnd().isEmpty)
            #expect(server.metrics.connectionsClosed[.silent].value == 1)
        }
    }

    // MARK: - At the end

    @Test func `half a request and unread answers do not prolong a shutdown, a request that is worked on is finished`()
        async throws
    {
        try await TestServer.run(configure: {
            $0.writeTimeout = .seconds(600); $0.requestTimeout = .seconds(600)
        }) { server in
            let latch = Latch()
            await server.switchboard.set(onRequest: { await latch.wait() })
            let busy = try await RawClient.connect(server.port)
            try await busy.send(audit)
            await server.switchboard.wait { $0.contains(.started(self.joe)) }
            await server.switchboard.set(onRequest: nil)

            let half = try await RawClient.connect(server.port)
            try await half.send(
                TestServer.text(
                    "POST", "/rest/version/1/user/joe@example.com/subscription", headers: ["Content-Length: 10"]) + "{")
            let unread = try await RawClient.connect(server.port, receiveBuffer: 4_096)
            #expect(try await ask(unread) == 200)
            try await unread.stopReading()
            try await unread.send(String(repeating: metrics, count: 400))
            // Served by the same loops as the others, in order: what was sent before has arrived.
            #expect(try await ask(try await RawClient.connect(server.port)) == 200)

            await server.shutDown()
            _ = await half.readToEnd()
            // Read any earlier, the answers would be taken after all.
            while server.metrics.connectionsClosed[.draining].value < 2 { try await Task.sleep(for: .milliseconds(2)) }
            _ = await unread.readToEnd()
            latch.open()
            #expect(HTTPText(await busy.read(until: HTTPText.length) ?? []).status == 200)
            #expect(server.metrics.connectionsClosed[.draining].value == 2)
        }
    }
}
