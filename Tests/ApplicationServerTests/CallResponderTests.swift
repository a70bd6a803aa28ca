import ApplicationServer
import CallControl
import CallRuntime
import Foundation
import GatewayAPI
import HTTPTypes
import Testing

@Suite struct `Calls of applications` {
    // MARK: Looking

    @Test func `a call is shown with its version`() async throws {
        let rig = try await Rig()
        rig.calls.add(RecordedCalls.call("c1"))
        let shown = await rig.ask(.get, "/v1/calls/c1")
        #expect(shown.status == 200)
        #expect(shown.headers[.eTag] == "\"1\"")
        #expect(shown.json["state"] as? String == "ringing")
        #expect(shown.json["direction"] as? String == "incoming")
        #expect(shown.json["allowed"] as? [String] == ["ring", "progress", "answer", "reject", "end", "transfer"])
        #expect(shown.json["context"] == nil)
    }

    @Test func `calls come in pages, and filtered`() async throws {
        let rig = try await Rig()
        for number in 0..<25 {
            rig.calls.add(
                RecordedCalls.call(
                    "c\(10 + number)", number.isMultiple(of: 5) ? .outgoing : .incoming,
                    startedAt: Int64(number / 2)))
        }
        var seen: [String] = []
        var cursor = ""
        while true {
            let page = await rig.ask(.get, "/v1/calls?limit=7" + cursor)
            #expect(page.status == 200)
            seen += (page.json["items"] as? [[String: Any]] ?? []).compactMap { $0["id"] as? String }
            guard let next = page.json["next"] as? String else { break }
            cursor = "&cursor=\(next)"
        }
        #expect(seen == (10..<35).map { "c\($0)" })
        #expect(rig.calls.limits == [8, 8, 8, 8], "one more than the page, to see whether the list goes on")
        let outgoing = await rig.ask(.get, "/v1/calls?direction=outgoing")
        #expect((outgoing.json["items"] as? [Any])?.count == 5)
        let talking = await rig.ask(.get, "/v1/calls?state=talking")
        #expect((talking.json["items"] as? [Any])?.isEmpty == true)
        for query in ["state=old", "direction=up", "cursor=x", "limit=0", "user=a"] {
            #expect(await rig.ask(.get, "/v1/calls?\(query)").code == "request.invalid_parameter", "\(query)")
        }
    }

    // MARK: Access

    @Test func `each operation needs its scope, and an application`() async throws {
        let rig = try await Rig()
        rig.calls.add(RecordedCalls.call("c1"))
        for operation in V1Operation.allCases {
            let path = operation.template.replacing("{id}", with: "c1")
            let without = V1Principal.application(
                Rig.bot, scopes: Rig.everything.subtracting([operation.scope]), addresses: [])
            for principal in [without, .user(Rig.alice)] {
                let answer = await rig.ask(operation.method, path, as: principal)
                #expect(answer.status == 403)
                #expect(answer.code == "auth.forbidden", "\(operation)")
            }
            let only = V1Principal.application(Rig.bot, scopes: [operation.scope], addresses: [])
            #expect(await rig.ask(operation.method, path, as: only).code != "auth.forbidden", "\(operation)")
        }
    }

    @Test func `an application has no calls of another`() async throws {
        let rig = try await Rig()
        rig.calls.add(RecordedCalls.call("c1"))
        let other = V1Principal.application(Rig.other, scopes: Rig.everything, addresses: [])
        let list = await rig.ask(.get, "/v1/calls", as: other)
        #expect((list.json["items"] as? [Any])?.isEmpty == true)
        for (method, path) in [(.get, ""), (.post, "/answer"), (.post, "/end")] as [(HTTPRequest.Method, String)] {
            let answer = await rig.ask(method, "/v1/calls/c1" + path, as: other)
            #expect(answer.status == 404)
            #expect(answer.code == "call.not_found")
        }
        #expect(rig.calls.commands.isEmpty)
    }

