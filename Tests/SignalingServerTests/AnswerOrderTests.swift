import CallControl
import Testing

@Suite struct `A request is answered before what it causes` {
    private let joe = address("joe")
    private let session = "/rest/version/1/user/joe@example.com/callControl/callSessions/A1"

    @Test func `requestAnswered comes after the response is written`() async throws {
        try await TestServer.run { server in
            let client = try await RawClient.connect(server.port)
            try await client.send(TestServer.text("DELETE", session))
            await server.switchboard.wait { $0.last == .answered(joe) }
            // Whatever is notified from here on, the response is in the client's kernel already.
            #expect(HTTPText(try #require(await client.read(until: HTTPText.length))).status == 200)
            #expect(
                await server.switchboard.events == [
                    .started(joe), .end(joe, SessionID("A1"), reasonText: nil), .answered(joe),
                ])
            await client.close()
        }
    }

    @Test func `it also comes when the client has gone`() async throws {
        try await TestServer.run { server in
            let client = try await RawClient.connect(server.port)
            await server.switchboard.set(onRequest: { await client.close() })
            try await client.send(TestServer.text("DELETE", session))
            await server.switchboard.wait { $0.last == .answered(joe) }
        }
    }

    @Test(arguments: ["PUT", "DELETE", "GET"])
    func `it also comes when the request is refused`(_ method: String) async throws {
        try await TestServer.run { server in
            await server.switchboard.set(callError: .noSuchCall)
            _ = try await server.request(
                method, session, method == "PUT" ? #"{"callControlRequest":{"type":"audit"}}"# : nil)
            await server.switchboard.wait { $0.last == .answered(joe) }
        }
    }
}
