import CallControl
import Testing

/// Calls that the gateway places for a user (spidr-wire §10).
struct ClickToCallRouteTests {
    private static let path = "/rest/version/1/user/joe@example.com/clicktocall"
    private static let joe = UserAddress(parsing: "joe@example.com")!
    private static let ann = UserAddress(parsing: "ann@example.com")!

    @Test(arguments: [
        #"{"clickToCallRequest":{"callingParty":"joe@example.com","calledParty":"sip:ann@example.com"}}"#,
        #"{"clickToCallRequest":{"calledParty":"ann"}}"#,
    ])
    func `the call is placed, and the user's devices hear of it after the answer`(_ body: String) async throws {
        try await TestServer.run { server in
            let answer = try await server.request("POST", Self.path, body)
            #expect(answer.status == 200)
            #expect(answer.body == #"{"ctcResponse":{"statusCode":0}}"#)
            await server.switchboard.wait { $0.contains(.answered(Self.joe)) }
            #expect(
                await server.switchboard.events == [
                    .started(Self.joe), .request(Self.joe, .connect(to: Self.ann)), .answered(Self.joe),
                ])
        }
    }

    @Test(
        arguments: [
            (#"{"clickToCallRequest":{}}"#, 400, "5", "request.missing_field"),
            (#"{"clickToCallRequest":{"calledParty":7}}"#, 400, "37", "request.invalid_value"),
            (#"{"clickToCallRequest":{"calledParty":"not an address"}}"#, 400, "37", "request.invalid_value"),
            (
                #"{"clickToCallRequest":{"callingParty":"ann@example.com","calledParty":"bob@example.com"}}"#, 400,
                "37",
                "request.invalid_value"
            ),
            ("{", 400, "1004", "request.malformed_json"), (nil, 400, "5", "request.body_missing"),
        ] as [(String?, Int, String, String)])
    func `what cannot be placed is refused in the wrapper`(
        _ body: String?, _ status: Int, _ statusCode: String, _ code: String
    ) async throws {
        try await TestServer.run { server in
            let answer = try await server.request("POST", Self.path, body)
            #expect(answer.status == status)
            #expect(try answer.member("ctcResponse.statusCode") == statusCode)
            #expect(try answer.member("ctcResponse.code") == code)
            #expect(await server.switchboard.events.isEmpty)
        }
    }

    @Test(
        arguments: [
            (.unreachable(.noSuchUser), 404, "10"), (.unreachable(.busy), 404, "10"),
            (.notAllowed(.start, .noSubscription), 409, "37"), (.unsupported(.connectionOfDirectMedia), 403, "35"),
            (.tooManyCalls(retryAfter: .seconds(2)), 429, "19"), (.limitOfLegs, 429, "19"), (.draining, 503, "503"),
        ] as [(CallError, Int, String)])
    func `a refusal of call handling is told`(_ error: CallError, _ status: Int, _ statusCode: String) async throws {
        try await TestServer.run { server in
            await server.switchboard.set(callError: error)
            let answer = try await server.request(
                "POST", Self.path, #"{"clickToCallRequest":{"calledParty":"ann@example.com"}}"#)
            #expect(answer.status == status)
            #expect(try answer.member("ctcResponse.statusCode") == statusCode)
        }
    }

    @Test func `for another user there is none`() async throws {
        try await TestServer.run { server in
            let answer = try await server.request(
                "POST", Self.path, #"{"clickToCallRequest":{"calledParty":"bob"}}"#, as: "ann@example.com:hidden:too")
            #expect(answer.status == 403)
            #expect(try answer.member("ctcResponse.statusCode") == "27")
            #expect(await server.switchboard.events.isEmpty)
        }
    }
}
