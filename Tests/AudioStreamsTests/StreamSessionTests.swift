import Audio
import AudioStreams
import Testing

struct StreamSessionTests {
    private static func session(
        _ format: StreamFormat = .muLaw, _ configuration: StreamSession.Configuration = .init(),
        dialect: StreamDialectName = .own
    ) -> StreamSession {
        StreamSession(dialect, start: StreamSamples.start(format), configuration)
    }

    private static func texts(_ actions: [StreamSession.Action]) -> [String] {
        actions.compactMap { action -> String? in
            guard case .send(let frame) = action else { return nil }
            return frame.text
        }
    }

    private static func audio(_ actions: [StreamSession.Action]) -> [UInt8] {
        actions.flatMap { action -> [UInt8] in
            guard case .send(.binary(let bytes)) = action else { return [] }
            return bytes
        }
    }

    /// A loud tone of 20 ms, which the detector takes for speech.
    private static func loud(_ oscillator: inout Oscillator) -> [Int16] {
        (0..<160).map { _ in Int16(8_000 * oscillator.next()) }
    }

    @Test func `audio goes both ways`() throws {
        var session = Self.session(.standard, .init(detector: nil))
        #expect(Self.texts(session.socketOpened()).first?.contains(#""type":"start""#) == true)
        let samples = (0..<320).map { Int16($0 * 50) }
        let heard = session.heard(samples)
        #expect(Self.texts(heard) == [#"{"type":"media","at":0}"#])
        #expect(session.received(.binary(Self.audio(heard))) == [])
        #expect(session.tick().playout == .samples(samples))
        #expect(session.tick().playout == .silence)
        #expect(session.mediaTime == 40)
        #expect(session.heardMilliseconds == 20)
    }

    @Test func `Opus passes as packets`() {
        var session = Self.session(.opus)
        _ = session.socketOpened()
        let packet: [UInt8] = [0x98, 1, 2, 3]
        #expect(Self.audio(session.heard(packet: packet)) == packet)
        #expect(session.heard(packet: []) == [])
        _ = session.received(.binary(packet))
        #expect(session.tick().playout == .packets([packet]))
    }

