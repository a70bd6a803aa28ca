import CallControl
import CallRuntime
import Cryptography
import Primitives
import SignalingServer
import Testing

@Suite struct `Tokens of applications` {
    private let tokenPath = "/rest/version/1/application/portal/authenticationToken"
    private let path = "/rest/version/1/user/joe@example.com/subscription"
    private let body = #"{"subscribeRequest":{"expires":7200,"service":["call"]}}"#
    private let subscriber =
        #"{"authenticationTokenRequest":{"subscriberId":"joe","organizationId":"example.com"}}"#

    private func run(_ body: (TestServer) async throws -> Void) async throws {
        let applications = MemoryApplications(["joe@example.com", "ann@example.com"])
        try await applications.add(
            StoredApplication(
                name: ApplicationName("portal")!, domain: "example.com", secret: Redacted("the secret")))
        try await TestServer.run(applications: applications, body)
    }

    private func signed(_ body: String, with secret: String = "the secret") -> [String] {
        ["hmac: " + HMAC.sha1(key: Array(secret.utf8), Array(body.utf8).span).hexadecimal]
    }

    private func issue(_ server: TestServer) async throws -> String {
        let answer = try await server.request(
            "POST", tokenPath, subscriber, as: nil, headers: signed(subscriber))
        #expect(answer.status == 201)
        return try #require(try answer.member("authenticationTokenResponse.token"))
    }

    @Test func `a token registers once, and the session goes on`() async throws {
        try await run { server in
            let token = try await issue(server)
            let answer = try await server.request("POST", path, body, as: nil, headers: ["x-token: \(token)"])
            #expect(answer.status == 201)
            let session = try #require(try answer.member("subscribeResponse.subscriptionParams.sessionId"))
            #expect(session.hasPrefix("5f2c."))
            for (method, path, body) in [
                ("PUT", path + "/5f2c", self.body), ("GET", "/rest/version/1/user/joe@example.com/logHistory", nil),
                ("DELETE", path + "/5f2c", nil),
            ] as [(String, String, String?)] {
                let later = try await server.request(method, path, body, as: nil, headers: ["x-session: \(session)"])
                #expect(later.status == 200, "\(method) \(path)")
            }
            let again = try await server.request("POST", path, body, as: nil, headers: ["x-token: \(token)"])
            #expect(again.status == 403)
            #expect(try again.member("subscribeResponse.statusCode") == "46")
            #expect(try again.member("subscribeResponse.code") == "auth.token_not_found")
        }
    }

    @Test func `a session is good for its user only, and as long as its subscription`() async throws {
        try await run { server in
            let token = try await issue(server)
            let answer = try await server.request("POST", path, body, as: nil, headers: ["x-token: \(token)"])
            let session = try #require(try answer.member("subscribeResponse.subscriptionParams.sessionId"))
            let log = "/rest/version/1/user/joe@example.com/logHistory"
            for (path, session) in [
                (log.replacing("joe", with: "ann"), session), (log, session.replacing("5f2c", with: "5f2d")),
                (log, session + "00"), (log, "5f2c."), (log, "5f2c.zz"),
            ] {
                let wrong = try await server.request("GET", path, as: nil, headers: ["x-session: \(session)"])
                #expect(wrong.status == 403, "\(path) \(session)")
                #expect(try wrong.member("logHistory.code") == "auth.session_ended")
            }
            // The name of a device is no credential.
            let device = try await server.request("GET", log, as: nil, headers: ["x-session: 5f2c"])
            #expect(device.status == 401)
            await server.switchboard.endSubscriptions()
            let ended = try await server.request("GET", log, as: nil, headers: ["x-session: \(session)"])
            #expect(ended.status == 403)
            #expect(try ended.member("logHistory.statusCode") == "65")
        }
    }

    @Test func `a password gives no session`() async throws {
        try await run { server in
            let answer = try await server.request("POST", path, body)
            #expect(answer.status == 201)
            #expect(!answer.body.contains("sessionId"))
        }
    }