    @Test func `other paths and methods are refused`() async throws {
        let rig = try await Rig()
        for path in ["/v1", "/v1/call", "/v1/calls/c1/dance", "/v1/calls/c1/answer/now"] {
            #expect(await rig.ask(.get, path).code == "resource.not_found", "\(path)")
        }
        let wrong = await rig.ask(.get, "/v1/calls/c1/answer")
        #expect(wrong.status == 405)
        #expect(wrong.headers[.allow] == "POST, OPTIONS")
        #expect(await rig.ask(.delete, "/v1/calls").headers[.allow] == "GET, POST, HEAD, OPTIONS")
    }

    // MARK: Starting

    @Test func `a call starts as the body says`() async throws {
        let rig = try await Rig()
        let body = """
            {"to":"sip:bob@example.com","from":"bot@example.com","displayName":"Bot","ringTimeout":20000,
             "earlyMedia":true,"context":"order 7","parameters":[{"name":"X-A","value":"1"}],
             "bodies":[{"contentType":"text/plain","body":"hi"}]}
            """
        let answer = await rig.ask(.post, "/v1/calls", body)
        #expect(answer.status == 201)
        #expect(answer.headers[.location] == "/v1/calls/c1")
        #expect(answer.headers[.eTag] == "\"1\"")
        let wanted = try ApplicationCallRequest(
            to: UserAddress(parsing: "bob@example.com")!, from: Rig.address, displayName: "Bot",
            ringTimeout: .seconds(20), earlyMedia: true,
            content: CustomContent(
                parameters: [CustomParameter(name: "X-A", value: "1")],
                bodies: [CustomBody(contentType: "text/plain", body: "hi")]), context: "order 7")
        #expect(rig.calls.requests == [wanted])
    }

