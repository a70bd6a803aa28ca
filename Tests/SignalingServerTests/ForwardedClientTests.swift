import Primitives
import SignalingServer
import Testing

/// Limits behind a reverse proxy, on a real server whose every client comes from 127.0.0.1.
@Suite struct `Clients behind a proxy` {
    private static let path = "/rest/version/1/user/joe@example.com/subscription"
    private static let body = #"{"subscribeRequest":{"service":["call"]}}"#

    private func run(trusting proxies: [String], _ body: (TestServer) async throws -> Void) async throws {
        try await TestServer.run(
            configure: { $0.trustedProxies = TrustedProxies(proxies.compactMap { IPAddressRange($0) }) }, body)
    }

    /// Somebody whom the proxy forwards logs in, and is answered with that status.
    private func login(_ server: TestServer, _ credentials: String, forwarded: String..., status: Int) async throws {
        let headers = forwarded.map { "X-Forwarded-For: \($0)" }
        #expect(
            try await server.request("POST", Self.path, Self.body, as: credentials, headers: headers).status == status)
    }

    @Test func `wrong passwords of one client do not count against others of the same proxy`() async throws {
        try await run(trusting: ["127.0.0.0/8"]) { server in
            for guess in 1...5 { try await login(server, "joe:\(guess)", forwarded: "192.0.2.1", status: 403) }
            try await login(server, "joe:secret", forwarded: "192.0.2.1", status: 429)
            try await login(server, "joe:secret", forwarded: "192.0.2.2", status: 201)
        }
    }

    @Test func `a client that invents addresses is still known by its own`() async throws {
        try await run(trusting: ["127.0.0.0/8"]) { server in
            for guess in 1...5 {
                try await login(server, "joe:\(guess)", forwarded: "198.51.100.\(guess), 192.0.2.1", status: 403)
            }
            try await login(server, "joe:6", forwarded: "198.51.100.6", "192.0.2.1", status: 429)
        }
    }

    @Test func `a client that comes without a proxy cannot choose its address`() async throws {
        try await run(trusting: ["10.0.0.0/8"]) { server in
            for guess in 1...5 { try await login(server, "joe:\(guess)", forwarded: "192.0.2.\(guess)", status: 403) }
            try await login(server, "joe:6", forwarded: "192.0.2.6", status: 429)
        }
    }

    @Test func `guests are limited by their own address`() async throws {
        let set = { (configuration: inout SignalingConfiguration) in
            configuration.trustedProxies = TrustedProxies(["127.0.0.1"].compactMap { IPAddressRange($0) })
            configuration.guests.policy.mode = .open
            configuration.guests.throttle.network = .init(burst: 1, interval: .seconds(5))
        }
        try await TestServer.run(configure: set) { server in
            let path = "/rest/version/1/anonymous/ann@example.com/subscription"
            let body = #"{"subscribeRequest":{"service":["callMe"]}}"#
            for (client, status) in [("192.0.2.1", 201), ("192.0.2.1", 429), ("192.0.2.2", 201)] {
                let answer = try await server.request(
                    "POST", path, body, as: nil, headers: ["X-Forwarded-For: \(client)"])
                #expect(answer.status == status)
            }
        }
    }
}
