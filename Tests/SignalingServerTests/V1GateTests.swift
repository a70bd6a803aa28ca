import CallControl
import CallRuntime
import Cryptography
import Foundation
import GatewayAPI
import HTTPTypes
import Primitives
import SignalingServer
import Synchronization
import Testing

@Suite struct `The gate of v1` {
    private static let secret = String(repeating: "0123456789abcdef", count: 4)
    private static let name = ApplicationName("bot")!
    private static let identity = ApplicationIdentity(name: name, number: 7)

    /// Remembers who asked, and answers with the body that came, or with two parts of a stream.
    private final class Echo: V1Interface {
        private let principals = Mutex<[V1Principal]>([])
        var asked: [V1Principal] { principals.withLock { $0 } }

        func methods(at path: String) -> [HTTPRequest.Method] { path == "/v1/calls" ? [.get, .post] : [] }
        func finish() {}

        func answer(_ request: V1Request) async -> V1Answer {
            principals.withLock { $0.append(request.principal) }
            if request.path == "/v1/events" {
                let (stream, output) = AsyncStream.makeStream(of: [UInt8].self)
                output.yield(Array("one\n".utf8))
                output.yield(Array("two\n".utf8))
                output.finish()
                return V1Answer(200, contentType: "application/jsonl", .stream(stream))
            }
            do throws(V1Error) {
                let body = request.method == .post ? try await request.body() : Array("{}".utf8)
                return V1Answer(201, contentType: "application/json", .bytes(body), headers: [.eTag: "\"7\""])
            } catch {
                return .refusal(error)
            }
        }
    }

    private func run(
        expiresAt: Int64? = nil, _ body: (TestServer, String, Echo, MemoryApplications) async throws -> Void
    ) async throws {
        let applications = MemoryApplications(["joe@example.com"])
        var profile = ApplicationProfile()
        profile.scopes = [.callsRead, .callsWrite]
        try await applications.add(
            StoredApplication(
                name: Self.name, number: 7, domain: "", secret: Redacted(Self.secret), profile: profile))
        var random = SecureRandomSource()
        let key = ApplicationKey(random: &random)
        let stored = StoredApplicationKey(
            id: "k", application: Self.name, ending: key.ending, createdAt: 0, createdBy: "test",
            expiresAt: expiresAt)
        _ = try await applications.add(
            stored, digest: Digest.sha256.hash(Array(key.text.value.utf8)), of: Self.name)
        let echo = Echo()
        try await TestServer.run(configure: { $0.maxBodyBytes = 1_000 }, applications: applications, v1: echo) {
            try await body($0, key.text.value, echo, applications)
        }
    }

    private func ask(
        _ server: TestServer, _ method: String = "GET", _ path: String = "/v1/calls", _ body: String? = nil,
        bearer: String?, headers: [String] = []
    ) async throws -> HTTPText {
        try await server.request(
            method, path, body, as: nil, headers: (bearer.map { ["Authorization: Bearer \($0)"] } ?? []) + headers)
    }

