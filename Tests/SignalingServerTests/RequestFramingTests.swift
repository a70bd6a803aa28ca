import Foundation
import SignalingServer
import Testing

/// Where a request ends, whom it is for and what its body is: what two readers could understand in two ways.
@Suite struct `Request framing` {
    private static let path = "/rest/version/1/user/joe@example.com/callControl/callSessions/A1"
    private static let audit = #"{"callControlRequest":{"type":"audit"}}"#
    /// What would be answered with 200 if it were taken for a request of its own.
    private static let smuggled = "GET /health HTTP/1.1\r\nHost: a\r\n\r\n"

    /// RFC 9112 §6.1, §6.3, §11.2: a proxy in front may find the end elsewhere, and pass on the rest as the next
    /// client's request.
    @Test(arguments: [
        ("length and chunks", "Content-Length: 5\r\nTransfer-Encoding: chunked", "0\r\n\r\n", 400),
        ("chunks and length", "Transfer-Encoding: chunked\r\nContent-Length: 5", "0\r\n\r\n", 400),
        ("two lengths", "Content-Length: 5\r\nContent-Length: 6", "12345", 400),
        ("the same length twice", "Content-Length: 5\r\nContent-Length: 5", "12345", 400),
        ("a list of lengths", "Content-Length: 5, 5", "12345", 400),
        ("a length with a sign", "Content-Length: +5", "12345", 400),
        ("a hexadecimal length", "Content-Length: 0x5", "12345", 400),
        ("an unknown coding", "Transfer-Encoding: xchunked", "0\r\n\r\n", 501),
        ("identity after chunked", "Transfer-Encoding: chunked, identity", "0\r\n\r\n", 400),
        ("chunked behind gzip", "Transfer-Encoding: gzip, chunked", "0\r\n\r\n", 501),
        ("gzip in a line of its own", "Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked", "0\r\n\r\n", 501),
        ("chunked twice", "Transfer-Encoding: chunked, chunked", "0\r\n\r\n", 400),
        ("a blank before the colon", "Transfer-Encoding : chunked", "0\r\n\r\n", 400),
        ("a folded line", "Transfer-Encoding:\r\n chunked", "0\r\n\r\n", 400),
        ("a bare line feed", "X: a\nTransfer-Encoding: chunked", "0\r\n\r\n", 400),
        ("a bare carriage return", "X: a\rTransfer-Encoding: chunked", "0\r\n\r\n", 400),
        ("a NUL", "X: a\0b", "", 400),
    ])
    func `a request that could end in two places is refused, and nothing after it is read`(
        _ name: String, _ headers: String, _ body: String, _ status: Int
    ) async throws {
        try await TestServer.run { server in
            let client = try await RawClient.connect(server.port)
            let request =
                "POST \(Self.path) HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n\(headers)\r\n\r\n\(body)"
            try await client.send(request + Self.smuggled)
            let text = String(decoding: await client.readToEnd(), as: UTF8.self)
            #expect(HTTPText(Array(text.utf8)).status == status, "\(text)")
            #expect(text.matches(of: /HTTP\/1\.1 [0-9]/).count == 1, "one answer: \(text)")
            #expect(text.lowercased().contains("connection: close"))
            #expect(text.contains(status == 501 ? "request.unsupported_transfer_coding" : "request.malformed"))
            #expect(await server.switchboard.events.isEmpty)
        }
    }

