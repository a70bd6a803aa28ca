import CallRuntime
import Primitives
import SignalingServer
import Testing

/// What `/ready` tells load balancers, and when.
@Suite struct `Readiness` {
    private let path = "/rest/version/1/user/joe@example.com/callControl/callSessions/A1"

    @Test func `it ends when users cannot be read three times in a row, and comes back by itself`() async throws {
        try await TestServer.run { server in
            await server.users.set(failure: .failed("damaged"))
            for count in 1...3 {
                #expect(
                    try await server.request("GET", "/ready", as: nil).status == 200,
                    "before the failure number \(count)")
                #expect(try await server.request("GET", path).status == 503)
            }
            let unready = try await server.request("GET", "/ready", as: nil)
            #expect(unready.status == 503)
            #expect(try unready.member("status") == "unavailable")
            #expect(try unready.member("reason") == "the user database cannot be read")
            #expect(try await server.request("GET", "/health", as: nil).status == 200)
            // Nobody logs in any more; it finds out by itself, not more often than once a second.
            await server.users.set(failure: nil)
            let reads = await server.users.reads
            #expect(try await server.request("GET", "/ready", as: nil).status == 503)
            #expect(await server.users.reads == reads)
            server.clock.advance(by: ReadingRecord.interval)
            #expect(try await server.request("GET", "/ready", as: nil).status == 200)
            #expect(await server.users.reads == reads + 1)
            server.clock.advance(by: ReadingRecord.interval)
            #expect(try await server.request("GET", "/ready", as: nil).status == 200)
            #expect(await server.users.reads == reads + 1, "what works is not asked for")
        }
    }

    @Test func `a failure now and then is nothing, several in a row are`() {
        var record = ReadingRecord()
        func time(_ second: Int) -> MonotonicTime { MonotonicTime.zero + .seconds(second) }
        var tries = [record.shouldTry(at: time(0))]
        for second in 0..<10 {
            record.failed(at: time(second))
            #expect(!record.isFailing)
            record.succeeded()
        }
        for second in 10..<13 { record.failed(at: time(second)) }
        #expect(record.isFailing)
        for second in [12, 13, 13] { tries.append(record.shouldTry(at: time(second))) }
        record.failed(at: time(13))
        tries.append(record.shouldTry(at: time(14)))
        #expect(tries == [false, false, true, false, true])
        record.succeeded()
        #expect(!record.isFailing)
    }

    @Test func `once draining is announced, everything is served, and each connection ends with its answer`()
        async throws
    {
        try await TestServer.run { server in
            let kept = try await RawClient.connect(server.port)
            try await kept.send(TestServer.text("GET", "/ready", as: nil))
            #expect(HTTPText(try #require(await kept.read(until: HTTPText.length))).status == 200)
            server.service.announceDraining()
            try await kept.send(TestServer.text("GET", path))
            let last = HTTPText(await kept.readToEnd())
            #expect(last.status == 200)
            #expect(last["connection"] == "close")
            let unready = try await server.request("GET", "/ready", as: nil)
            #expect(unready.status == 503)
            #expect(try unready.member("status") == "draining")
            let (client, answer) = try await WebSocketClient.open(server.port)
            #expect(answer.status == 101)
            await client.connection.close()
        }
    }
}