    @Test func `a listener hears, and whatever it says is refused`() {
        var session = Self.session(.muLaw, .init(detector: nil, isListener: true))
        _ = session.socketOpened()
        #expect(Self.audio(session.heard([Int16](repeating: 0, count: 160))).count == 160)
        for type in ["clear", "pause", "resume", "finish", "drain", "answer", "end"] {
            let actions = session.received(.text(#"{"type":"\#(type)"}"#))
            #expect(actions.first == .count(.unsupported) && actions.count == 2)
        }
        #expect(session.received(.binary([1, 2])).first == .count(.unsupported))
        #expect(session.tick().playout == .silence)
        #expect(Self.texts(session.received(.text(#"{"type":"status"}"#))).first?.contains("status") == true)
        #expect(Self.texts(session.pressed("5")).count == 1)
    }

    @Test func `requests of the bot reach the call`() {
        var session = Self.session()
        _ = session.socketOpened()
        #expect(session.received(.text(#"{"type":"keys","keys":"12#"}"#)) == [.press("12#")])
        #expect(session.received(.text(#"{"type":"answer"}"#)) == [.answer])
        #expect(session.received(.text(#"{"type":"end"}"#)) == [.hangUp])
        #expect(Self.texts(session.pressed("7", for: 80)) == [#"{"type":"keys","keys":"7","duration":80}"#])
    }

    @Test func `a fault is told and counted, and many in a row end the stream`() {
        var session = Self.session(.muLaw, .init(maximumFaults: 3))
        _ = session.socketOpened()
        let told = session.received(.text("x"))
        #expect(told.first == .count(.malformed))
        #expect(Self.texts(told).first?.contains(#""code":"malformed""#) == true)
        _ = session.received(.text("x"))
        _ = session.received(.text(#"{"type":"clear"}"#))
        #expect(!session.received(.text("x")).contains(.close(.faults)), "they are counted from anew")
        _ = session.received(.text("x"))
        #expect(session.received(.text("x")).last == .close(.faults))
        #expect(session.isOver)
        #expect(session.received(.text("x")) == [])
        #expect(session.heard([1, 2]) == [])
        #expect(session.tick().playout == .silence)
    }

    @Test func `faults of a former socket are told and counted, and are none of the one that is there`() {
        var session = Self.session(.muLaw, .init(maximumFaults: 3))
        _ = session.socketOpened()
        for _ in 0..<2 { _ = session.received(.text("x")) }
        session.socketClosed()
        _ = session.socketOpened()
        for _ in 0..<2 { _ = session.received(.text("x")) }
        for _ in 0..<5 {
            let told = session.received(.text("x"), isOfFormerSocket: true)
            #expect(told.first == .count(.malformed) && Self.texts(told).count == 1 && !session.isOver)
        }
        _ = session.received(.text(#"{"type":"clear"}"#), isOfFormerSocket: true)
        #expect(session.received(.text("x")).last == .close(.faults), "its own are counted as before")
    }

    @Test func `audio that has no room is told and counted`() {
        var session = Self.session(.muLaw, .init(buffer: .init(capacity: 1)))
        _ = session.socketOpened()
        #expect(Self.texts(session.received(.binary([UInt8](repeating: 1, count: 8_800)))) == [#"{"type":"pause"}"#])
        let actions = session.tick().actions
        #expect(actions.first == .count(.bufferFull))
        #expect(Self.texts(actions).first?.contains("100 ms") == true)
    }

    @Test func `a bot that can be told to stop is always heard`() {
        for dialect in [StreamDialectName.own, .asterisk, .asteriskJSON] {
            var session = Self.session(.muLaw, .init(buffer: dialect.buffer), dialect: dialect)
            _ = session.socketOpened()
            _ = session.received(.binary([UInt8](repeating: 1, count: 8_000 * 3_600)))
            #expect(session.takesFrames && dialect.hasFlowControl)
            #expect(session.status.waiting == 60_000)
        }
    }

    /// A message of Twilio's dialect with so much audio of one value.
    private static func media(_ milliseconds: Int) -> StreamFrame {
        // Base64 of three bytes of 0xFF, which are silence.
        .text(#"{"event":"media","media":{"payload":"\#(String(repeating: "////", count: 8 * milliseconds / 3))"}}"#)
    }

    @Test(arguments: [(30, 720_000), (48_000, 3_600_000)])
    func `what a bot that cannot be told to stop sends at once is heard whole, and ten minutes of it wait`(
        _ size: Int, _ length: Int
    ) {
        let dialect = StreamDialectName.twilio
        var session = Self.session(.muLaw, .init(buffer: dialect.buffer, detector: nil), dialect: dialect)
        _ = session.socketOpened()
        let message = Self.media(size)
        var (left, most, heard) = (length / size, 0, 0)
        var told: [StreamSession.Action] = []
        for _ in 0..<length / StreamFormat.frameMilliseconds {
            while left > 0, session.takesFrames {
                told += session.received(message)
                left -= 1
            }
            most = max(most, session.status.waiting)
            let (playout, actions) = session.tick()
            if case .samples = playout { heard += StreamFormat.frameMilliseconds }
            told += actions
        }
        #expect(told == [])
        #expect(left == 0 && heard == length && session.heardMilliseconds == length)
        #expect((540_000...600_000).contains(most))
    }

    @Test func `a bot that cannot be told to stop may set many marks, and what is one too many waits`() {
        var session = Self.session(.muLaw, .init(buffer: .init(maximumMarks: 2), detector: nil), dialect: .twilio)
        _ = session.socketOpened()
        let mark = StreamFrame.text(#"{"event":"mark","mark":{"name":"m"}}"#)
        for _ in 0..<2 {
            #expect(session.takesFrames)
            #expect(session.received(Self.media(30)) == [])
            #expect(session.received(mark) == [])
        }
        #expect(!session.takesFrames)
        #expect(session.tick().actions == [])
        #expect(!session.takesFrames)
        #expect(Self.texts(session.tick().actions).count == 1, "the first one is reached")
        #expect(session.takesFrames)
        #expect(session.received(.text(#"{"event":"clear"}"#)).count == 1, "the other one is answered")
    }

    @Test func `what happened without a socket is told to the next one`() {
        var session = Self.session()
        _ = session.socketOpened()
        _ = session.received(.binary([UInt8](repeating: 1, count: 160)))
        _ = session.received(.text(#"{"type":"mark","name":"m"}"#))
        session.socketClosed()
        guard case .samples = session.tick().playout else {
            Issue.record("what waits is not heard")
            return
        }
        #expect(session.pressed("1") == [])
        #expect(session.heard([Int16](repeating: 0, count: 160)) == [])
        #expect(session.received(.text("x")) == [.count(.malformed)], "what came before the socket was gone counts")
        let texts = Self.texts(session.socketOpened())
        #expect(texts.first?.contains(#""at":20,"reconnected":true"#) == true)
        #expect(
            texts.dropFirst() == [
                #"{"type":"marked","name":"m","heard":20,"cleared":false}"#, #"{"type":"keys","keys":"1"}"#,
            ])
        session.socketClosed()
        #expect(Self.texts(session.socketOpened()).count == 1, "it is told once")
    }

    @Test func `the time of media has no jitter, and leaves out a gap`() {
        var session = Self.session(.muLaw, .init(detector: nil))
        _ = session.socketOpened()
        let frame = [Int16](repeating: 0, count: 160)
        #expect(Self.texts(session.heard(frame)) == [#"{"type":"media","at":0}"#])
        #expect(Self.texts(session.heard(frame)) == [])
        for _ in 0..<5 { _ = session.tick() }
        #expect(Self.texts(session.heard(frame)) == [], "60 ms late")
        for _ in 0..<10 { _ = session.tick() }
        #expect(Self.texts(session.heard(frame)) == [#"{"type":"media","at":300}"#])
    }

    @Test(arguments: [#"{"type":"clear"}"#, #"{"type":"resume"}"#, #"{"type":"pause"}"#, nil])
    func `speech pauses playback until the bot decides`(_ decision: String?) {
        var session = Self.session(.muLaw, .init(bargeIn: .init(decision: 200)))
        _ = session.socketOpened()
        _ = session.received(.binary([UInt8](repeating: 0x10, count: 16_000)))
        for _ in 0..<20 {
            _ = session.heard([Int16](repeating: 0, count: 160))
            _ = session.tick()
        }
        var oscillator = Oscillator(frequency: 500, rate: 8_000)
        var told: [String] = []
        while told.isEmpty, session.mediaTime < 1_000 {
            told = Self.texts(session.heard(Self.loud(&oscillator))).filter { $0.contains("speechStarted") }
            _ = session.tick()
        }
        #expect(told.first?.contains(#""paused":true,"decision":200"#) == true)
        let heard = session.heardMilliseconds
        #expect(session.status.isPaused)
        #expect(session.tick().playout == .silence)
        if let decision { _ = session.received(.text(decision)) }
        var events: [String] = []
        for _ in 0..<12 { events += Self.texts(session.tick().actions) }
        switch decision {
        case #"{"type":"clear"}"#:
            #expect(session.heardMilliseconds == heard)
            #expect(session.status.waiting == 0)
            #expect(!session.status.isPaused)
        case #"{"type":"resume"}"#: #expect(session.heardMilliseconds == heard + 240)
        case #"{"type":"pause"}"#:
            #expect(session.heardMilliseconds == heard)
            #expect(session.status.isPaused)
        default:
            #expect(events.contains(#"{"type":"resumed","heard":\#(heard)}"#))
            #expect((heard + 40...heard + 120).contains(session.heardMilliseconds))
        }
    }

    @Test func `a bot that is sent speech alone gets what came before it`() {
        var session = Self.session(.muLaw, .init(media: .speech, preRoll: 200))
        _ = session.socketOpened()
        for _ in 0..<25 {
            #expect(session.heard([Int16](repeating: 0, count: 160)) == [])
            _ = session.tick()
        }
        var oscillator = Oscillator(frequency: 500, rate: 8_000)
        var spoken: [UInt8] = []
        var sent: [UInt8] = []
        var times: [String] = []
        for _ in 0..<10 {
            let frame = Self.loud(&oscillator)
            spoken += StreamFormat.muLaw.encode(frame)
            let actions = session.heard(frame)
            sent += Self.audio(actions)
            times += Self.texts(actions)
            _ = session.tick()
        }
        #expect(sent.count > spoken.count)
        #expect(Array(sent.suffix(spoken.count)) == spoken, "the first sound is not lost")
        #expect(times.count == 2 && times[0].contains("speechStarted") && times[1].contains("media"), "\(times)")
        var later: [String] = []
        for _ in 0..<40 {
            later += Self.texts(session.heard([Int16](repeating: 0, count: 160)))
            _ = session.tick()
        }
        #expect(later.contains { $0.contains("speechStopped") })
        #expect(session.heard([Int16](repeating: 0, count: 160)) == [])
    }

    @Test(arguments: StreamDialectName.allCases)
    func `the end is the last`(_ dialect: StreamDialectName) {
        var session = Self.session(.muLaw, dialect: dialect)
        _ = session.socketOpened()
        let actions = session.ended(.callEnded)
        #expect(actions.last == .close(.callEnded))
        #expect(session.ended(.stopped) == [])
        #expect(session.socketOpened() == [])
    }

    @Test func `a bot of Twilio is heard and answered`() {
        var session = Self.session(.muLaw, dialect: .twilio)
        _ = session.socketOpened()
        let payload = Base64.encode([UInt8](repeating: 0x20, count: 200))
        _ = session.received(.text(#"{"event":"media","streamSid":"MZ5a","media":{"payload":"\#(payload)"}}"#))
        _ = session.received(.text(#"{"event":"mark","streamSid":"MZ5a","mark":{"name":"end"}}"#))
        guard case .samples(let samples) = session.tick().playout else {
            Issue.record("it is not heard")
            return
        }
        #expect(samples.count == 160)
        #expect(Self.texts(session.tick().actions).contains { $0.contains(#""mark":{"name":"end"}"#) })
    }
}
