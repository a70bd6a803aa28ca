import CallControl
import Testing

@Suite struct `Media routes` {
    private let session = "/rest/version/1/user/joe@example.com/callControl/callSessions/A1"

    private static let digits = DigitSequence("12#")

    @Test(
        arguments: [
            (#"{"type":"play","source":"music"}"#, .play(address("joe"), SessionID("A1"), Playback(.music), .peer)),
            (
                #"{"type":"play","source":"file:a b.wav","to":"both","repeat":"true","offset":"1500"}"#,
                .play(
                    address("joe"), SessionID("A1"),
                    Playback(.file("a b.wav"), repeats: true, offset: .milliseconds(1_500)), .both)
            ),
            (
                #"{"type":"play","source":"tone:busy","to":"self"}"#,
                .play(address("joe"), SessionID("A1"), Playback(.tone(.busy)), .own)
            ),
            (#"{"type":"stop","to":"both"}"#, .stopPlaying(address("joe"), SessionID("A1"), .both)),
        ] as [(String, RecordingSwitchboard.Event)])
    func `an operation reaches the switchboard`(_ operation: String, _ event: RecordingSwitchboard.Event) async throws {
        try await TestServer.run { server in
            let answer = try await server.request("POST", session + "/media", #"{"mediaRequest":\#(operation)}"#)
            #expect(answer.status == 200)
            #expect(answer.body == #"{"mediaResponse":{"statusCode":0}}"#)
            #expect(await server.switchboard.events.contains(event))
        }
    }

    @Test func `digits reach the switchboard, also as a number`() async throws {
        try await TestServer.run { server in
            let body = #"{"mediaRequest":{"type":"dtmf","digits":123,"duration":1,"gap":100000000}}"#
            #expect(try await server.request("POST", session + "/media", body).status == 200)
            let wanted = try #require(DigitSequence("123", duration: .milliseconds(40), gap: .seconds(6)))
            #expect(
                await server.switchboard.events.contains(.sendDigits(address("joe"), SessionID("A1"), wanted, .peer)))
        }
    }

    @Test(arguments: [
        (#"{"type":"sing"}"#, "mediaRequest.type"),
        (#"{"type":"play"}"#, "mediaRequest.source"),
        (#"{"type":"play","source":"radio"}"#, "mediaRequest.source"),
        (#"{"type":"play","source":"tone:moo"}"#, "congestion"),
        (#"{"type":"play","source":"file:"}"#, "mediaRequest.source"),
        (#"{"type":"play","source":"music","to":"all"}"#, "mediaRequest.to"),
        (#"{"type":"play","source":"music","offset":-1}"#, "mediaRequest.offset"),
        (#"{"type":"dtmf"}"#, "mediaRequest.digits"),
        (#"{"type":"dtmf","digits":"12x"}"#, "mediaRequest.digits"),
        (#"{"source":"music"}"#, "type"),
    ])
    func `what makes no sense is named`(_ operation: String, _ name: String) async throws {
        try await TestServer.run { server in
            let answer = try await server.request("POST", session + "/media", #"{"mediaRequest":\#(operation)}"#)
            #expect(answer.status == 400)
            #expect(try answer.member("mediaResponse.reason")?.contains(name) == true, "\(answer.body)")
        }
    }

    @Test func `statistics show the own leg first, and only what happened`() async throws {
        try await TestServer.run { server in
            let answer = try await server.request("GET", session + "/statistics")
            #expect(answer.status == 200)
            let line =
                #"{"mid":"0","kind":"audio","source":"relayed","inbound":{"packets":7,"octets":0,"packetsLost":0},"#
                + #""outbound":{"packets":0,"octets":0,"packetsLost":0}}"#
            let legs = ["self", "peer"].map { #"{"leg":"\#($0)","media":[\#(line)],"drops":{"malformed":1}}"# }
            #expect(answer.body == #"{"statisticsResponse":{"statusCode":0,"legs":[\#(legs.joined(separator: ","))]}}"#)
        }
    }

    @Test(arguments: [
        (CallError.noSuchCall, 404), (.unplayable(.notFound("x.wav")), 404),
        (.notAllowed(.play, .state(.ringing)), 409),
    ])
    func `a refusal stays in the wrapper`(_ error: CallError, _ status: Int) async throws {
        try await TestServer.run { server in
            await server.switchboard.set(callError: error)
            let answer = try await server.request(
                "POST", session + "/media", #"{"mediaRequest":{"type":"play","source":"music"}}"#)
            #expect(answer.status == status)
            #expect(try answer.member("mediaResponse.reason") != nil)
        }
    }
}
