import CallControl
import Observability
import Primitives
import Registration
import SignalingServer
import TestSupport
import Testing

@Suite struct `Guest routes` {
    private static let base = "/rest/version/1/anonymous/ann@example.com"
    private static let guest = {
        var random = SeededRandomSource(seed: 9)
        return GuestID(random: &random)
    }()
    private static let start =
        #"{"type":"callStart","from":"Erin <sip:bob@example.com>","to":"sip:ann@example.com","sdp":"v=0","notifyChannelId":"\#(guest).ws"}"#

    /// A server that knows one guest, who came to call ann.
    private func run(
        _ mode: GuestPolicy.Mode = .open, configure: (inout SignalingConfiguration) -> Void = { _ in },
        _ body: (TestServer) async throws -> Void
    ) async throws {
        let set = { (configuration: inout SignalingConfiguration) in
            configuration.guests.policy.mode = mode
            configuration.guests.policy.realms = try! CallMeRealm.realms(
                parsing: "shop aes-128-ecb 000102030405060708090a0b0c0d0e0f")
            configure(&configuration)
        }
        try await TestServer.run(configure: set) { server in
            await server.switchboard.set(guest: Self.guest, account: address("ann"))
            try await body(server)
        }
    }

    @Test func `a guest is let in without credentials, and told its own paths`() async throws {
        try await run { server in
            let body = #"{"subscribeRequest":{"service":["callMe"]}}"#
            let answer = try await server.request("POST", Self.base + "/subscription", body, as: nil)
            #expect(answer.status == 201)
            #expect(try answer.member("subscribeResponse.subscription") == Self.base + "/subscription/5f2c")
            #expect(
                try answer.member("subscribeResponse.subscriptionParams.notificationChannel") == Self.base
                    + "/websocket/ws-7d0e")
            #expect(
                await server.switchboard.events == [
                    .admit(SubscriptionRequest(services: ["callMe"]), toCall: address("ann"))
                ])
        }
    }

    @Test func `its subscription is extended and ended`() async throws {
        try await run { server in
            let path = "\(Self.base)/subscription/\(Self.guest).S1"
            let extended = try await server.request(
                "PUT", path, #"{"subscribeRequest":{"service":["callMe"]}}"#, as: nil)
            #expect(extended.status == 200)
            #expect(try await server.request("DELETE", path, as: nil).status == 200)
            let user = UserAddress(Self.guest)
            await server.switchboard.wait { $0.count { $0 == .answered(user) } == 2 }
            #expect(await server.switchboard.events.contains(.unsubscribe(user, SubscriptionID("\(Self.guest).S1"))))
        }
    }

    @Test(arguments: ["callMe", "callme", "CALLME"], ["callMeRequest", "callControlRequest"])
    func `it calls with the name it gives itself, and nobody's address`(_ resource: String, _ wrapper: String)
        async throws
    {
        try await run { server in
            let answer = try await server.request(
                "POST", "\(Self.base)/\(resource)", #"{"\#(wrapper)":\#(Self.start)}"#, as: nil)
            #expect(answer.status == 201)
            #expect(answer.body == #"{"callMeResponse":{"statusCode":0,"sessionData":"A1"}}"#)
            let user = UserAddress(Self.guest)
            await server.switchboard.wait { $0.last == .answered(user) }
            let request = CallStartRequest(callerName: "Guest: Erin", callee: address("ann"), sdp: "v=0")
            #expect(await server.switchboard.events == [.started(user), .start(user, request), .answered(user)])
        }
    }

    @Test(
        arguments: [
            ("PUT", #"{"callMeRequest":{"type":"audit"}}"#, .audit(UserAddress(guest), SessionID("\(guest).A1"))),
            (
                "PUT", #"{"callControlRequest":{"type":"startCallUpdate","sdp":"v=0"}}"#,
                .offer(UserAddress(guest), SessionID("\(guest).A1"), CallUpdateRequest(sdp: "v=0"))
            ),
            ("GET", nil, .state(UserAddress(guest), SessionID("\(guest).A1"))),
            ("DELETE", nil, .end(UserAddress(guest), SessionID("\(guest).A1"), reasonText: nil)),
        ] as [(String, String?, RecordingSwitchboard.Event)])
    func `operations reach call handling in the guest's name`(
        _ method: String, _ body: String?, _ event: RecordingSwitchboard.Event
    ) async throws {
        try await run { server in
            let answer = try await server.request(
                method, "\(Self.base)/callMe/callSessions/\(Self.guest).A1", body, as: nil)
            #expect(answer.status == 200)
            #expect(try answer.member("callMeResponse.statusCode") == "0")
            #expect(await server.switchboard.events.contains(event))
        }
    }

    @Test(arguments: [
        // Another account's path, a user's session, a guest that is none.
        (
            "PUT", "/rest/version/1/anonymous/joe@example.com/callMe/callSessions/\(guest).A1", 404, "callMeResponse",
            "call.not_found"
        ),
        ("PUT", base + "/callMe/callSessions/A1", 404, "callMeResponse", "call.not_found"),
        ("PUT", base + "/callMe/callSessions/0000000000000000.A1", 404, "callMeResponse", "call.not_found"),
        ("GET", base + "/callMe/callSessions/A1", 404, "callMeResponse", "call.session_not_found"),
        ("DELETE", base + "/callMe/callSessions/A1", 404, "callMeResponse", "call.not_found"),
        ("DELETE", base + "/subscription/5f2c", 404, "subscribeResponse", "subscription.not_found"),
        ("GET", base + "/subscription", 405, "subscribeResponse", "resource.method_not_allowed"),
        ("GET", base + "/callControl/callSessions/A1", 404, "", "resource.not_found"),
        ("GET", base + "/websocket/\(guest).W1", 426, "", "channel.upgrade_required"),
        (
            "DELETE", "/rest/version/1/anonymous/%20/callMe/callSessions/A1", 400, "callMeResponse",
            "request.invalid_value"
        ),
    ])
    func `what is not the guest's own does not exist`(
        _ method: String, _ path: String, _ status: Int, _ wrapper: String, _ name: String
    ) async throws {
        try await run { server in
            let answer = try await server.request(
                method, path, method == "PUT" ? #"{"callMeRequest":{"type":"audit"}}"# : nil, as: nil)
            #expect(answer.status == status)
            #expect(try answer.member((wrapper.isEmpty ? "" : wrapper + ".") + "code") == name)
            #expect(await server.switchboard.events.isEmpty)
        }
    }

    @Test(arguments: [
        (#"{"type":"callStart","to":"ann","sdp":"v=0"}"#, 400, "callMeResponse", "callMeRequest.notifyChannelId"),
        (#"{"type":"callStart","sdp":"v=0","notifyChannelId":"x"}"#, 400, "callMeResponse", "callMeRequest.to"),
        (#"{"to":"ann"}"#, 400, "callMeResponse", "callMeRequest.type"),
        (
            #"{"type":"join","firstSessionData":"A","secondSessionData":"B","sdp":"v=0"}"#, 403,
            "authorizationResponse", "join"
        ),
        (
            #"{"type":"callStart","to":"ann","sdp":"v=0","notifyChannelId":"ws-7d0e"}"#, 404, "callMeResponse",
            "subscription"
        ),
    ])
    func `a call that cannot begin is told why, in the names the guest used`(
        _ request: String, _ status: Int, _ wrapper: String, _ words: String
    ) async throws {
        try await run { server in
            let answer = try await server.request(
                "POST", Self.base + "/callMe", #"{"callMeRequest":\#(request)}"#, as: nil)
            #expect(answer.status == status)
            #expect(try answer.member(wrapper + ".reason")?.contains(words) == true, "\(answer.body)")
        }
    }

    @Test func `the known part of a channel's name is not enough`() async throws {
        try await run { server in
            await server.switchboard.set(channelsExist: false)
            let answer = try await server.request(
                "POST", Self.base + "/callMe", #"{"callMeRequest":\#(Self.start)}"#, as: nil)
            #expect(answer.status == 404)
            #expect(try answer.member("callMeResponse.statusCode") == "39")
        }
    }

    @Test func `a refusal of call handling has its wrapper`() async throws {
        try await run { server in
            for (error, status, wrapper) in [
                (CallError.notForGuests(.otherAccount), 403, "authorizationResponse"),
                (.notAllowed(.start, .guestHasCall), 409, "callMeResponse"),
            ] {
                await server.switchboard.set(callError: error)
                let answer = try await server.request(
                    "POST", Self.base + "/callMe", #"{"callMeRequest":\#(Self.start)}"#, as: nil)
                #expect(answer.status == status)
                #expect(try answer.member(wrapper + ".code") != nil, "\(answer.body)")
            }
            await server.switchboard.set(registrationError: .limitOfGuests)
            let answer = try await server.request(
                "POST", Self.base + "/subscription", #"{"subscribeRequest":{"service":["callMe"]}}"#, as: nil)
            #expect(answer.status == 503 && answer["retry-after"] == "5")
            #expect(try answer.member("subscribeResponse.code") == "anonymous.limit_reached")
        }
    }

    @Test func `guests of one network come in their time, and what has begun goes on`() async throws {
        let limit = { (configuration: inout SignalingConfiguration) in
            configuration.guests.throttle.network = .init(burst: 2, interval: .seconds(5))
        }
        try await run(configure: limit) { server in
            let body = #"{"subscribeRequest":{"service":["callMe"]}}"#
            for _ in 0..<2 {
                #expect(try await server.request("POST", Self.base + "/subscription", body, as: nil).status == 201)
            }
            let refused = try await server.request("POST", Self.base + "/subscription", body, as: nil)
            #expect(refused.status == 429 && refused["retry-after"] == "5")
            #expect(try refused.member("authorizationResponse.code") == "anonymous.rate_limited")
            #expect(
                try await server.request("DELETE", "\(Self.base)/callMe/callSessions/\(Self.guest).A1", as: nil).status
                    == 200)
            server.clock.advance(by: .seconds(5))
            #expect(try await server.request("POST", Self.base + "/subscription", body, as: nil).status == 201)
            // Whoever extends takes a place for longer.
            #expect(
                try await server.request("PUT", "\(Self.base)/subscription/\(Self.guest).S1", body, as: nil).status
                    == 429)
        }
    }

    // MARK: With tokens, which were made at the server's time with `openssl enc -aes-128-ecb`

    private static let ann = "226347cd4f0db0c6605d91bd83897fc2480079c6ebc7fd5fa07c4b2340bcfc12"
    /// One millisecond older than the window.
    private static let oldAnn = "226347cd4f0db0c6605d91bd83897fc2004428984d7fa62725c7ce50a51da27b"
    private static let bob = "6e5a1cc04203f7bd7d46198427d35cc9480079c6ebc7fd5fa07c4b2340bcfc12"
    private static let erin = "e40f577d42be63a4035869db464ba87a28c18266eceb69b6fcec5f3dc5acd48c"

    @Test func `with tokens, a guest is told no address, and its name is vouched for`() async throws {
        try await run(.token) { server in
            let base = "/rest/version/1/anonymous/" + Self.ann
            let body = #"{"subscribeRequest":{"service":["callMe"]}}"#
            let answer = try await server.request("POST", base + "/subscription?tokenrealm=shop", body, as: nil)
            #expect(answer.status == 201)
            #expect(try answer.member("subscribeResponse.subscription") == base + "/subscription/5f2c")
            #expect(!answer.body.contains("ann@"))

            let start =
                #"{"callMeRequest":{"type":"callStart","from":"\#(Self.erin)","to":"\#(Self.ann)","sdp":"v=0","notifyChannelId":"\#(Self.guest).ws"}}"#
            #expect(try await server.request("POST", base + "/callMe?tokenrealm=shop", start, as: nil).status == 201)
            let request = CallStartRequest(callerName: "erin@shop.example", callee: address("ann"), sdp: "v=0")
            #expect(await server.switchboard.events.contains(.start(UserAddress(Self.guest), request)))
        }
    }

    @Test(arguments: [
        ("POST", ann, "", "64", "anonymous.unknown_realm"),
        ("POST", ann, "?tokenrealm=desk", "64", "anonymous.unknown_realm"),
        ("POST", "ann@example.com", "?tokenrealm=shop", "46", "anonymous.invalid_token"),
        ("POST", oldAnn, "?tokenrealm=shop", "65", "anonymous.token_expired"),
        ("DELETE", "ann@example.com", "?tokenrealm=shop", "46", "anonymous.invalid_token"),
        ("DELETE", ann, "", "64", "anonymous.unknown_realm"),
    ])
    func `a token or realm that is wrong is refused`(
        _ method: String, _ account: String, _ query: String, _ code: String, _ name: String
    ) async throws {
        try await run(.token) { server in
            let path =
                "/rest/version/1/anonymous/\(account)/\(method == "POST" ? "subscription" : "callMe/callSessions/\(Self.guest).A1")\(query)"
            let answer = try await server.request(
                method, path, #"{"subscribeRequest":{"service":["callMe"]}}"#, as: nil)
            #expect(answer.status == 403)
            #expect(try answer.member("authorizationResponse.statusCode") == code)
            #expect(try answer.member("authorizationResponse.code") == name)
            #expect(await server.switchboard.events.isEmpty)
            #expect(server.metrics.render().contains(#"orbweaver_authentication_failures_total{reason="token"} 1"#))
        }
    }

    @Test func `a call goes on with a token whose window is over`() async throws {
        try await run(.token) { server in
            let path =
                "/rest/version/1/anonymous/\(Self.oldAnn)/callMe/callSessions/\(Self.guest).A1?tokenrealm=shop&reasonText=bye"
            let ended = try await server.request("DELETE", path, as: nil)
            #expect(ended.status == 200)
            #expect(
                await server.switchboard.events.contains(
                    .end(UserAddress(Self.guest), SessionID("\(Self.guest).A1"), reasonText: "bye")))
            // Another account's token does not open it.
            let refused = try await server.request("DELETE", path.replacing(Self.oldAnn, with: Self.bob), as: nil)
            #expect(refused.status == 404)
        }
    }

    @Test(arguments: [(ann, "plain"), ("plain", ann)])
    func `the addresses in a call must be tokens, too`(_ from: String, _ to: String) async throws {
        try await run(.token) { server in
            let start =
                #"{"callMeRequest":{"type":"callStart","from":"\#(from)","to":"\#(to)","sdp":"v=0","notifyChannelId":"\#(Self.guest).ws"}}"#
            let answer = try await server.request(
                "POST", "/rest/version/1/anonymous/\(Self.ann)/callMe?tokenrealm=shop", start, as: nil)
            #expect(answer.status == 403)
            #expect(try answer.member("authorizationResponse.statusCode") == "46")
        }
    }
}
