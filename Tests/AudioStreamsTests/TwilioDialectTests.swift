import AudioStreams
import Testing

/// The messages of twilio.com/docs/voice/media-streams/websocket-messages.
struct TwilioDialectTests {
    private static func started() -> TwilioDialect {
        var dialect = TwilioDialect()
        _ = dialect.write(.start(StreamSamples.start(.muLaw)))
        return dialect
    }

    @Test(
        arguments: [
            (#"{"event":"media","streamSid":"MZ5a","media":{"payload":"//8A"}}"#, [.audio([255, 255, 0])]),
            (#"{"event":"media","media":{"payload":""}}"#, []),
            (#"{"event":"mark","streamSid":"MZ5a","mark":{"name":"my label"}}"#, [.finish, .mark("my label")]),
            (#"{"event":"clear","streamSid":"MZ5a"}"#, [.clear]),
        ] as [(String, [StreamCommand])])
    func `a message is a command`(_ text: String, _ commands: [StreamCommand]) throws {
        var dialect = Self.started()
        #expect(try dialect.read(.text(text)) == commands)
    }

    @Test(
        arguments: [
            (.binary([1]), .malformed, "Base64"), (.text("x"), .malformed, "JSON"),
            (.text(#"{"streamSid":"MZ5a"}"#), .missingField, "event"),
            (.text(#"{"event":"media","streamSid":"MZother","media":{"payload":"AA=="}}"#), .invalidValue, "MZ5a"),
            (.text(#"{"event":"media","streamSid":null,"media":{"payload":"AA=="}}"#), .invalidValue, "MZ5a"),
            (.text(#"{"event":"media"}"#), .missingField, "media.payload"),
            (.text(#"{"event":"media","media":{"payload":"*"}}"#), .invalidValue, "media.payload"),
            (.text(#"{"event":"mark","mark":{}}"#), .missingField, "mark.name"),
            (.text(#"{"event":"stop"}"#), .unknownCommand, "media, mark and clear"),
        ] as [(StreamFrame, StreamFault.Code, String)])
    func `what is no command is refused`(_ frame: StreamFrame, _ code: StreamFault.Code, _ part: String) {
        var dialect = Self.started()
        let fault = #expect(throws: StreamFault.self) { try dialect.read(frame) }
        #expect(fault?.code == code)
        #expect(fault?.sentence.contains(part) == true, "\(fault?.sentence ?? "")")
    }

    @Test func `each event has its messages`() {
        var dialect = TwilioDialect()
        let frames = StreamSamples.events(.muLaw).flatMap { dialect.write($0) }
        let start = """
            {"event":"start","sequenceNumber":"1","start":{"accountSid":"ACc3","streamSid":"MZ5a","callSid":"CA1f",\
            "tracks":["inbound"],"mediaFormat":{"encoding":"audio/x-mulaw","sampleRate":8000,"channels":1},\
            "customParameters":{"a":"1","b":"x y"}},"streamSid":"MZ5a"}
            """
        // Without what each message ends with.
        let others: [String] = [
            #"{"event":"media","sequenceNumber":"2","media":{"track":"inbound","chunk":"1","timestamp":"40","payload":"AQI="}"#,
            #"{"event":"media","sequenceNumber":"3","media":{"track":"inbound","chunk":"2","timestamp":"60","payload":"Aw=="}"#,
            #"{"event":"dtmf","sequenceNumber":"4","dtmf":{"track":"inbound_track","digit":"5"}"#,
            ##"{"event":"dtmf","sequenceNumber":"5","dtmf":{"track":"inbound_track","digit":"#"}"##,
            #"{"event":"mark","sequenceNumber":"6","mark":{"name":"mone \"1\""}"#,
            #"{"event":"mark","sequenceNumber":"7","mark":{"name":"btwo"}"#,
            #"{"event":"mark","sequenceNumber":"8","mark":{"name":"m"}"#,
            #"{"event":"stop","sequenceNumber":"9","stop":{"accountSid":"ACc3","callSid":"CA1f"}"#,
        ]
        let texts = [#"{"event":"connected","protocol":"Call","version":"1.0.0"}"#, start]
        #expect(frames.map(\.text) == texts + others.map { $0 + #","streamSid":"MZ5a"}"# })
    }

    @Test func `only µ-law is carried`() {
        #expect(TwilioDialect.carries(.muLaw))
        #expect(![StreamFormat.aLaw, .standard, .opus].contains(where: TwilioDialect.carries))
    }
}
