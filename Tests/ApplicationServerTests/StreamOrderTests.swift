import ApplicationServer
import AudioStreams
import CallControl
import CallRuntime
import GatewayAPI
import HTTPTypes
import Primitives
import Testing

@Suite struct `Streams that the gateway is to open` {
    private static let path = "/v1/calls/c1/stream"

    private func withCall() async throws -> Rig {
        let rig = try await Rig()
        rig.calls.add(RecordedCalls.call("c1"))
        return rig
    }

    private func url(_ text: String) throws -> WebSocketURL { try #require(WebSocketURL(parsing: text)) }

    @Test func `a body says where the program is, and what the stream is`() async throws {
        let rig = try await withCall()
        let body = """
            {"url": "wss://bot.example.com/talk?a=b", "format": "pcmu", "absence": "music", "bargeIn": 500,
             "headers": [{"name": "Authorization", "value": "Bearer secret"}, {"name": "x-order", "value": "7"}],
             "retryTime": 5000, "fallback": "application"}
            """
        #expect(await rig.ask(.post, Self.path, body).status == 200)
        let order = StreamOrder(
            StreamDestination(
                url: try url("wss://bot.example.com/talk?a=b"),
                fields: [
                    .init(name: "Authorization", value: Redacted("Bearer secret")),
                    .init(name: "x-order", value: Redacted("7")),
                ]),
            StreamTerms(
                dialect: .own, format: .muLaw, absence: .music, configuration: .init(bargeIn: .init(decision: 500))),
            dialing: .init(limit: .seconds(5)), fallback: .application)
        #expect(rig.calls.streamRequests == [.connect(order)])
        #expect(await rig.ask(.post, Self.path, #"{"action": "stop"}"#).status == 200)
        #expect(rig.calls.streamRequests.last == .stop)
    }

    @Test func `a body says what the program is told by names`() async throws {
        let rig = try await withCall()
        let parameters = #"{"from": "alice@example.com", "tenant": "", "": "7"}"#
        let told = ["from": "alice@example.com", "tenant": "", "": "7"]
        #expect(
            await rig.ask(.post, Self.path, #"{"url": "wss://b", "parameters": \#(parameters)}"#).status == 200)
        guard case .connect(let order)? = rig.calls.streamRequests.last else {
            Issue.record("no stream was ordered")
            return
        }
        #expect(order.parameters == told)
        let body = #"{"to": "alice@example.com", "from": "bot@example.com", "#
        let call = body + #""stream": {"url": "wss://b/", "parameters": \#(parameters)}}"#
        #expect(await rig.ask(.post, "/v1/calls", call).status == 201)
        #expect(rig.calls.orders.last??.parameters == told)
        #expect(rig.calls.requests.last?.content.parameters == [])
    }

    /// What `parameters` must be, and which field the refusal of something else names.
    private static let wrongParameters: [(String, String)] = [
        (#"[{"name": "from", "value": "alice"}]"#, #""parameters" must be an object of at most 64 texts"#),
        (#""from=alice""#, #""parameters" must be an object of at most 64 texts"#),
        (object(of: 65), #""parameters" must be an object of at most 64 texts"#),
        (#"{"a": "1", "from": 7}"#, #""parameters.from" must be a text"#),
        (#"{"a": "1", "from": null}"#, #""parameters.from" must be a text"#),
        (#"{"a": "\#(String(repeating: "ä", count: 4_096))"}"#, #""parameters" must have at most 8192 bytes"#),
    ]

    private static func object(of count: Int) -> String {
        "{" + (1...count).map { #""n\#($0)": "x""# }.joined(separator: ", ") + "}"
    }

    @Test(arguments: wrongParameters)
    func `parameters of a stream that are refused`(_ parameters: String, _ sentence: String) async throws {
        let rig = try await withCall()
        let answer = await rig.ask(.post, Self.path, #"{"url": "wss://b", "parameters": \#(parameters)}"#)
        #expect(answer.code == "request.invalid_value")
        #expect(answer.detail == "The field \(sentence).")
        #expect(rig.calls.streamRequests.isEmpty)
    }

    @Test func `as many parameters of a stream are taken as of a call, and as many bytes`() async throws {
        let rig = try await withCall()
        for parameters in [Self.object(of: 64), #"{"a": "\#(String(repeating: "x", count: 8_191))"}"#, "{}", "null"] {
            let answer = await rig.ask(.post, Self.path, #"{"url": "wss://b", "parameters": \#(parameters)}"#)
            #expect(answer.status == 200, "\(answer.detail ?? "-")")
        }
        let wrong = #"{"to": "alice@example.com", "stream": {"url": "wss://b", "parameters": {"a": 1}}}"#
        let refused = await rig.ask(.post, "/v1/calls", wrong)
        #expect(refused.detail == #"The field "stream.parameters.a" must be a text."#)
        let stop = await rig.ask(.post, Self.path, #"{"action": "stop", "parameters": {}}"#)
        #expect(stop.detail == #"The field "parameters" is for the action connect alone."#)
    }

    @Test(
        arguments: [
            #"{"url": "https://bot.example.com"}"#, #"{"url": "wss://user@bot.example.com"}"#, #"{"url": 7}"#,
            #"{"url": "wss://b", "headers": [{"name": "Host", "value": "a"}]}"#,
            #"{"url": "wss://b", "headers": [{"name": "X-A B", "value": "a"}]}"#,
            #"{"url": "wss://b", "headers": [{"name": "X-A", "value": "a\r\nHost: b"}]}"#,
            #"{"url": "wss://b", "format": "mp3"}"#, #"{"url": "wss://b", "rate": 44100}"#,
            #"{"url": "wss://b", "retryTime": 3600001}"#, #"{"url": "wss://b", "fallback": "sing"}"#,
            #"{"url": "wss://b", "listen": "call"}"#, #"{"url": "wss://b", "speed": 2}"#,
            #"{"action": "stop", "url": "wss://b"}"#, #"{"action": "pause"}"#,
        ])
    func `what no stream can be is refused`(_ body: String) async throws {
        let rig = try await withCall()
        #expect(await rig.ask(.post, Self.path, body).code == "request.invalid_value")
        #expect(rig.calls.streamRequests.isEmpty)
    }

    @Test func `a stream needs a URL, the call, and the scope`() async throws {
        let rig = try await withCall()
        #expect(await rig.ask(.post, Self.path, "{}").code == "request.missing_field")
        #expect(
            await rig.ask(.post, "/v1/calls/c2/stream", #"{"url": "wss://b"}"#).code == "call.not_found")
    }

    @Test func `a stream without a URL goes to the program of the application, if that has one`() async throws {
        let rig = try await withCall()
        let usual = try url("wss://usual.example.com/talk")
        let own = V1Principal.application(
            Rig.bot, scopes: Rig.everything, addresses: [ApplicationAddress(Rig.address)], streamURL: usual)
        for body in ["{}", #"{"url": null}"#, #"{"url": "wss://other.example.com"}"#, #"{"rate": 8000}"#] {
            #expect(await rig.ask(.post, Self.path, body, as: own).status == 200)
        }
        let urls = rig.calls.streamRequests.map { request -> String? in
            if case .connect(let order) = request { order.destination.url.text } else { nil }
        }
        #expect(urls == [usual.text, usual.text, "wss://other.example.com/", usual.text])
        #expect(await rig.ask(.post, "/v1/calls", #"{"to": "alice@example.com", "stream": {}}"#, as: own).status == 201)
        #expect(rig.calls.orders.last??.destination.url == usual)
        let none = await rig.ask(.post, "/v1/calls", #"{"to": "alice@example.com", "stream": {}}"#)
        #expect(none.code == "request.missing_field" && none.detail?.contains("stream.url") == true)
        #expect(await rig.ask(.post, Self.path, #"{"url": "https://b"}"#, as: own).code == "request.invalid_value")
    }

    @Test func `a call is started with a stream`() async throws {
        let rig = try await Rig()
        let body = #"{"to": "alice@example.com", "from": "bot@example.com", "stream": {"url": "wss://b/"}}"#
        #expect(await rig.ask(.post, "/v1/calls", body).status == 201)
        let order = StreamOrder(StreamDestination(url: try url("wss://b/")), .init(dialect: .own, format: .standard))
        #expect(rig.calls.orders == [order])
        let wrong = #"{"to": "alice@example.com", "from": "bot@example.com", "stream": {"url": "b"}}"#
        #expect(await rig.ask(.post, "/v1/calls", wrong).code == "request.invalid_value")
    }
}
