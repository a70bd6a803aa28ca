import CallControl
import Foundation
import Registration
import SignalingServer
import Testing

@Suite struct `Token routes` {
    private let path = "/rest/version/1/user/joe@example.com/subscription"
    private let body = #"{"subscribeRequest":{"expires":7200,"service":["call"]}}"#

    private func run(_ body: (TestServer) async throws -> Void) async throws {
        let keys = FileManager.default.temporaryDirectory.appending(path: "keys-\(UUID()).json")
        defer { try? FileManager.default.removeItem(at: keys) }
        try Data(Tokens.keySet.utf8).write(to: keys)
        try await TestServer.run(tokenKeys: keys.path(percentEncoded: false), body)
    }

    private func bearer(_ token: String) -> [String] { ["Authorization: bearer \(token)"] }

    @Test func `a token logs in on every route of its user`() async throws {
        try await run { server in
            let user = "/rest/version/1/user/joe@example.com"
            for (method, path, body) in [
                ("POST", "\(user)/subscription", body), ("PUT", "\(user)/subscription/5f2c", body),
                ("DELETE", "\(user)/subscription/5f2c", nil), ("GET", "\(user)/logHistory", nil),
            ] as [(String, String, String?)] {
                let answer = try await server.request(
                    method, path, body, as: nil, headers: bearer(Tokens.of("joe")))
                #expect((200...201).contains(answer.status), "\(method) \(path)")
                let wrong = try await server.request(method, path, body, as: nil, headers: bearer(Tokens.of("ann")))
                #expect(wrong.status == 403, "\(method) \(path)")
                let none = try await server.request(method, path, body, as: nil, headers: bearer("abc"))
                #expect(none.status == 401, "\(method) \(path)")
            }
            // Passwords go on.
            #expect(try await server.request("POST", path, body).status == 201)
        }
    }

    @Test func `a subscription does not outlive its token, and a newer one extends it`() async throws {
        try await run { server in
            for (method, path, token) in [
                ("POST", path, Tokens.of("joe", expiring: 600)),
                ("PUT", path + "/5f2c", Tokens.of("joe", expiring: 900)),
                ("PUT", path + "/5f2c", Tokens.of("joe", expiring: -10)),
            ] { _ = try await server.request(method, path, body, as: nil, headers: bearer(token)) }
            _ = try await server.request("POST", path, body)
            let limits = await server.switchboard.events.compactMap { event -> Duration?? in
                switch event {
                case .subscribe(_, let request), .extend(_, _, let request): .some(request.longestExpires)
                default: nil
                }
            }
            #expect(limits == [.seconds(600), .seconds(900), .seconds(1), nil])
        }
    }

    @Test func `a refused token is told what is wrong, in the form of the resource`() async throws {
        try await run { server in
            let wrong = try await server.request(
                "POST", path, body, as: nil, headers: bearer(Tokens.of("joe") + "AAAA"))
            #expect(wrong.status == 401)
            #expect(wrong["www-authenticate"] == #"Bearer realm="orbweaver", error="invalid_token""#)
            #expect(try wrong.member("subscribeResponse.statusCode") == "4")
            #expect(try wrong.member("subscribeResponse.code") == "auth.invalid_token")
            #expect(try wrong.member("subscribeResponse.reason") == "The token's signature is wrong.")
            let expired = try await server.request(
                "POST", path, body, as: nil, headers: bearer(Tokens.of("joe", expiring: -31)))
            #expect(expired.status == 403)
            #expect(try expired.member("subscribeResponse.statusCode") == "65")
            #expect(try expired.member("subscribeResponse.code") == "auth.token_expired")
            let stranger = try await server.request(
                "POST", path.replacing("joe", with: "eve"), body, as: nil, headers: bearer(Tokens.of("eve")))
            #expect(try stranger.member("subscribeResponse.reason") == "The token's user has no account here.")
        }
    }

    @Test func `without keys tokens are refused`() async throws {
        try await TestServer.run { server in
            let answer = try await server.request("POST", path, body, as: nil, headers: bearer(Tokens.of("joe")))
            #expect(answer.status == 401)
            #expect(try answer.member("subscribeResponse.code") == "auth.unsupported_scheme")
            let (client, opened) = try await WebSocketClient.open(
                server.port, path: WebSocketClient.path + "?access_token=abc")
            #expect(opened.status == 101)
            await client.connection.close()
        }
    }

    @Test func `a poll may have a token of its user, and no other`() async throws {
        try await run { server in
            let poll = "/rest/version/1/user/joe@example.com/notification/ws-7d0e?access_token="
            for (token, status) in [
                (Tokens.of("joe"), 200), (Tokens.of("ann"), 403), (Tokens.of("joe", expiring: -31), 403), ("abc", 401),
            ] {
                let answer = try await server.request("HEAD", poll + token, as: nil)
                #expect(answer.status == status, "\(token)")
            }
        }
    }

    @Test func `who guesses tokens is slowed down, and keeps nobody with a token out`() async throws {
        try await run { server in
            for _ in 1...30 {
                #expect(try await server.request("POST", path, body, as: nil, headers: bearer("a.b.c")).status == 401)
            }
            let limited = try await server.request("POST", path, body, as: nil, headers: bearer("a.b.c"))
            #expect(limited.status == 429)
            #expect(try limited.member("subscribeResponse.code") == "auth.rate_limited")
            // A wrong password from there would be one more guess.
            #expect(try await server.request("POST", path, body, as: "joe@example.com:wrong").status == 429)
            // A token that has expired is no guess.
            let old = bearer(Tokens.of("joe", expiring: -60))
            #expect(try await server.request("POST", path, body, as: nil, headers: old).status == 403)
            let good = bearer(Tokens.of("joe"))
            #expect(try await server.request("POST", path, body, as: nil, headers: good).status == 201)
            server.clock.advance(by: .seconds(2))
            #expect(try await server.request("POST", path, body, as: nil, headers: bearer("a.b.c")).status == 401)
        }
    }

    @Test func `a removed user is refused after the revalidation time at the latest`() async throws {
        try await run { server in
            let good = bearer(Tokens.of("joe"))
            #expect(try await server.request("POST", path, body, as: nil, headers: good).status == 201)
            try await server.users.remove(address("joe"))
            server.clock.advance(by: .seconds(2))
            #expect(try await server.request("POST", path, body, as: nil, headers: good).status == 401)
        }
    }

    @Test func `a channel opens with its user's token or none, and with no other`() async throws {
        try await run { server in
            let channel = WebSocketClient.path
            for (query, status) in [
                ("", 101), ("?access_token=\(Tokens.of("joe"))", 101),
                ("?since=1&access_token=\(Tokens.of("joe"))", 101),
                ("?access_token=\(Tokens.of("ann"))", 403), ("?access_token=\(Tokens.of("joe", expiring: -60))", 403),
                ("?access_token=abc", 401), ("?access_token=", 401),
            ] {
                let (client, answer) = try await WebSocketClient.open(server.port, path: channel + query)
                #expect(answer.status == status, "\(query)")
                await client.connection.close()
            }
        }
    }
}
