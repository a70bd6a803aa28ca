import CallControl
import SDP
import Testing

@Suite struct `Call routes` {
    private let calls = "/rest/version/1/user/joe@example.com/callControl"
    private var session: String { calls + "/callSessions/A1" }

    @Test func `a call is started`() async throws {
        try await TestServer.run { server in
            let body = """
                {"callControlRequest":{"type":"callStart","from":"\\"Joe \\\\\\"J\\\\\\" Doe\\" <sip:joe@example.com>","to":"sip:Ann@Example.com",
                 "sdp":"v=0\\r\\n","supported":["earlymedia"],"customParameters":[{"name":"X-GPS","value":"1,2"},{"name":"X-N","value":7}],
                 "somethingNew":{"a":[1]}}}
                """
            // Some clients put a slash behind the resource.
            let answer = try await server.request("POST", calls + "/", body)
            #expect(answer.status == 201)
            #expect(try answer.member("callControlResponse.sessionData") == "A1")
            let wanted = CallStartRequest(
                callerName: #"Joe "J" Doe"#, callee: address("ann"), sdp: "v=0\r\n", acceptsEarlyMedia: true,
                content: CustomContent(parameters: [
                    CustomParameter(name: "X-GPS", value: "1,2"), CustomParameter(name: "X-N", value: "7"),
                ]))
            #expect(await server.switchboard.events.contains(.start(address("joe"), wanted)))
        }
    }

