import AudioStreams
import Testing

/// The messages of docs.asterisk.org/Configuration/Channel-Drivers/WebSocket.
struct AsteriskDialectTests {
    @Test(
        arguments: [
            ("ANSWER", [.answer]), ("HANGUP", [.end]), ("START_MEDIA_BUFFERING", []),
            ("STOP_MEDIA_BUFFERING", [.finish, .mark("b")]),
            (" STOP_MEDIA_BUFFERING  61ea9311-d501 \n", [.finish, .mark("b61ea9311-d501")]),
            ("MARK_MEDIA", [.mark("m")]),
            ("MARK_MEDIA one two", [.mark("mone two")]), ("FLUSH_MEDIA", [.clear, .resume]), ("PAUSE_MEDIA", [.pause]),
            ("CONTINUE_MEDIA", [.resume]), ("GET_STATUS", [.status]), ("REPORT_QUEUE_DRAINED", [.drain]),
            (#"{"command":"HANGUP"}"#, [.end]), (#"{"command":"MARK_MEDIA","correlation_id":"x"}"#, [.mark("mx")]),
            ("\n{ \"command\" : \"STOP_MEDIA_BUFFERING\",\n\"correlation_id\":\"y\" }", [.finish, .mark("by")]),
        ] as [(String, [StreamCommand])])
    func `a word is a command`(_ text: String, _ commands: [StreamCommand]) throws {
        var dialect = AsteriskDialect(format: .muLaw)
        #expect(try dialect.read(.text(text)) == commands)
    }

    @Test(
        arguments: [
            ("", .unknownCommand, "ANSWER"), ("answer", .unknownCommand, "ANSWER"), ("{}", .missingField, "command"),
            ("{", .malformed, "JSON"),
            (#"{"command":"MARK_MEDIA","correlation_id":7}"#, .invalidValue, "correlation_id"),
            ("MARK_MEDIA " + String(repeating: "i", count: 256), .tooLong, "255"),
        ] as [(String, StreamFault.Code, String)])
    func `what is no command is refused`(_ text: String, _ code: StreamFault.Code, _ part: String) {
        var dialect = AsteriskDialect(format: .muLaw)
        let fault = #expect(throws: StreamFault.self) { try dialect.read(.text(text)) }
        #expect(fault?.code == code)
        #expect(fault?.sentence.contains(part) == true, "\(fault?.sentence ?? "")")
    }

    @Test(arguments: ["START_MEDIA_BUFFERING", "MARK_MEDIA x", "FLUSH_MEDIA", "PAUSE_MEDIA", "REPORT_QUEUE_DRAINED"])
    func `Opus is passed through, without these commands`(_ text: String) throws {
        var dialect = AsteriskDialect(format: .opus)
        let fault = #expect(throws: StreamFault.self) { try dialect.read(.text(text)) }
        #expect(fault?.code == .unsupported)
        #expect(try dialect.read(.binary([7])) == [.audio([7])])
        #expect(try dialect.read(.text("GET_STATUS")) == [.status])
    }

    @Test func `each event has its words`() {
        var dialect = AsteriskDialect(format: .standard)
        let frames = StreamSamples.events(.standard).flatMap { dialect.write($0) }
        let texts: [String] = [
            "MEDIA_START connection_id:5a channel:WebSocket/1f channel_id:1f format:slin16 optimal_frame_size:640 ptime:20",
            "DTMF_END digit:5 channel_id:1f", "DTMF_END digit:# channel_id:1f", "MEDIA_MARK_PROCESSED one \"1\"",
            "MEDIA_BUFFERING_COMPLETED two", "MEDIA_XOFF", "MEDIA_XON", "QUEUE_DRAINED",
            """
            STATUS channel_id:1f queue_length:2 xon_level:10 xoff_level:20 queue_full:false bulk_media:false \
            media_paused:true
            """,
            "ERROR channel_id:1f error_text:the type is wrong",
        ]
        #expect(frames.compactMap(\.text) == texts)
        #expect(frames[1...2] == [.binary([1, 2]), .binary([3])])
        #expect(frames.count == texts.count + 2)
    }

    @Test func `events are JSON if that is configured`() {
        var dialect = AsteriskDialect(format: .muLaw, isJSON: true)
        let frames = StreamSamples.events(.muLaw).flatMap { dialect.write($0) }
        let texts: [String] = [
            """
            {"event":"MEDIA_START","connection_id":"5a","channel":"WebSocket/1f","channel_id":"1f","format":"ulaw",\
            "optimal_frame_size":160,"ptime":20,"channel_variables":{"a":"1","b":"x y"}}
            """,
            #"{"event":"DTMF_END","digit":"5","channel_id":"1f"}"#,
            ##"{"event":"DTMF_END","digit":"#","channel_id":"1f"}"##,
            #"{"event":"MEDIA_MARK_PROCESSED","channel_id":"1f","correlation_id":"one \"1\""}"#,
            #"{"event":"MEDIA_BUFFERING_COMPLETED","channel_id":"1f","correlation_id":"two"}"#,
            #"{"event":"MEDIA_XOFF","channel_id":"1f"}"#, #"{"event":"MEDIA_XON","channel_id":"1f"}"#,
            #"{"event":"QUEUE_DRAINED","channel_id":"1f"}"#,
            """
            {"event":"STATUS","channel_id":"1f","queue_length":2,"xon_level":10,"xoff_level":20,"queue_full":false,\
            "bulk_media":false,"media_paused":true}
            """,
            #"{"event":"ERROR","channel_id":"1f","error_text":"the type is wrong"}"#,
        ]
        #expect(frames.compactMap(\.text) == texts)
    }

    @Test(
        arguments: [
            (.muLaw, "ulaw", 160), (.aLaw, "alaw", 160), (.standard, "slin16", 640), (.opus, "opus", 0),
        ] as [(StreamFormat, String, Int)])
    func `a format has Asterisk's name`(_ format: StreamFormat, _ name: String, _ size: Int) throws {
        var dialect = AsteriskDialect(format: format)
        let text = try #require(dialect.write(.start(StreamSamples.start(format))).first?.text)
        #expect(text.hasSuffix("format:\(name) optimal_frame_size:\(size) ptime:20"))
    }

    @Test func `8,000 Hz have no number`() throws {
        let format = try #require(StreamFormat(.l16, rate: 8_000))
        var dialect = AsteriskDialect(format: format)
        let text = try #require(dialect.write(.start(StreamSamples.start(format))).first?.text)
        #expect(text.contains(" format:slin optimal_frame_size:320 "))
    }

    @Test func `a status says whether audio is buffered`() throws {
        var dialect = AsteriskDialect(format: .muLaw)
        func isBuffering() -> Bool? {
            dialect.write(StreamSamples.status).first?.text?.contains("bulk_media:true")
        }
        _ = try dialect.read(.text("START_MEDIA_BUFFERING"))
        #expect(isBuffering() == true)
        _ = try dialect.read(.text("STOP_MEDIA_BUFFERING"))
        #expect(isBuffering() == false)
        _ = try dialect.read(.text("START_MEDIA_BUFFERING"))
        _ = try dialect.read(.text("FLUSH_MEDIA"))
        #expect(isBuffering() == false)
    }
}
