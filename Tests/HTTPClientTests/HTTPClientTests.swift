import HTTPClient
import NIOHTTP1
import Primitives
import Synchronization
import Testing

/// HTTP/1.1 on loopback; HTTP/2, TLS and its faults are in Tests/IntegrationTests/test_push_providers.py.
@Suite struct `The HTTP client` {
    private static func configuration(_ change: (inout HTTPClient.Configuration) -> Void = { _ in }) throws
        -> HTTPClient.Configuration
    {
        var configuration = HTTPClient.Configuration()
        configuration.allowsPlainHTTP = true
        configuration.addresses.allowed = [try #require(IPAddressRange("127.0.0.0/8"))]
        change(&configuration)
        return configuration
    }

    /// Runs a test with a server and a client, and ends both.
    private func withPair(
        _ change: (inout HTTPClient.Configuration) -> Void = { _ in },
        _ body: (LoopbackServer, HTTPClient) async throws -> Void
    ) async throws {
        let server = try LoopbackServer()
        let client = try HTTPClient(name: "test", configuration: try Self.configuration(change))
        do {
            try await body(server, client)
        } catch {
            Issue.record(error)
        }
        client.shutDown()
        try await server.stop()
    }

    private func get(_ url: String, timeout: Duration = .seconds(300)) -> HTTPRequest {
        HTTPRequest(.get, url, timeout: timeout)
    }

    private func failure(_ client: HTTPClient, _ request: HTTPRequest) async -> HTTPFailure? {
        do {
            _ = try await client.response(to: request)
            return nil
        } catch {
            return error
        }
    }

    /// The status of the response; `nil` if there is none.
    private func status(_ client: HTTPClient, _ request: HTTPRequest) async -> Int? {
        try? await client.response(to: request).status
    }

    private func wait(until condition: () -> Bool) async throws {
        for _ in 0..<20_000 where !condition() { try await Task.sleep(for: .milliseconds(5)) }
        #expect(condition())
    }

    @Test func `a request carries its method, fields and content, and the response its status, fields and content`()
        async throws
    {
        try await withPair { server, client in
            let response = try await client.response(
                to: HTTPRequest(
                    .post(Array("{}".utf8)), server.url("/a?b=c"),
                    fields: [HTTPField("content-type", "application/json"), HTTPField("x-empty", "")],
                    timeout: .seconds(300)))
            #expect(response.status == 200)
            #expect(String(decoding: response.content, as: UTF8.self) == "hello")
            #expect(response.value(of: "x-answer") == "yes")
            #expect(response.value(of: "x-absent") == nil)
            #expect(!response.isHTTP2)
            let seen = try #require(server.requests.first)
            #expect(seen.head.method == .POST && seen.head.uri == "/a?b=c" && seen.body == "{}")
            #expect(seen.head.headers["content-type"] == ["application/json"])
            #expect(seen.head.headers["x-empty"] == [""])
        }
    }

    @Test func `an empty content and a GET after a POST are sent as they are`() async throws {
        try await withPair { server, client in
            _ = try await client.response(to: HTTPRequest(.post([]), server.url("/1"), timeout: .seconds(300)))
            _ = try await client.response(
                to: HTTPRequest(
                    .post([0x78]), server.url("/2"), fields: [HTTPField("x-a", "1")], timeout: .seconds(300))
            )
            _ = try await client.response(to: get(server.url("/3")))
            #expect(server.requests.map(\.head.method) == [.POST, .POST, .GET])
            #expect(server.requests.map(\.body) == ["", "x", ""])
            #expect(server.requests.map { $0.head.headers["x-a"] } == [[], ["1"], []])
            #expect(server.connectionCount == 1)
        }
    }

    @Test func `fields as long as those of the request before are the request's own`() async throws {
        try await withPair { server, client in
            let fields = [("x-a", "11"), ("x-a", "22"), ("x-b", "33"), ("x-b", ""), ("x-c", ""), ("x-long", "4")]
            for (name, value) in fields {
                var request = get(server.url("/"))
                request.fields = [HTTPField(name, value), HTTPField("x-last", "\(value)!")]
                _ = try await client.response(to: request)
            }
            for (seen, (name, value)) in zip(server.requests, fields) {
                #expect(seen.head.headers[name] == [value] && seen.head.headers["x-last"] == ["\(value)!"])
                #expect(seen.head.headers.filter { $0.name.hasPrefix("x-") }.count == 2)
            }
            #expect(server.requests.count == fields.count)
        }
    }

    /// With 40 requests on their way the client is busy, and looks for more by itself.
    @Test(arguments: [1, 3, 40])
    func `requests that are handed over together are answered, and the owner hears of it behind them`(_ count: Int)
        async throws
    {
        let server = try LoopbackServer()
        let heard = Mutex((completions: 0, words: 0, isUpToDate: true))
        let client = try HTTPClient(name: "test", configuration: try Self.configuration { $0.connectionsPerHost = 40 })
        {
            heard.withLock { heard in
                heard.words += 1
                heard.isUpToDate = true
            }
        }
        let note: HTTPClient.Completion = { result in
            #expect((try? result.get().status) == 200)
            heard.withLock { heard in
                heard.completions += 1
                heard.isUpToDate = false
            }
        }
        client.send((0..<count).map { _ in (get(server.url("/held")), note) })
        try await wait { server.heldCount == count }
        // One that comes later is not held up by the others.
        #expect(await status(client, get("http://localhost:\(server.port)/")) == 200)
        server.release()
        try await wait { heard.withLock { $0.completions == count && $0.isUpToDate } }
        #expect(heard.withLock { (2...(count + 1)).contains($0.words) })
        client.shutDown()
        let ended = Mutex<[HTTPFailure]>([])
        let refused: HTTPClient.Completion = { result in
            if case .failure(let failure) = result { ended.withLock { $0.append(failure) } }
        }
        client.send([(get(server.url("/")), refused)])
        #expect(ended.withLock { $0 } == [.shutDown])
        try await server.stop()
    }

    @Test func `a redirect is not followed`() async throws {
        try await withPair { server, client in
            #expect(await status(client, get(server.url("/moved"))) == 301)
            #expect(server.requests.map(\.head.uri) == ["/moved"])
        }
    }

    @Test func `a value of a field comes without blanks`() async throws {
        try await withPair { server, client in
            let response = try await client.response(to: get(server.url("/later")))
            #expect(response.status == 429 && response.value(of: "retry-after") == "7")
        }
    }

    @Test func `a response that is too large is refused`() async throws {
        try await withPair { server, client in
            #expect(await failure(client, get(server.url("/large"))) == .responseTooLarge)
        }
    }

    @Test func `where it may be cut, it counts without its content, and so does the next one with`() async throws {
        try await withPair({ $0.cutsContent = true }) { server, client in
            let cut = try await client.response(to: get(server.url("/large")))
            #expect(cut.status == 200 && cut.isCut && cut.content.isEmpty)
            let whole = try await client.response(to: get(server.url("/later")))
            #expect(whole.status == 429 && !whole.isCut)
        }
    }

    @Test func `a response that does not come in time is not waited for`() async throws {
        try await withPair { server, client in
            #expect(await failure(client, get(server.url("/stalled"), timeout: .milliseconds(100))) == .timedOut)
            #expect(await status(client, get(server.url("/"))) == 200)
        }
    }

    @Test func `a connection that is dropped is reported as lost`() async throws {
        try await withPair { server, client in
            guard case .connectionLost = await failure(client, get(server.url("/dropped"))) else {
                Issue.record("lost")
                return
            }
        }
    }

    @Test func `an address that the guard refuses is not connected to, whatever name it has`() async throws {
        try await withPair({ $0.addresses.allowed = [] }) { server, client in
            for host in ["127.0.0.1", "localhost", "0x7f000001", "[::ffff:127.0.0.1]"] {
                let failure = await failure(client, get("http://\(host):\(server.port)/"))
                guard case .refusedAddress(let address) = failure else {
                    Issue.record("\(host): \(String(describing: failure))")
                    continue
                }
                #expect(address.unmapped.isLoopback)
            }
            #expect(server.connectionCount == 0)
        }
    }

    @Test(arguments: [
        "ftp://127.0.0.1/", "file:///etc/passwd", "//127.0.0.1/", "", "http:///", "http://a:b@127.0.0.1/",
    ])
    func `a URL that cannot be used is refused`(_ url: String) async throws {
        try await withPair { _, client in
            guard case .unusableURL = await failure(client, get(url)) else {
                Issue.record("\(url) is refused")
                return
            }
        }
    }

    @Test func `HTTP without TLS is refused unless it is allowed`() async throws {
        try await withPair({ $0.allowsPlainHTTP = false }) { server, client in
            guard case .unusableURL = await failure(client, get(server.url("/"))) else {
                Issue.record("refused")
                return
            }
            #expect(server.connectionCount == 0)
        }
    }

    @Test(arguments: [("x-a", "1\r\nx-b: 2"), ("x a", "1"), ("", "1"), ("x-a:", "1"), ("x-a", "\u{0}")])
    func `a field that would be another one is refused`(_ name: String, _ value: String) async throws {
        try await withPair { server, client in
            var request = get(server.url("/"))
            request.fields = [HTTPField(name, value)]
            #expect(await failure(client, request) == .unusableField(name))
            #expect(server.requests.isEmpty)
        }
    }

    @Test func `requests beyond the limit in flight wait, and one more than may wait is refused`() async throws {
        let change = { (configuration: inout HTTPClient.Configuration) in
            configuration.connectionsPerHost = 10
            configuration.requestsInFlightPerHost = 2
            configuration.waitingRequests = 3
        }
        try await withPair(change) { server, client in
            let ended = Mutex<[Result<HTTPResponse, HTTPFailure>]>([])
            for _ in 0..<6 {
                client.send(get(server.url("/held"))) { result in ended.withLock { $0.append(result) } }
            }
            try await wait { server.heldCount == 2 && ended.withLock { $0.count } == 1 }
            #expect(ended.withLock { $0 } == [.failure(.tooManyWaiting)])
            // Another host, which it is by its name, is not held up by this one.
            #expect(await status(client, get("http://localhost:\(server.port)/")) == 200)
            for count in [2, 2, 1] {
                try await wait { server.heldCount == count }
                server.release()
            }
            try await wait { ended.withLock { $0.count } == 6 }
            #expect(ended.withLock { $0.filter { (try? $0.get().status) == 200 }.count } == 5)
        }
    }

    @Test func `a request that waits for all of its time never leaves`() async throws {
        try await withPair({ $0.requestsInFlightPerHost = 1 }) { server, client in
            async let first = status(client, get(server.url("/held")))
            try await wait { server.heldCount == 1 }
            #expect(await failure(client, get(server.url("/late"), timeout: .milliseconds(50))) == .timedOut)
            server.release()
            #expect(await first == 200)
            #expect(server.requests.map(\.head.uri) == ["/held"])
        }
    }

    @Test func `a cancelled task gives its request up, in flight or waiting`() async throws {
        try await withPair({ $0.requestsInFlightPerHost = 1 }) { server, client in
            let request = get(server.url("/held"))
            let tasks = (0..<2).map { _ in Task { await failure(client, request) } }
            try await wait { server.heldCount == 1 }
            for task in tasks { task.cancel() }
            for task in tasks { #expect(await task.value == .cancelled) }
            #expect(await status(client, get(server.url("/"))) == 200)
        }
    }

    @Test func `a client that is shut down gives up what it has and refuses what comes`() async throws {
        let server = try LoopbackServer()
        let client = try HTTPClient(
            name: "test", configuration: try Self.configuration { $0.requestsInFlightPerHost = 1 })
        let ended = Mutex<[Result<HTTPResponse, HTTPFailure>]>([])
        for _ in 0..<3 { client.send(get(server.url("/held"))) { result in ended.withLock { $0.append(result) } } }
        try await wait { server.heldCount == 1 }
        client.shutDown()
        #expect(ended.withLock { $0 } == Array(repeating: .failure(.shutDown), count: 3))
        #expect(await failure(client, get(server.url("/"))) == .shutDown)
        try await server.stop()
    }

    @Test func `a host that nobody listens on is reported`() async throws {
        try await withPair { server, client in
            // Port 1 of loopback has no listener.
            guard case .notConnected = await failure(client, get("http://127.0.0.1:1/")) else {
                Issue.record("not connected")
                return
            }
            guard case .unresolved = await failure(client, get("http://no-such-host.invalid/")) else {
                Issue.record("unresolved")
                return
            }
        }
    }
}
