import SignalingServer
import Testing

@Suite struct `Request handling` {
    private let user = "/rest/version/1/user/joe@example.com"
    private let audit = #"{"callControlRequest":{"type":"audit"}}"#

    @Test(arguments: [
        ("GET", "/rest/version/latest/isAlive?1700000000000", 200),
        ("GET", "/rest/version/1/isAlive", 200),
        ("GET", "/health", 200),
        ("GET", "/ready", 200),
        ("HEAD", "/health", 200),
        ("GET", "/metrics", 200),
        ("GET", "/", 200),
        ("GET", "/missing.js", 404),
        ("GET", "/rest/version/1/nothing", 404),
        ("GET", "/rest/version/2/isAlive", 400),
        ("DELETE", "/health", 405),
    ])
    func `open paths need no credentials`(_ method: String, _ path: String, _ status: Int) async throws {
        try await TestServer.run(pages: ["/": Page(contentType: "text/html", bytes: Array("<p>hello".utf8))]) {
            server in
            let answer = try await server.request(method, path, as: nil)
            #expect(answer.status == status)
        }
    }

    @Test(
        arguments: [
            (nil, 401, "4", "auth.missing"),
            ("joe@example.com:wrong", 403, "4", "auth.wrong_password"),
            ("nobody@example.com:secret", 403, "4", "auth.wrong_password"),
            ("joe:secret", 200, "0", nil),
            ("JOE@EXAMPLE.COM:secret", 200, "0", nil),
            ("ann@example.com:hidden:too", 403, "27", "auth.wrong_user"),
            ("no colon", 401, "4", "auth.malformed"),
        ] as [(String?, Int, String, String?)])
    func `credentials decide`(_ credentials: String?, _ status: Int, _ code: String, _ name: String?) async throws {
        try await TestServer.run { server in
            let answer = try await server.request("PUT", user + "/callControl/callSessions/A1", audit, as: credentials)
            #expect(answer.status == status)
            #expect(try answer.member("callControlResponse.statusCode") == code)
            #expect(try answer.member("callControlResponse.code") == name)
            #expect(answer["www-authenticate"] == (status == 401 ? #"Basic realm="orbweaver", charset="UTF-8""# : nil))
            #expect(answer["access-control-allow-origin"] == "*")
        }
    }

    @Test func `the scheme is compared without case, and others are refused`() async throws {
        try await TestServer.run { server in
            let path = user + "/callControl/callSessions/A1"
            let lower = try await server.request(
                "GET", path, as: nil, headers: ["Authorization: basic am9lOnNlY3JldA=="])
            #expect(lower.status == 200)
            let bearer = try await server.request("GET", path, as: nil, headers: ["Authorization: Bearer abc"])
            #expect(bearer.status == 401)
            #expect(try bearer.member("callControlResponse.code") == "auth.unsupported_scheme")
        }
    }

    @Test(arguments: [
        (
            "GET", "/rest/version/2/user/joe@example.com/callControl/callSessions/A1", 400, "callControlResponse",
            "request.unsupported_version"
        ),
        (
            "PUT", "/rest/version/latest/user/joe@example.com/subscription/x", 400, "subscribeResponse",
            "request.malformed_version"
        ),
        (
            "PATCH", "/rest/version/1/user/joe@example.com/subscription", 405, "subscribeResponse",
            "resource.method_not_allowed"
        ),
        (
            "GET", "/rest/version/1/user/joe@example.com/calldisposition", 405, "callDispositionResponse",
            "resource.method_not_allowed"
        ),
        (
            "POST", "/rest/version/1/anonymous/ann@example.com/subscription", 403, "authorizationResponse",
            "anonymous.not_offered"
        ),
        (
            "DELETE", "/rest/version/1/anonymous/a/callMe/callSessions/B1", 403, "authorizationResponse",
            "anonymous.not_offered"
        ),
        (
            "GET", "/rest/version/1/user/%zz/callControl/callSessions/A1", 400, "callControlResponse",
            "request.malformed"
        ),
        ("GET", "/rest/version/1/user/%20/callControl/callSessions/A1", 403, "callControlResponse", "auth.wrong_user"),
        ("GET", "/rest/version/1/user/joe@example.com/websocket/ws-1", 426, "", "channel.upgrade_required"),
        ("GET", "/rest/version/1/user/joe@example.com/somewhere", 404, "", "resource.not_found"),
    ])
    func `errors are JSON in the wrapper of what was asked for`(
        _ method: String, _ path: String, _ status: Int, _ wrapper: String, _ name: String
    ) async throws {
        try await TestServer.run { server in
            let answer = try await server.request(method, path)
            #expect(answer.status == status)
            #expect(answer["content-type"] == "application/json")
            #expect(try answer.member((wrapper.isEmpty ? "" : wrapper + ".") + "code") == name)
            #expect((answer["allow"] != nil) == (status == 405))
        }
    }

    @Test(arguments: [
        ("GET", "/missing.js", 404, "resource.not_found", "Not Found"),
        ("DELETE", "/health", 405, "resource.method_not_allowed", "Method Not Allowed"),
        ("POST", "/ready", 405, "resource.method_not_allowed", "Method Not Allowed"),
        ("PUT", "/metrics", 405, "resource.method_not_allowed", "Method Not Allowed"),
    ])
    func `what is not of the client protocol is refused with a problem`(
        _ method: String, _ path: String, _ status: Int, _ name: String, _ title: String
    ) async throws {
        try await TestServer.run { server in
            let answer = try await server.request(method, path, as: nil)
            #expect(answer.status == status)
            #expect(answer["content-type"] == "application/problem+json")
            #expect(try answer.member("type") == "about:blank")
            #expect(try answer.member("title") == title)
            #expect(try answer.member("status") == "\(status)")
            #expect(try answer.member("code") == name)
            #expect(try answer.member("detail")?.isEmpty == false)
            #expect((answer["allow"] != nil) == (status == 405))
        }
    }

