import Primitives
import Sockets
import Testing
import WebSocketClient

/// What happens without a server. `Tests/IntegrationTests/test_streams_out.py` has servers.
@Suite struct `WebSockets to other servers` {
    /// An end that only remembers why it has no socket.
    private final class Listener: WebSocketEnd {
        private let reason = Lock<WebSocketFailure?>(nil)

        func opened(waking wake: @escaping @Sendable () -> Void) {}
        func receive(_ message: WebSocketMessage) -> Bool { true }
        func take() -> WebSocketOutput { WebSocketOutput(messages: [], close: nil) }
        var mayRead: Bool { true }
        var isEnding: Bool { false }
        var isOverfull: Bool { false }
        func closed(because reason: WebSocketFailure) { self.reason.withLock { $0 = reason } }

        /// Why there is no socket, once that is known.
        func failure() async throws -> WebSocketFailure? {
            for _ in 0..<2_000 {
                if let reason = reason.withLock({ $0 }) { return reason }
                try await Task.sleep(for: .milliseconds(10))
            }
            return nil
        }
    }

    private func failure(
        _ url: String, fields: [(name: String, value: String)] = [],
        _ change: (inout WebSocketClient.Configuration) -> Void = { _ in }
    ) async throws -> WebSocketFailure? {
        var configuration = WebSocketClient.Configuration()
        configuration.allowsPlain = true
        configuration.connectTimeout = .seconds(5)
        change(&configuration)
        let client = try WebSocketClient(name: "test", configuration: configuration)
        defer { client.shutDown() }
        let listener = Listener()
        client.connect(WebSocketRequest(try #require(WebSocketURL(parsing: url)), fields: fields), listener)
        return try await listener.failure()
    }

    @Test(arguments: ["ws://127.0.0.1:9/", "ws://[::1]:9/", "ws://169.254.169.254/", "ws://localhost:9/"])
    func `addresses behind the firewall are not connected to`(_ url: String) async throws {
        guard case .refusedAddress = try await failure(url) else {
            Issue.record("it was tried")
            return
        }
    }

    @Test func `a server that says nothing is given up in time`() async throws {
        let silent = try TCPListener(bind: SocketAddress(IPAddress(v4: 0x7F00_0001), port: 0))
        let loopback = try #require(IPAddressRange("127.0.0.0/8"))
        let found = try await failure("ws://127.0.0.1:\(silent.localAddress.port)/") {
            $0.addresses.allowed = [loopback]
            $0.connectTimeout = .milliseconds(300)
        }
        #expect(found == .timedOut)
    }

    @Test func `a port where nobody listens is no connection`() async throws {
        // Discard: nobody offers that any more.
        let loopback = try #require(IPAddressRange("127.0.0.0/8"))
        let found = try await failure("ws://127.0.0.1:9/") { $0.addresses.allowed = [loopback] }
        guard case .notConnected = found else {
            Issue.record("\(String(describing: found))")
            return
        }
        #expect(found?.isTransient == true)
    }

    @Test func `what must not be sent is not sent`() async throws {
        #expect(try await failure("ws://127.0.0.1:9/") { $0.allowsPlain = false } == .insecure)
        #expect(
            try await failure("ws://127.0.0.1:9/", fields: [("X-Key", "a\r\nHost: evil")]) == .unusableField("X-Key"))
        #expect(try await failure("ws://127.0.0.1:9/", fields: [("", "a")]) == .unusableField(""))
    }

    @Test func `a client that was shut down connects no more`() async throws {
        let client = try WebSocketClient(name: "test")
        client.shutDown()
        let listener = Listener()
        client.connect(WebSocketRequest(try #require(WebSocketURL(parsing: "wss://bot.example.com"))), listener)
        #expect(try await listener.failure() == .shutDown)
    }
}