    @Test func `a call is started with the trace of its request, and one that is malformed is ignored`() async throws {
        let rig = try await Rig()
        let trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
        for header in [trace, nil, "00-4bf9", trace + "," + trace] {
            let answer = await rig.ask(.post, "/v1/calls", #"{"to":"bob@example.com"}"#, trace: header)
            #expect(answer.status == 201)
        }
        #expect(rig.calls.requests.map(\.trace) == [TraceContext(trace), nil, nil, nil])
    }

    @Test func `a command hands on the trace of its request, and so does the request for a stream`() async throws {
        let rig = try await Rig()
        rig.calls.add(RecordedCalls.call("c1"))
        let trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
        for header in [trace, nil, "00-4bf9"] {
            let joined = await rig.ask(.post, "/v1/calls/c1/join", #"{"calls":["c2"]}"#, trace: header)
            #expect(joined.status == 200)
            let streamed = await rig.ask(.post, "/v1/calls/c1/stream", #"{"url":"wss://b/"}"#, trace: header)
            #expect(streamed.status == 200)
        }
        let ended = await rig.ask(.post, "/v1/calls/c1/stream", #"{"action":"stop"}"#, trace: trace)
        #expect(ended.status == 200)
        #expect(rig.calls.traces == [TraceContext(trace), nil, nil])
        let streams = rig.calls.streamRequests.map { request -> String in
            guard case .connect(let order) = request else { return "stop" }
            return order.trace?.description ?? "none"
        }
        #expect(streams == [trace, "none", "none", "stop"])
    }

    @Test func `the only address of an application need not be named`() async throws {
        let rig = try await Rig()
        #expect(await rig.ask(.post, "/v1/calls", #"{"to":"bob@example.com"}"#).status == 201)
        #expect(rig.calls.requests.map(\.from) == [Rig.address])
        for addresses in [["*@example.com"], ["a@example.com", "b@example.com"], []] {
            let principal = V1Principal.application(
                Rig.bot, scopes: Rig.everything, addresses: addresses.compactMap { ApplicationAddress($0) })
            let answer = await rig.ask(.post, "/v1/calls", #"{"to":"bob@example.com"}"#, as: principal)
            #expect(answer.code == "request.missing_field", "\(addresses)")
        }
    }

    @Test(arguments: [
        ("", "request.body_missing"), ("[]", "request.malformed_json"), ("{}", "request.missing_field"),
        (#"{"to":"bob"}"#, "request.invalid_value"), (#"{"to":7}"#, "request.invalid_value"),
        (#"{"to":"bob@example.com","fron":"x"}"#, "request.invalid_value"),
        (#"{"to":"bob@example.com","ringTimeout":999}"#, "request.invalid_value"),
        (#"{"to":"bob@example.com","parameters":[{"name":"a"}]}"#, "request.missing_field"),
        (#"{"to":"bob@example.com","parameters":{"a":"b"}}"#, "request.invalid_value"),
        (#"{"to":"bob@example.com","bodies":[{"contentType":"text","body":""}]}"#, "request.invalid_value"),
        (#"{"to":"bob@example.com","displayName":"a\nb"}"#, "request.invalid_value"),
    ])
    func `bodies of new calls that are refused`(_ body: String, _ code: String) async throws {
        let rig = try await Rig()
        let answer = await rig.ask(.post, "/v1/calls", body)
        #expect(answer.status == 400)
        #expect(answer.code == code, "\(answer.detail ?? "-")")
        #expect(rig.calls.requests.isEmpty)
    }

    // MARK: Commands

    private static func list(_ items: [PlayItem], loops: Int? = nil, volume: Int = 0) -> PlayList {
        try! PlayList(items: items, loops: loops, volume: volume)
    }

    private static let commands: [(String, String, ApplicationCommand)] = [
        ("ring", "", .ring), ("ring", "{}", .ring), ("hold", "", .hold), ("resume", "", .resume),
        ("mute", "", .mute), ("unmute", "", .unmute), ("stop", "", .stop),
        ("progress", "", .progress(nil)),
        ("progress", #"{"items":[{"tone":"ringback"}]}"#, .progress(list([.tone(.ringback, nil)]))),
        ("answer", "", .answer(CustomContent())),
        (
            "answer", #"{"parameters":[{"name":"a","value":"b"}]}"#,
            .answer(CustomContent(parameters: [CustomParameter(name: "a", value: "b")]))
        ),
        ("reject", "", .reject(.declined)), ("reject", #"{"cause":"notFound"}"#, .reject(.notFound)),
        ("end", "", .end(reasonText: nil)), ("end", #"{"reasonText":"bye"}"#, .end(reasonText: "bye")),
        ("transfer", #"{"to":"bob@example.com"}"#, .transfer(to: UserAddress(parsing: "bob@example.com")!)),
        ("transfer", #"{"call":"c2"}"#, .transferToCall(SessionID("c2"))),
        ("bridge", #"{"call":"c2"}"#, .bridge(SessionID("c2"), .stay)),
        ("bridge", #"{"call":"c2","bot":"listen"}"#, .bridge(SessionID("c2"), .listen)),
        ("bridge", #"{"call":"c2","bot":"leave"}"#, .bridge(SessionID("c2"), .leave)),
        ("join", #"{"calls":["c2","c3"]}"#, .join([SessionID("c2"), SessionID("c3")])), ("leave", "", .leave),
        (
            "send", #"{"bodies":[{"contentType":"text/plain","contentDisposition":"render","body":"x"}]}"#,
            .send(
                CustomContent(
                    bodies: [CustomBody(contentType: "text/plain", contentDisposition: "render", body: "x")]))
        ),
        ("keys", #"{"keys":"1a#"}"#, .keys(DigitSequence("1A#")!)),
        (
            "keys", #"{"keys":"5","duration":200,"gap":50}"#,
            .keys(DigitSequence("5", duration: .milliseconds(200), gap: .milliseconds(50))!)
        ),
        (
            "play",
            #"{"items":[{"file":"a.wav"},{"silence":500},{"music":true,"duration":1000}],"loops":0,"volume":-6}"#,
            .play(
                try! PlayRequest(
                    list: list(
                        [.file("a.wav"), .silence(.milliseconds(500)), .music(.seconds(1))], loops: 0, volume: -6)))
        ),
        (
            "play", #"{"items":[{"tone":"call-waiting","duration":20}],"mode":"queue","tag":"t"}"#,
            .play(
                try! PlayRequest(
                    list: list([.tone(.callWaiting, .milliseconds(20))]), mode: .queue, tag: "t"))
        ),
        (
            "play", #"{"items":[{"url":"https://example.com/a.opus"}]}"#,
            .play(try! PlayRequest(list: list([.url("https://example.com/a.opus")])))
        ),
        ("gather", "", .gather(try! GatherRequest())),
        (
            "gather",
            ##"""
            {"maximum":4,"terminators":"#*","firstTimeout":100,"betweenTimeout":200,"valid":["12","3"],"tag":"t",
             "prompt":{"items":[{"file":"a.wav"}]}}
            """##,
            .gather(
                try! GatherRequest(
                    maximum: 4, terminators: "#*", firstTimeout: .milliseconds(100),
                    betweenTimeout: .milliseconds(200), prompt: list([.file("a.wav")]), valid: ["12", "3"],
                    tag: "t"))
        ),
        ("record", "", .record(.start(try! RecordRequest()))),
        (
            "record",
            #"{"action":"start","format":"wav","channels":2,"maximum":1000,"silence":5000,"beep":true,"tag":"t"}"#,
            .record(
                .start(
                    try! RecordRequest(
                        format: .wav, channels: 2, maximum: .seconds(1), silence: .seconds(5), beep: true, tag: "t")))
        ),
        ("record", #"{"sides":"other"}"#, .record(.start(try! RecordRequest(sides: .other)))),
        ("record", #"{"action":"pause"}"#, .record(.pause)),
        ("record", #"{"action":"resume"}"#, .record(.resume)),
        ("record", #"{"action":"stop"}"#, .record(.stop)),
    ]

    @Test func `commands are read as they are written`() async throws {
        for (name, body, command) in Self.commands {
            let rig = try await Rig()
            rig.calls.add(RecordedCalls.call("c1"))
            let answer = await rig.ask(.post, "/v1/calls/c1/\(name)", body)
            #expect(answer.status == 200, "\(name) \(body): \(answer.detail ?? "-")")
            #expect(answer.headers[.eTag] == "\"2\"")
            #expect(rig.calls.commands == [command], "\(name) \(body)")
        }
        #expect(Set(Self.commands.map(\.0)) == Set(ApplicationCommand.Name.allCases.map(\.rawValue)))
    }

    @Test(arguments: [
        ("ring", #"{"loud":true}"#, "request.invalid_value", "loud"),
        ("reject", #"{"cause":"tired"}"#, "request.invalid_value", "cause"),
        ("end", "[]", "request.malformed_json", "JSON"),
        ("transfer", "", "request.missing_field", "to"),
        ("transfer", #"{"to":"bob@example.com","call":"c2"}"#, "request.invalid_value", "call"),
        ("bridge", "", "request.missing_field", "call"),
        ("bridge", #"{"call":"c2","bot":"sleep"}"#, "request.invalid_value", "bot"),
        ("join", "", "request.missing_field", "calls"), ("join", #"{"calls":[]}"#, "request.invalid_value", "calls"),
        (
            "join", #"{"calls":["1","2","3","4","5","6","7","8","9"]}"#, "request.invalid_value", "calls"
        ),
        ("send", "", "request.missing_field", "parameter"),
        ("keys", #"{"keys":"1x"}"#, "request.invalid_value", "keys"),
        ("keys", #"{"keys":"1","gap":10}"#, "request.invalid_value", "gap"),
        ("play", "", "request.body_missing", "body"), ("play", "{}", "request.missing_field", "items"),
        ("play", #"{"items":[]}"#, "request.invalid_value", "items"),
        ("play", #"{"items":[{}]}"#, "request.invalid_value", "items[0]"),
        ("play", #"{"items":[{"file":"a","music":true}]}"#, "request.invalid_value", "items[0]"),
        ("play", #"{"items":[{"tone":"busy"},{"file":"a"}]}"#, "request.invalid_value", "items[0].duration"),
        ("play", #"{"items":[{"tone":"loud"}]}"#, "request.invalid_value", "items[0].tone"),
        ("play", #"{"items":[{"file":"a","pitch":1}]}"#, "request.invalid_value", "items[0].pitch"),
        ("play", #"{"items":[{"file":"a"}],"volume":11}"#, "request.invalid_value", "volume"),
        ("play", #"{"items":[{"file":"a"}],"mode":"mix"}"#, "request.invalid_value", "mode"),
        ("progress", #"{"loops":2}"#, "request.missing_field", "items"),
        ("gather", #"{"maximum":65}"#, "request.invalid_value", "maximum"),
        ("gather", #"{"terminators":"x"}"#, "request.invalid_value", "terminators"),
        ("gather", #"{"valid":["1","x"]}"#, "request.invalid_value", "valid[1]"),
        ("gather", #"{"valid":"1"}"#, "request.invalid_value", "valid"),
        ("gather", #"{"prompt":{"items":[{"silence":1}]}}"#, "request.invalid_value", "prompt.items[0].silence"),
        ("record", #"{"format":"mp3"}"#, "request.invalid_value", "format"),
        ("record", #"{"sides":"own","channels":2}"#, "request.invalid_value", "channels"),
        ("record", #"{"maximum":10}"#, "request.invalid_value", "maximum"),
        ("record", #"{"action":"halt"}"#, "request.invalid_value", "action"),
        ("record", #"{"action":"stop","tag":"t"}"#, "request.invalid_value", "tag"),
    ])
    func `commands that are refused`(_ name: String, _ body: String, _ code: String, _ word: String) async throws {
        let rig = try await Rig()
        rig.calls.add(RecordedCalls.call("c1"))
        let answer = await rig.ask(.post, "/v1/calls/c1/\(name)", body)
        #expect(answer.status == 400)
        #expect(answer.code == code, "\(answer.detail ?? "-")")
        #expect(answer.detail?.contains(word) == true, "\(answer.detail ?? "-")")
        #expect(rig.calls.commands.isEmpty)
    }

    // MARK: Versions

    @Test func `a command for another version is refused with the call as it is`() async throws {
        let rig = try await Rig()
        rig.calls.add(RecordedCalls.call("c1"))
        #expect(await rig.ask(.post, "/v1/calls/c1/ring", match: "\"1\"").status == 200)
        let late = await rig.ask(.post, "/v1/calls/c1/answer", match: "\"1\"")
        #expect(late.status == 412)
        #expect(late.code == "call.version_mismatch")
        #expect(late.headers[.eTag] == "\"2\"")
        #expect((late.json["call"] as? [String: Any])?["version"] as? Int == 2)
        #expect(late.json["state"] as? String == "ringing")
        #expect(await rig.ask(.post, "/v1/calls/c1/answer", match: "*").status == 200)
        for header in ["1", "W/\"1\"", "\"x\"", "\"", "\"1\", \"2\""] {
            #expect(
                await rig.ask(.post, "/v1/calls/c1/end", match: header).code == "request.invalid_header",
                "\(header)")
        }
        #expect(rig.calls.commands == [.ring, .answer(CustomContent())])
    }

    // MARK: Refusals

    @Test func `what the calls refuse becomes a problem`() async throws {
        let rig = try await Rig()
        let call = RecordedCalls.call("c1")
        rig.calls.add(call)
        for (refusal, status, code, retry) in [
            (.notAllowed(call, .notNow), 409, "call.not_allowed", nil),
            (.invalid(.unplayable(.notFound("a.wav"))), 400, "request.invalid_value", nil),
            (.limited(.startsOfApplication, retryAfter: .milliseconds(1_500)), 429, "call.limited", "2"),
            (.unavailable, 503, "service.unavailable", "5"),
            (.notProvided, 403, "service.not_provided", nil), (.notOwner(Rig.alice), 403, "call.not_owner", nil),
        ] as [(ApplicationRefusal, Int, String, String?)] {
            rig.calls.refuse(refusal)
            let answer = await rig.ask(.post, "/v1/calls/c1/ring")
            #expect(answer.status == status)
            #expect(answer.code == code)
            #expect(answer.headers[.retryAfter] == retry)
        }
        rig.calls.refuse(.notAllowed(call, .state(.ringing, .hold)))
        let refused = await rig.ask(.post, "/v1/calls/c1/hold")
        #expect(refused.detail == "The call is ringing, and does not allow hold.")
        #expect(refused.json["allowed"] as? [String] == call.allowed.map(\.rawValue))
    }

    @Test func `nothing is done while nothing can be kept`() async throws {
        let rig = try await Rig()
        rig.calls.add(RecordedCalls.call("c1"))
        rig.journal.fail()
        #expect(await rig.ask(.post, "/v1/calls/c1/ring").code == "service.unavailable")
        #expect(rig.calls.commands.isEmpty)
        #expect(await rig.ask(.get, "/v1/calls/c1").status == 200)
    }
}