    @Test func `a token is its user's, and no credential but for registrations`() async throws {
        try await run { server in
            let token = try await issue(server)
            let other = try await server.request(
                "POST", path.replacing("joe", with: "ann"), body, as: nil, headers: ["x-token: \(token)"])
            #expect(try other.member("subscribeResponse.code") == "auth.token_not_found")
            let log = try await server.request(
                "GET", "/rest/version/1/user/joe@example.com/logHistory", as: nil, headers: ["x-token: \(token)"])
            #expect(log.status == 401)
            // It is still there for its user.
            #expect(try await server.request("POST", path, body, as: nil, headers: ["x-token: \(token)"]).status == 201)
        }
    }

    @Test func `a token that is too old is refused as expired`() async throws {
        try await run { server in
            let token = try await issue(server)
            server.clock.advance(by: ApplicationAuthenticator.defaultTokenTime)
            let late = try await server.request("POST", path, body, as: nil, headers: ["x-token: \(token)"])
            #expect(late.status == 403)
            #expect(try late.member("subscribeResponse.code") == "auth.token_expired")
        }
    }

    @Test func `a request for a token is signed by an application of that name`() async throws {
        try await run { server in
            let sha256 = HMAC.sha256(key: Array("the secret".utf8), Array(subscriber.utf8).span).hexadecimal
            for (path, headers, status) in [
                (tokenPath, ["hmac: \(sha256)"], 201), (tokenPath, ["hmac: \(sha256.uppercased())"], 201),
                (tokenPath, signed(subscriber, with: "guess"), 403), (tokenPath, signed(subscriber + " "), 403),
                (tokenPath, [], 403), (tokenPath, ["hmac: "], 403), (tokenPath, ["hmac: zz"], 403),
                (tokenPath.replacing("portal", with: "nobody"), signed(subscriber, with: ""), 403),
                (tokenPath.replacing("portal", with: "no%20body"), signed(subscriber, with: ""), 403),
            ] {
                let answer = try await server.request("POST", path, subscriber, as: nil, headers: headers)
                #expect(answer.status == status, "\(path) \(headers)")
                guard status == 403 else { continue }
                #expect(try answer.member("authenticationTokenResponse.code") == "auth.wrong_signature")
                #expect(try answer.member("authenticationTokenResponse.statusCode") == "4")
            }
        }
    }

    @Test(arguments: [("eve", "example.com"), ("joe", "example.org"), ("joe", ""), ("a b", "example.com")])
    func `an application gets tokens for the users of its domain`(_ user: String, _ domain: String) async throws {
        try await run { server in
            let body = #"{"authenticationTokenRequest":{"subscriberId":"\#(user)","organizationId":"\#(domain)"}}"#
            let answer = try await server.request("POST", tokenPath, body, as: nil, headers: signed(body))
            #expect(answer.status == 404)
            #expect(try answer.member("authenticationTokenResponse.statusCode") == "10")
            #expect(try answer.member("authenticationTokenResponse.code") == "auth.unknown_subscriber")
        }
    }

    @Test func `a signed body that is none is refused`() async throws {
        try await run { server in
            for body in ["", "{", "{}", #"{"authenticationTokenRequest":{"subscriberId":"joe"}}"#] {
                let answer = try await server.request("POST", tokenPath, body, as: nil, headers: signed(body))
                #expect(answer.status == 400, "\(body)")
            }
        }
    }

    @Test func `guesses use up what the network may fail`() async throws {
        try await run { server in
            var statuses: Set<Int> = []
            for _ in 0..<500 {
                let answer = try await server.request(
                    "POST", tokenPath, subscriber, as: nil, headers: signed(subscriber, with: "guess"))
                statuses.insert(answer.status)
                if answer.status == 429 { break }
            }
            #expect(statuses == [403, 429])
            #expect(try await issue(server).utf8.count == 64)
        }
    }
}