    @Test(arguments: [
        ("GET /health HTTP/1.1\r\n\r\n", 400), ("GET /health HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n", 400),
        ("GET /health HTTP/1.1\r\nHost: a\r\nhost: b\r\n\r\n", 400),
        ("GET /health HTTP/1.0\r\nHost: a\r\nHost: b\r\n\r\n", 400),
        ("POST /health HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400),
        ("GET /health HTTP/1.0\r\n\r\n", 200), ("GET /health HTTP/1.0\r\nHost: a\r\n\r\n", 200),
        ("GET /health HTTP/1.1\r\nHost: a\r\nConnection: Close\r\n\r\n", 200),
        ("GET /health HTTP/1.1\r\nHost: a\r\nConnection: x, close\r\n\r\n", 200),
    ])
    func `a host is named once, and who says so gets one answer and the end`(_ request: String, _ status: Int)
        async throws
    {
        try await TestServer.run { server in
            let client = try await RawClient.connect(server.port)
            try await client.send(request)
            // The server closes by itself.
            let answer = HTTPText(await client.readToEnd())
            #expect(answer.status == status)
            #expect(answer["connection"] == "close")
        }
    }

    @Test(arguments: [("HTTP/1.1", "X: y"), ("HTTP/1.0", "Connection: Keep-Alive")])
    func `a connection that is to be kept is kept`(_ version: String, _ header: String) async throws {
        try await TestServer.run { server in
            let client = try await RawClient.connect(server.port)
            for _ in 1...2 {
                try await client.send("GET /health \(version)\r\nHost: a\r\n\(header)\r\n\r\n")
                #expect(HTTPText(try #require(await client.read(until: HTTPText.length))).status == 200)
            }
            await client.close()
        }
    }

    /// `nil`: no such header. A page of another origin may send the first four without a preflight (CWE-352).
    @Test(
        arguments: [
            ("text/plain", nil, 415), ("application/x-www-form-urlencoded", nil, 415),
            ("multipart/form-data; boundary=b", nil, 415),
            (nil, "https://elsewhere.example", 415), ("text/json", nil, 415), ("application/jsonp", nil, 415),
            ("application/xml", nil, 415),
            ("application/json", "https://elsewhere.example", 200), ("application/json; charset=utf-8", nil, 200),
            ("Application/JSON", nil, 200),
            ("application/vnd.example+json", nil, 200), (nil, nil, 200),
        ] as [(String?, String?, Int)])
    func `a body is read as JSON only if it is announced as JSON`(_ type: String?, _ origin: String?, _ status: Int)
        async throws
    {
        try await TestServer.run { server in
            var headers = ["Content-Length: \(Self.audit.utf8.count)"]
            if let type { headers.append("Content-Type: \(type)") }
            if let origin { headers.append("Origin: \(origin)") }
            let client = try await RawClient.connect(server.port)
            let request = TestServer.text("PUT", Self.path, headers: headers) + Self.audit
            try await client.send(request)
            let answer = HTTPText(try #require(await client.read(until: HTTPText.length)))
            #expect(answer.status == status)
            if status == 415 {
                #expect(try answer.member("callControlResponse.code") == "request.unsupported_media_type")
            }
            // The connection lives on.
            try await client.send(request)
            #expect(HTTPText(try #require(await client.read(until: HTTPText.length))).status == status)
            await client.close()
        }
    }

    /// A browser would keep what is typed into its own window, and send it with requests of any page (CWE-352).
    @Test func `a script is not challenged, everybody else is`() async throws {
        try await TestServer.run { server in
            let script = try await server.request(
                "GET", Self.path, as: nil, headers: ["X-Requested-With: XMLHttpRequest"])
            #expect(script.status == 401)
            #expect(script["www-authenticate"] == nil)
            let other = try await server.request("GET", Self.path, as: nil)
            #expect(other.status == 401)
            #expect(other["www-authenticate"] != nil)
        }
    }

    @Test(
        arguments: [
            (String(repeating: "[", count: 100_000), "request.malformed_json"),
            (String(repeating: #"{"a":"#, count: 100_000), "request.malformed_json"),
            (
                #"{"callControlRequest":"# + String(repeating: "[", count: 100_000)
                    + String(repeating: "]", count: 100_000) + "}", "request.malformed_json"
            ),
            (#"{"callControlRequest":{"type":1e999}}"#, nil), (#"{"callControlRequest":{"type":-1e999}}"#, nil),
            (#"{"callControlRequest":{"type":"# + String(repeating: "9", count: 100_000) + "}}", nil),
            (#"{"callControlRequest":{"type":"\ud800"}}"#, nil),
            (#"{"callControlRequest":{"type":"audit","type":"hold"}}"#, nil),
            ("\u{FEFF}" + #"{"callControlRequest":{"type":"audit"}}"#, nil),
        ] as [(String, String?)])
    func `JSON that is deep or has numbers out of every range is refused or read, and costs nothing else`(
        _ body: String, _ code: String?
    ) async throws {
        try await TestServer.run { server in
            let answer = try await server.request("PUT", Self.path, body)
            if let code {
                #expect(answer.status == 400)
                #expect(try answer.member("callControlResponse.code") == code)
            } else {
                #expect(answer.status == 400 || answer.status == 200)
            }
            #expect(try await server.request("GET", "/health", as: nil).status == 200)
        }
    }
}
