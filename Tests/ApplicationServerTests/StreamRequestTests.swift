import ApplicationServer
import AudioStreams
import CallControl
import CallRuntime
import GatewayAPI
import HTTPTypes
import Testing

@Suite struct `Requests for streams` {
    private func open(
        _ rig: Rig, _ query: String = "", protocols: String? = nil, as principal: V1Principal? = nil
    ) async throws(V1Error) -> any V1Stream {
        var headers = HTTPFields()
        if let protocols { headers[HTTPField.Name("Sec-WebSocket-Protocol")!] = protocols }
        let own = V1Principal.application(Rig.bot, scopes: Rig.everything, addresses: [])
        let socket = try await rig.responder.open(
            V1Request(
                method: .get, path: "/v1/calls/c1/stream", query: query.isEmpty ? nil : query, headers: headers,
                principal: principal ?? own, body: { () async throws(V1Error) in [] }))
        guard case .stream(let stream) = socket else { preconditionFailure("a stream has both directions") }
        return stream
    }

    private func withCall() async throws -> Rig {
        let rig = try await Rig()
        rig.calls.add(RecordedCalls.call("c1"))
        return rig
    }

    @Test(
        arguments: [
            ("", StreamTerms(dialect: .own, format: .standard)),
            (
                "format=l16&rate=48000&absence=music",
                .init(dialect: .own, format: .init(.l16, rate: 48_000)!, absence: .music)
            ),
            ("format=opus", .init(dialect: .own, format: .opus)),
            ("format=pcma", .init(dialect: .own, format: .aLaw)),
            ("format=pcmu&rate=8000", .init(dialect: .own, format: .muLaw)),
            (
                "media=speech&bargeIn=500",
                .init(
                    dialect: .own, format: .standard,
                    configuration: .init(media: .speech, bargeIn: .init(decision: 500)))
            ),
            (
                "listen=call",
                .init(dialect: .own, format: .standard, configuration: .init(isListener: true), listens: .call)
            ),
            (
                "retryTime=5000&fallback=end",
                .init(dialect: .own, format: .standard, waiting: .init(limit: .seconds(5)), fallback: .end)
            ),
            ("retryTime=0", .init(dialect: .own, format: .standard, waiting: .init(limit: .zero))),
            (
                "dialect=asterisk&format=opus",
                .init(dialect: .asterisk, format: .opus, configuration: .init(detector: nil))
            ),
            (
                "dialect=asterisk-json&format=opus&rate=48000",
                .init(dialect: .asteriskJSON, format: .opus, configuration: .init(detector: nil))
            ),
            (
                "dialect=twilio",
                .init(
                    dialect: .twilio, format: .muLaw,
                    configuration: .init(buffer: .init(capacity: 600, maximumMarks: 2_000), detector: nil))
            ),
        ] as [(String, StreamTerms)])
    func `a query says what a stream is`(_ query: String, _ terms: StreamTerms) async throws {
        let rig = try await withCall()
        _ = try await open(rig, query)
        #expect(rig.calls.streams.map(\.0) == [terms])
    }

    @Test(
        arguments: [
            "format=mp3", "dialect=twilio&format=opus", "dialect=asterisk&format=opus&rate=16000",
            "format=opus&rate=16000", "rate=44100", "rate=x", "format=pcmu&rate=16000", "dialect=latin",
            "dialect=twilio&format=l16", "absence=noise", "listen=all", "listen=call&bargeIn=500",
            "dialect=asterisk&format=opus&bargeIn=500",
            "listen=caller&absence=music", "bargeIn=99", "bargeIn=x", "media=all", "volume=3",
            "rate=8000&rate=8000", "retryTime=x", "retryTime=-1", "retryTime=3600001", "fallback=sing",
            "listen=call&retryTime=5000", "listen=call&fallback=end",
        ])
    func `what a stream cannot be is refused`(_ query: String) async throws {
        let rig = try await withCall()
        await #expect {
            _ = try await open(rig, query)
        } throws: { ($0 as? V1Error)?.code == .requestInvalidParameter }
        #expect(rig.calls.streams.isEmpty)
        // The same without asking for a WebSocket.
        #expect(await rig.ask(.get, "/v1/calls/c1/stream?" + query).code == "request.invalid_parameter")
    }

    @Test func `without an upgrade it is said what is missing`() async throws {
        let rig = try await withCall()
        let plain = await rig.ask(.get, "/v1/calls/c1/stream")
        #expect(plain.status == 426 && plain.code == "request.upgrade_required")
        #expect(plain.headers[.upgrade] == "websocket")
        #expect(await rig.ask(.get, "/v1/calls/c2/stream").code == "call.not_found")
        #expect(await rig.ask(.delete, "/v1/calls/c1/stream").code == "resource.method_not_allowed")
        #expect(!rig.responder.servesSockets(at: "/v1/calls/c1"))
        #expect(rig.responder.servesSockets(at: "/v1/calls/c1/stream"))
    }

    @Test func `a stream is for the application, with the scope`() async throws {
        let rig = try await withCall()
        for (principal, code) in [
            (V1Principal.user(Rig.alice), V1ErrorCode.authForbidden),
            (.application(Rig.bot, scopes: Rig.everything.subtracting([.media]), addresses: []), .authForbidden),
            (.application(Rig.other, scopes: Rig.everything, addresses: []), .callNotFound),
        ] {
            await #expect {
                _ = try await open(rig, as: principal)
            } throws: { ($0 as? V1Error)?.code == code }
        }
    }

    @Test func `messages pass both ways, and the end is told once the socket is gone`() async throws {
        let rig = try await withCall()
        let stream = try await open(rig, protocols: "soap, orbweaver.stream.v1")
        #expect(stream.subprotocol == "orbweaver.stream.v1")
        #expect(try await open(rig, protocols: "soap").subprotocol == nil)
        let link = try #require(rig.calls.streams.first?.1)
        #expect(stream.receive(.binary([7])))
        #expect(link.takeInward() == [.binary([7])])
        link.send([.text("hello")])
        link.end(.faults)
        let output = stream.take()
        #expect(output.frames == [.text("hello")] && output.end?.words == "faults" && output.end?.isViolation == true)
        stream.disconnected()
        #expect(link.isGone)
        for _ in 0..<10_000 where rig.calls.closed.isEmpty { await Task.yield() }
        #expect(rig.calls.closed == [StreamID(1)])
        #expect(rig.calls.losses == [.final], "the program cannot be understood")
    }

    @Test(
        arguments: [
            (1_000, .ended), (1_001, .transient), (1_005, .transient), (1_011, .transient), (1_002, .final),
            (4_000, .final), (nil, .transient),
        ] as [(Int?, StreamLoss)])
    func `it is told how the socket ended`(_ code: Int?, _ loss: StreamLoss) async throws {
        let rig = try await withCall()
        let stream = try await open(rig)
        if let code { stream.closing(with: code) }
        stream.disconnected()
        for _ in 0..<10_000 where rig.calls.closed.isEmpty { await Task.yield() }
        #expect(rig.calls.losses == [loss])
    }
}