    private func token(_ claims: String, secret: String = secret, algorithm: String = "HS256") -> String {
        func text(_ json: String) -> String {
            Data(json.utf8).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_")
                .replacing("=", with: "")
        }
        let signed = text(#"{"alg":"\#(algorithm)"}"#) + "." + text(claims)
        let code = HMAC.sha256(key: Array(secret.utf8), Array(signed.utf8).span)
        return signed + "."
            + Data(code).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_")
            .replacing("=", with: "")
    }

    // MARK: Requests

    @Test func `a key of an application gets through, and bodies both ways`() async throws {
        try await run { server, key, echo, _ in
            let answer = try await ask(server, "POST", "/v1/calls", #"{"a":1}"#, bearer: key)
            #expect(answer.status == 201)
            #expect(answer.body == #"{"a":1}"#)
            #expect(answer.headers["etag"] == "\"7\"")
            #expect(answer.headers["access-control-allow-origin"] == "*")
            #expect(
                echo.asked == [
                    .application(Self.identity, scopes: [.callsRead, .callsWrite], addresses: [])
                ])
            let head = try await ask(server, "HEAD", bearer: key)
            #expect(head.status == 201)
            #expect(head.headers["content-length"] == "2")
        }
    }

    @Test func `a stream is sent in chunks, and ends`() async throws {
        try await run { server, key, _, _ in
            let client = try await RawClient.connect(server.port)
            try await client.send(
                TestServer.text("GET", "/v1/events", as: nil, headers: ["Authorization: Bearer \(key)"]))
            let bytes = await client.read { text in
                String(decoding: text, as: UTF8.self).hasSuffix("0\r\n\r\n") ? text.count : nil
            }
            let text = String(decoding: bytes ?? [], as: UTF8.self)
            #expect(text.contains("transfer-encoding: chunked") || text.contains("Transfer-Encoding: chunked"))
            #expect(text.contains("one\n") && text.contains("two\n"))
            // The connection goes on.
            try await client.send(
                TestServer.text("GET", "/v1/calls", as: nil, headers: ["Authorization: Bearer \(key)"]))
            let next = await client.read { HTTPText.length(of: $0) }
            #expect(HTTPText(next ?? []).status == 201)
            await client.close()
        }
    }

    @Test func `a body that is too large or no JSON is refused with a problem`() async throws {
        try await run { server, key, _, _ in
            let large = try await ask(
                server, "POST", "/v1/calls", String(repeating: " ", count: 1_001), bearer: key)
            #expect(large.status == 413)
            #expect(try large.member("code") == "request.body_too_large")
            let client = try await RawClient.connect(server.port)
            try await client.send(
                "POST /v1/calls HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer \(key)\r\nContent-Type: text/plain\r\n"
                    + "Content-Length: 2\r\n\r\nhi")
            let text = HTTPText(await client.read { HTTPText.length(of: $0) } ?? [])
            await client.close()
            #expect(text.status == 415)
            #expect(text.headers["content-type"] == "application/problem+json")
        }
    }

    @Test func `a preflight needs no credentials, and names the methods of the path`() async throws {
        try await run { server, _, _, _ in
            let answer = try await ask(server, "OPTIONS", bearer: nil)
            #expect(answer.status == 204)
            #expect(answer.headers["allow"] == "GET, POST, HEAD, OPTIONS")
            #expect(answer.headers["access-control-allow-headers"]?.contains("Idempotency-Key") == true)
            #expect(try await ask(server, "OPTIONS", "/v1/nothing", bearer: nil).headers["allow"] == nil)
        }
    }

    // MARK: Credentials

    @Test func `without credentials, and with wrong ones, nothing is learnt`() async throws {
        try await run { server, key, echo, applications in
            let other = "owk_" + String(repeating: "A", count: 42)
            for (bearer, code) in [
                (nil, "auth.missing"), (other, "auth.invalid_token"), ("owk_short", "auth.invalid_token"),
                ("nonsense", "auth.invalid_token"),
            ] as [(String?, String)] {
                for path in ["/v1/calls", "/v1/nothing", "/v1"] {
                    let answer = try await ask(server, "GET", path, bearer: bearer)
                    #expect(answer.status == 401, "\(bearer ?? "-")")
                    #expect(try answer.member("code") == code)
                    #expect(answer.headers["www-authenticate"]?.hasPrefix("Bearer") == true)
                }
            }
            let basic = try await server.request("GET", "/v1/calls", as: "joe@example.com:wrong")
            #expect(try basic.member("code") == "auth.wrong_password")
            _ = try await applications.removeKey("k", of: Self.name)
            #expect(try await ask(server, bearer: key).status == 401)
            #expect(echo.asked.isEmpty)
        }
    }

    @Test func `a key that has expired is refused`() async throws {
        try await run(expiresAt: 1) { server, key, _, _ in
            let answer = try await ask(server, bearer: key)
            #expect(try answer.member("code") == "auth.token_expired")
        }
    }

    @Test func `many wrong keys of a network are not looked at for a time`() async throws {
        try await run { server, key, _, _ in
            let wrong = "owk_" + String(repeating: "A", count: 42)
            for _ in 0..<V1Authenticator.guesses.burst {
                #expect(try await ask(server, bearer: wrong).status == 401)
            }
            let refused = try await ask(server, bearer: wrong)
            #expect(refused.status == 429)
            #expect(try refused.member("code") == "auth.rate_limited")
            #expect(refused.headers["retry-after"] == "5")
            server.clock.advance(by: V1Authenticator.guesses.interval)
            #expect(try await ask(server, bearer: key).status == 201)
        }
    }

    @Test func `wrong keys of a network do not lock out one that was right`() async throws {
        try await run { server, key, _, applications in
            #expect(try await ask(server, bearer: key).status == 201)
            let wrong = "owk_" + String(repeating: "A", count: 42)
            for _ in 0...V1Authenticator.guesses.burst { _ = try await ask(server, bearer: wrong) }
            #expect(try await ask(server, bearer: wrong).status == 429)
            for _ in 0..<3 { #expect(try await ask(server, bearer: key).status == 201) }
            // Once it is wrong it waits as all do.
            _ = try await applications.removeKey("k", of: Self.name)
            #expect(try await ask(server, bearer: key).status == 401)
            #expect(try await ask(server, bearer: key).status == 429)
        }
    }

    @Test func `a user is one by a password`() async throws {
        try await run { server, _, echo, _ in
            let answer = try await server.request("GET", "/v1/calls")
            #expect(answer.status == 201)
            #expect(echo.asked == [.user(UserAddress(parsing: "joe@example.com")!)])
        }
    }

    @Test func `a token that the application has signed gives what it says`() async throws {
        try await run { server, _, echo, applications in
            let now = server.clock.epochMilliseconds / 1_000
            func code(_ claims: String, secret: String = Self.secret) async throws -> String? {
                let answer = try await ask(server, bearer: token(claims, secret: secret))
                return answer.status == 201 ? nil : try answer.member("code")
            }
            #expect(try await code(#"{"iss":"bot","exp":\#(now + 3_600)}"#) == nil)
            #expect(try await code(#"{"iss":"bot","exp":\#(now + 60),"scope":"calls:read","aud":"v1"}"#) == nil)
            #expect(
                echo.asked == [
                    .application(Self.identity, scopes: [.callsRead, .callsWrite], addresses: []),
                    .application(Self.identity, scopes: [.callsRead], addresses: []),
                ])
            #expect(try await code(#"{"iss":"bot","exp":\#(now - 60)}"#) == "auth.token_expired")
            for claims in [
                #"{"iss":"bot","exp":\#(now + 4_000)}"#, #"{"iss":"bot"}"#,
                #"{"iss":"bot","exp":\#(now + 60),"scope":"events"}"#,
                #"{"iss":"bot","exp":\#(now + 60),"scope":["calls:read"]}"#,
                #"{"iss":"bot","exp":\#(now + 60),"aud":"callMe"}"#,
                #"{"iss":"bot","exp":\#(now + 60),"nbf":\#(now + 50)}"#,
            ] {
                #expect(try await code(claims) == "auth.invalid_token", "\(claims)")
            }
            let claims = #"{"iss":"bot","exp":\#(now + 60)}"#
            for wrong in [String(repeating: "f", count: 64), ""] {
                #expect(try await code(claims, secret: wrong) == "auth.invalid_token")
            }
            #expect(try await code(#"{"iss":"other","exp":\#(now + 60)}"#) == "auth.invalid_token")
            // The former secret is good for as long as it was said to be.
            let new = String(repeating: "e", count: 64)
            try await applications.setSecret(
                Redacted(new), of: Self.name, keepingFormerUntil: (now + 10) * 1_000)
            #expect(try await code(claims) == nil)
            #expect(try await code(claims, secret: new) == nil)
            server.clock.advance(by: .seconds(11))
            #expect(try await code(claims) == "auth.invalid_token")
            #expect(try await code(claims, secret: new) == nil)
        }
    }
}