    @Test func `polling leads nowhere, in the words of the client protocol`() async throws {
        try await TestServer.run { server in
            let answer = try await server.request("GET", "/notification/any", as: nil)
            #expect(answer.status == 404)
            #expect(answer["content-type"] == "application/json")
            #expect(try answer.member("statusCode") == "18")
        }
    }

    @Test func `a preflight is answered for every path that exists`() async throws {
        try await TestServer.run { server in
            let answer = try await server.request(
                "OPTIONS", user + "/callControl", as: nil, headers: ["Origin: https://app.example"])
            #expect(answer.status == 204)
            #expect(answer["access-control-allow-origin"] == "*")
            #expect(answer["access-control-allow-methods"] == "GET, POST, PUT, DELETE")
            #expect(answer["access-control-allow-headers"]?.contains("Authorization") == true)
            #expect(answer["content-length"] == nil)
        }
    }

    @Test func `a body of two megabytes gets a clean answer, and the connection lives on`() async throws {
        try await TestServer.run { server in
            let client = try await RawClient.connect(server.port)
            let path = user + "/callControl/callSessions/A1"
            try await client.send(TestServer.text("PUT", path, String(repeating: "x", count: 2_000_000)))
            let refused = HTTPText(try #require(await client.read(until: HTTPText.length)))
            #expect(refused.status == 413)
            #expect(try refused.member("callControlResponse.code") == "request.body_too_large")
            try await client.send(TestServer.text("PUT", path, audit))
            let accepted = HTTPText(try #require(await client.read(until: HTTPText.length)))
            #expect(accepted.status == 200)
            await client.close()
        }
    }

    @Test func `a client that waits for leave is told at once that its body is too large, or to go on`() async throws {
        try await TestServer.run { server in
            let path = user + "/callControl/callSessions/A1"
            let refused = try await RawClient.connect(server.port)
            try await refused.send(
                TestServer.text("PUT", path, headers: ["Expect: 100-continue", "Content-Length: 2000000"]))
            #expect(HTTPText(await refused.readToEnd()).status == 413)

            let accepted = try await RawClient.connect(server.port)
            try await accepted.send(
                TestServer.text("PUT", path, headers: ["Expect: 100-continue", "Content-Length: \(audit.utf8.count)"]))
            #expect(HTTPText(try #require(await accepted.read(until: HTTPText.headLength))).status == 100)
            try await accepted.send(audit)
            #expect(HTTPText(try #require(await accepted.read(until: HTTPText.length))).status == 200)
            await accepted.close()
        }
    }

    @Test(arguments: [
        ("GARBAGE\r\n\r\n", 0, 400, "request.malformed"),
        ("GET / HTTP/1.1\r\nHost: a\r\nX-Long: ", 70_000, 431, "request.headers_too_large"),
        ("POST /health HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", 0, 400, "request.malformed"),
    ])
    func `garbage is answered in JSON and the connection closed`(
        _ text: String, _ padding: Int, _ status: Int, _ name: String
    ) async throws {
        try await TestServer.run { server in
            let client = try await RawClient.connect(server.port)
            try await client.send(text + String(repeating: "x", count: padding))
            let answer = HTTPText(await client.readToEnd())
            #expect(answer.status == status)
            #expect(answer.body.contains(name))
        }
    }

    @Test func `a connection that asks nothing is ended`() async throws {
        try await TestServer.run(configure: { $0.firstRequestTimeout = .milliseconds(50) }) { server in
            let silent = try await RawClient.connect(server.port)
            #expect(await silent.readToEnd().isEmpty)
        }
    }

    @Test func `a request that never comes to its end is ended`() async throws {
        try await TestServer.run(configure: { $0.requestTimeout = .milliseconds(50) }) { server in
            let slow = try await RawClient.connect(server.port)
            try await slow.send(TestServer.text("POST", user + "/subscription", headers: ["Content-Length: 10"]) + "{")
            let answer = HTTPText(await slow.readToEnd())
            #expect(answer.status == 408)
            #expect(try answer.member("subscribeResponse.code") == "request.timed_out")
        }
    }

    @Test func `two requests sent at once are answered in order`() async throws {
        try await TestServer.run { server in
            let client = try await RawClient.connect(server.port)
            try await client.send(
                TestServer.text("GET", "/health", as: nil) + TestServer.text("GET", "/missing", as: nil))
            #expect(HTTPText(try #require(await client.read(until: HTTPText.length))).status == 200)
            #expect(HTTPText(try #require(await client.read(until: HTTPText.length))).status == 404)
            await client.close()
        }
    }

    @Test func `an upgrade to something else is an ordinary request`() async throws {
        try await TestServer.run { server in
            let answer = try await server.request(
                "GET", "/health", as: nil,
                headers: ["Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c", "HTTP2-Settings: AAMAAABk"])
            #expect(answer.status == 200)
        }
    }

    @Test func `readiness ends with draining, health does not`() async throws {
        try await TestServer.run { server in
            server.service.startDraining()
            let (ready, health) = (
                try await server.request("GET", "/ready", as: nil), try await server.request("GET", "/health", as: nil)
            )
            #expect(ready.status == 503)
            #expect(health.status == 200)
        }
    }
}