    @Test(arguments: ["", #","sdp":"""#, #","sdp":null"#]) func `a call may begin without an offer`(_ sdp: String)
        async throws
    {
        try await TestServer.run { server in
            let answer = try await server.request(
                "POST", calls, #"{"callControlRequest":{"type":"callStart","to":"ann"\#(sdp)}}"#)
            #expect(answer.status == 201)
            #expect(
                await server.switchboard.events.contains(
                    .start(address("joe"), CallStartRequest(callee: address("ann"), sdp: ""))))
        }
    }

    @Test(
        arguments: [
            (#"{"type":"ringing"}"#, .ringing(address("joe"), SessionID("A1"))),
            (#"{"type":"audit"}"#, .audit(address("joe"), SessionID("A1"))),
            (
                #"{"type":"callAnswer","sdp":"v=0\r\n"}"#,
                .answer(address("joe"), SessionID("A1"), CallAnswerRequest(sdp: "v=0\r\n"))
            ),
            (
                #"{"type":"callAnswer","sdp":"v=0","supported":["replaceCall"]}"#,
                .answer(address("joe"), SessionID("A1"), CallAnswerRequest(sdp: "v=0", handlesReplacement: true))
            ),
            (
                #"{"type":"acceptCallReplace","sdp":"v=0"}"#,
                .answer(address("joe"), SessionID("A1"), CallAnswerRequest(sdp: "v=0", acceptsReplacement: true))
            ),
            (#"{"type":"rejectCallReplace"}"#, .reject(address("joe"), SessionID("A1"), replacement: true)),
        ] as [(String, RecordingSwitchboard.Event)])
    func `an operation reaches the switchboard`(_ operation: String, _ event: RecordingSwitchboard.Event) async throws {
        try await TestServer.run { server in
            let answer = try await server.request("PUT", session, #"{"callControlRequest":\#(operation)}"#)
            #expect(answer.status == 200)
            #expect(answer.body == #"{"callControlResponse":{"statusCode":0}}"#)
            #expect(await server.switchboard.events.contains(event))
        }
    }

    @Test func `a request may name the device it comes from`() async throws {
        try await TestServer.run { server in
            let headers = ["X-Session: 5f2c"]
            for (method, operation) in [
                ("POST", #"{"type":"callStart","to":"ann","sdp":"v=0"}"#),
                ("POST", #"{"type":"join","firstSessionData":"A1","secondSessionData":"A2","sdp":"v=0"}"#),
                ("PUT", #"{"type":"callAnswer","sdp":"v=0"}"#),
                ("PUT", #"{"type":"startCallUpdate","sdp":"v=0"}"#),
            ] {
                let reply = try await server.request(
                    method, method == "POST" ? calls : session, #"{"callControlRequest":\#(operation)}"#,
                    headers: headers)
                #expect(reply.status < 300)
            }
            let expected = [SubscriptionID?](repeating: SubscriptionID("5f2c"), count: 4)
            #expect(await server.switchboard.named == expected)
        }
    }

    @Test func `the device that rings, rejects or hangs up is passed on, if the request names it`() async throws {
        try await TestServer.run { server in
            for name in ["s1", nil] {
                let headers = name.map { ["X-Session: \($0)"] } ?? []
                let requests = [
                    ("PUT", session, #"{"callControlRequest":{"type":"ringing"}}"#),
                    ("PUT", session, #"{"callControlRequest":{"type":"rejectCallReplace"}}"#),
                    (
                        "POST", "/rest/version/1/user/joe@example.com/calldisposition",
                        #"{"callDispositionRequest":{"action":"reject","sessionData":"A1"}}"#
                    ), ("DELETE", session, "{}"),
                ]
                for (method, path, body) in requests {
                    let reply = try await server.request(method, path, body, headers: headers)
                    #expect(reply.status == 200)
                }
            }
            let expected =
                [SubscriptionID?](repeating: SubscriptionID("s1"), count: 4)
                + [SubscriptionID?](repeating: nil, count: 4)
            #expect(await server.switchboard.named == expected)
        }
    }

    @Test func `a call is ended with a reason, whose length is for call handling to decide`() async throws {
        try await TestServer.run { server in
            let answer = try await server.request(
                "DELETE", session + "?reasonText=see%20you%21" + String(repeating: "a", count: 300), "{}")
            #expect(answer.status == 200)
            let reason = "see you!" + String(repeating: "a", count: 300)
            #expect(await server.switchboard.events.contains(.end(address("joe"), SessionID("A1"), reasonText: reason)))
            #expect(try await server.request("DELETE", session).status == 200)
            #expect(await server.switchboard.events.contains(.end(address("joe"), SessionID("A1"), reasonText: nil)))
        }
    }

    @Test func `the state is told, and the query has its own code for an unknown call`() async throws {
        try await TestServer.run { server in
            let known = try await server.request("GET", session)
            #expect(known.status == 200)
            #expect(try known.member("callControlResponse.state") == "RINGING")
            await server.switchboard.set(callError: .noSuchCall)
            let unknown = try await server.request("GET", session)
            #expect(unknown.status == 404)
            #expect(try unknown.member("callControlResponse.statusCode") == "47")
        }
    }

    @Test func `a call is rejected or forwarded`() async throws {
        try await TestServer.run { server in
            let path = "/rest/version/1/user/joe@example.com/calldisposition"
            let answer = try await server.request(
                "POST", path, #"{"callDispositionRequest":{"action":"reject","sessionData":"B1"}}"#)
            #expect(answer.status == 200)
            #expect(answer.body == #"{"callDispositionResponse":{"statusCode":0}}"#)
            #expect(
                await server.switchboard.events.contains(.reject(address("joe"), SessionID("B1"), replacement: false)))
            let forward = try await server.request(
                "POST", path,
                #"{"callDispositionRequest":{"action":"forward","sessionData":"B1","address":"sip:bob@example.com"}}"#)
            #expect(forward.status == 200)
            #expect(
                await server.switchboard.events.contains(.forward(address("joe"), SessionID("B1"), to: address("bob"))))
            let nowhere = try await server.request(
                "POST", path, #"{"callDispositionRequest":{"action":"forward","sessionData":"B1"}}"#)
            #expect(nowhere.status == 400)
            #expect(try nowhere.member("callDispositionResponse.code") == "request.missing_field")
        }
    }

    @Test(arguments: [
        (
            "POST", #"{"type":"join","firstSessionData":"A1","secondSessionData":"A2"}"#, 400, "5",
            "request.missing_field"
        ),
        ("POST", #"{"type":"join","firstSessionData":"A1","sdp":"v=0"}"#, 400, "5", "request.missing_field"),
        ("POST", #"{"type":"callAnswer","sdp":"v=0"}"#, 400, "37", "call.operation_unknown"),
        ("POST", #"{"type":"callStart","sdp":"v=0"}"#, 400, "5", "request.missing_field"),
        ("POST", #"{"type":"callStart","to":"@","sdp":"v=0"}"#, 400, "37", "request.invalid_value"),
        ("POST", #"{"type":7}"#, 400, "37", "request.invalid_value"),
        ("PUT", #"{"type":"transfer","address":"@"}"#, 400, "37", "request.invalid_value"),
        ("PUT", #"{"type":"transfer"}"#, 400, "5", "request.missing_field"),
        ("PUT", #"{"type":"respondCallUpdate"}"#, 400, "5", "request.missing_field"),
        ("PUT", #"{"type":"updateIceCandidate"}"#, 400, "5", "request.missing_field"),
        ("PUT", #"{"type":"sendCustomHeaders"}"#, 400, "5", "request.missing_field"),
        (
            "PUT", #"{"type":"refer","from":"sip:ann@example.com","to":"sip:bob@example.com"}"#, 403, "35",
            "call.operation_not_supported"
        ),
        ("PUT", #"{"type":"acceptCallReplace"}"#, 400, "5", "request.missing_field"),
        ("POST", #"{"type":"rejectCallReplace"}"#, 400, "37", "call.operation_unknown"),
        ("PUT", #"{"type":"callStart","to":"sip:ann@example.com","sdp":"v=0"}"#, 400, "37", "call.operation_unknown"),
        ("PUT", #"{"type":"dance"}"#, 400, "37", "call.operation_unknown"),
        ("PUT", #"{"type":"callAnswer"}"#, 400, "5", "request.missing_field"),
        ("PUT", #"{}"#, 400, "5", "request.missing_field"),
    ])
    func `what cannot be done is refused with a reason`(
        _ method: String, _ operation: String, _ status: Int, _ code: String, _ name: String
    ) async throws {
        try await TestServer.run { server in
            let answer = try await server.request(
                method, method == "POST" ? calls : session, #"{"callControlRequest":\#(operation)}"#)
            #expect(answer.status == status)
            #expect(try answer.member("callControlResponse.statusCode") == code)
            #expect(try answer.member("callControlResponse.code") == name)
            #expect(try answer.member("callControlResponse.reason")?.isEmpty == false)
        }
    }

    @Test(
        arguments: [
            (
                #"{"type":"startCallUpdate","sdp":"v=0"}"#,
                .offer(address("joe"), SessionID("B1"), CallUpdateRequest(sdp: "v=0"))
            ),
            (#"{"type":"startCallUpdate"}"#, .offer(address("joe"), SessionID("B1"), CallUpdateRequest(sdp: ""))),
            (
                #"{"type":"respondCallUpdate","sdp":"v=0"}"#,
                .respond(address("joe"), SessionID("B1"), CallUpdateRequest(sdp: "v=0"))
            ),
            (
                #"{"type":"transfer","address":"sip:bob@example.com"}"#,
                .transfer(address("joe"), SessionID("B1"), to: address("bob"), consultation: nil)
            ),
            (
                #"{"type":"transfer","address":"bob","sessionData":"B2"}"#,
                .transfer(address("joe"), SessionID("B1"), to: address("bob"), consultation: SessionID("B2"))
            ),
            (
                #"{"type":"updateIceCandidate","iceCandidates":[{"candidate":"candidate:1","sdpMid":"0","sdpMLineIndex":0}]}"#,
                .candidates(
                    address("joe"), SessionID("B1"), [TrickledLine(candidate: "candidate:1", mid: "0", mediaIndex: 0)])
            ),
            (
                #"{"type":"sendCustomHeaders","customParameters":[{"name":"X-GPS","value":"1,2"}]}"#,
                .content(
                    address("joe"), SessionID("B1"),
                    CustomContent(parameters: [CustomParameter(name: "X-GPS", value: "1,2")]))
            ),
            (
                #"{"type":"sendCustomHeaders","customBodies":[{"contentType":"text/plain","contentDisposition":"render","body":"hi"}]}"#,
                .content(
                    address("joe"), SessionID("B1"),
                    CustomContent(bodies: [
                        CustomBody(contentType: "text/plain", contentDisposition: "render", body: "hi")
                    ]))
            ),
            (
                #"{"type":"startCallUpdate","sdp":"v=0","customBodies":[{"contentType":"a/b;c=d","body":""}]}"#,
                .offer(
                    address("joe"), SessionID("B1"),
                    CallUpdateRequest(
                        sdp: "v=0", content: CustomContent(bodies: [CustomBody(contentType: "a/b;c=d", body: "")])))
            ),
        ] as [(String, RecordingSwitchboard.Event)])
    func `operations inside a call reach call handling`(_ operation: String, _ event: RecordingSwitchboard.Event)
        async throws
    {
        try await TestServer.run { server in
            let answer = try await server.request(
                "PUT", "/rest/version/1/user/joe@example.com/callControl/callSessions/B1",
                #"{"callControlRequest":\#(operation)}"#)
            #expect(answer.status == 200)
            #expect(await server.switchboard.events.contains(event))
        }
    }

    @Test(
        arguments: [
            (.noSuchCall, 404, "42", "call.not_found"),
            (.alreadyAnswered(state: .inCall), 409, "37", "call.already_answered"),
            (.notAllowed(.ring, .state(.inCall)), 409, "37", "call.not_allowed"),
            (.pending(retryAfter: 2), 491, "491", "call.request_pending"),
            (.unreachable(.noSuchUser), 404, "10", "call.unreachable"),
            (.unsupported(.transferFromConference), 403, "35", "call.operation_not_supported"),
            (.malformedDescription(.malformedLine(3, .missingOrigin)), 400, "16", "call.malformed_sdp"),
            (.unsupportedDescription(.unsupportedLitePeer), 400, "37", "call.unsupported_sdp"),
            (.limitOfCalls, 503, "503", "call.limit_reached"),
            (.limitOfLegs, 429, "19", "call.user_limit_reached"),
            (.tooManyCalls(retryAfter: .milliseconds(1_500)), 429, "19", "call.rate_limited"),
            (.draining, 503, "503", "service.draining"),
        ] as [(CallError, Int, String, String)])
    func `every error of call handling has its answer`(
        _ error: CallError, _ status: Int, _ code: String, _ name: String
    ) async throws {
        try await TestServer.run { server in
            await server.switchboard.set(callError: error)
            let answer = try await server.request("PUT", session, #"{"callControlRequest":{"type":"ringing"}}"#)
            #expect(answer.status == status)
            #expect(try answer.member("callControlResponse.statusCode") == code)
            #expect(try answer.member("callControlResponse.code") == name)
            await server.switchboard.wait { $0.last == .answered(address("joe")) }
        }
    }
}
