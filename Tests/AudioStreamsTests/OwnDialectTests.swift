import AudioStreams
import Testing

struct OwnDialectTests {
    @Test(
        arguments: [
            (.binary([1, 2, 3]), [.audio([1, 2, 3])]), (.binary([]), []),
            (.text(#"{"type":"mark","name":"a"}"#), [.mark("a")]), (.text(#"{"type":"clear"}"#), [.clear]),
            (.text(#"{"type":"pause"}"#), [.pause]), (.text(#"{"type":"resume"}"#), [.resume]),
            (.text(#"{"type":"finish"}"#), [.finish]), (.text(#"{"type":"keys","keys":"12a*#,"}"#), [.keys("12A*#,")]),
            (.text(#"{"type":"drain"}"#), [.drain]), (.text(#"{"type":"status"}"#), [.status]),
            (.text(#"{"type":"answer","later":1}"#), [.answer]), (.text(#"{"type":"end"}"#), [.end]),
        ] as [(StreamFrame, [StreamCommand])])
    func `a frame is a command`(_ frame: StreamFrame, _ commands: [StreamCommand]) throws {
        var dialect = OwnDialect(format: .standard)
        #expect(try dialect.read(frame) == commands)
    }

    @Test(
        arguments: [
            ("hello", .malformed, "no JSON"), ("[]", .malformed, "no JSON object"),
            ("{}", .missingField, "type"), (#"{"type":7}"#, .invalidValue, "type"),
            (#"{"type":"dance"}"#, .unknownCommand, "mark, clear"), (#"{"type":"mark"}"#, .missingField, "name"),
            (#"{"type":"mark","name":"\#(String(repeating: "n", count: 257))"}"#, .tooLong, "256"),
            (#"{"type":"keys","keys":""}"#, .invalidValue, "keys"),
            (#"{"type":"keys","keys":"1E"}"#, .invalidValue, "A to D"),
            (#"{"type":"keys","keys":"\#(String(repeating: "1", count: 129))"}"#, .tooLong, "128"),
        ] as [(String, StreamFault.Code, String)])
    func `what is no command is refused`(_ text: String, _ code: StreamFault.Code, _ part: String) {
        var dialect = OwnDialect(format: .standard)
        let fault = #expect(throws: StreamFault.self) { try dialect.read(.text(text)) }
        #expect(fault?.code == code)
        #expect(fault?.sentence.contains(part) == true, "\(fault?.sentence ?? "")")
    }

    @Test func `a text frame that is too long is not read`() {
        var dialect = OwnDialect(format: .standard)
        let fault = #expect(throws: StreamFault.self) {
            try dialect.read(.text(String(repeating: " ", count: 524_289)))
        }
        #expect(fault?.code == .tooLong)
    }

    @Test func `each event has its frames`() {
        var dialect = OwnDialect(format: .standard)
        let frames = StreamSamples.events(.standard).flatMap { dialect.write($0) }
        let start = """
            {"type":"start","version":1,"stream":"5a","call":"1f","application":"c3","context":"ticket 7",\
            "parameters":{"a":"1","b":"x y"},"from":"sip:alice@example.com","to":"sip:bot@example.com",\
            "format":{"encoding":"l16","rate":16000,"channels":1},"at":0,"reconnected":false,\
            "traceparent":"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}
            """
        let texts: [String] = [
            start, #"{"type":"media","at":40}"#,
            #"{"type":"keys","keys":"5","duration":120}"#, ##"{"type":"keys","keys":"#"}"##,
            #"{"type":"speechStarted","at":100,"paused":true,"decision":1500}"#,
            #"{"type":"speechStarted","at":100,"paused":false}"#,
            #"{"type":"speechStopped","at":900}"#,
            #"{"type":"marked","name":"mone \"1\"","heard":250,"cleared":false}"#,
            #"{"type":"marked","name":"btwo","heard":300,"cleared":false}"#,
            #"{"type":"marked","name":"m","heard":300,"cleared":true}"#,
            #"{"type":"cleared","heard":300}"#, #"{"type":"resumed","heard":320}"#,
            #"{"type":"pause"}"#, #"{"type":"resume"}"#, #"{"type":"drained"}"#, #"{"type":"drained"}"#,
            #"{"type":"status","waiting":50,"high":400,"low":200,"full":false,"paused":true}"#,
            #"{"type":"refused","code":"unknown_command","message":"the type is wrong"}"#,
            #"{"type":"end","reason":"callEnded"}"#,
        ]
        #expect(frames.compactMap(\.text) == texts)
        #expect(frames[2...3] == [.binary([1, 2]), .binary([3])])
        #expect(frames.count == texts.count + 2)
    }

    @Test func `the time is told where audio does not continue`() {
        var dialect = OwnDialect(format: .standard)
        #expect(dialect.write(.media([1], at: 0, milliseconds: 20)).count == 2)
        #expect(dialect.write(.media([1], at: 20, milliseconds: 20)).count == 1)
        #expect(
            dialect.write(.media([1], at: 60, milliseconds: 20)) == [.text(#"{"type":"media","at":60}"#), .binary([1])])
        _ = dialect.write(.start(StreamSamples.start(.standard)))
        #expect(dialect.write(.media([1], at: 80, milliseconds: 20)).count == 2, "each socket is told")
    }
}
