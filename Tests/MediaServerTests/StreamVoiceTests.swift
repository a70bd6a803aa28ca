import Audio
import AudioStreams
import CallControl
import CallRuntime
import MediaServer
import Sockets
import Testing

/// The stream of a program as the voice and the ear of a headless leg.
struct StreamVoiceTests {
    private struct Rig {
        let voice = SpeakingVoice(PlayingVoice(nil))
        private(set) var link = StreamLink()

        init(_ terms: StreamTerms = Self.terms()) { open(terms) }

        static func terms(
            _ format: StreamFormat = .standard, absence: StreamTerms.Absence = .silence
        ) -> StreamTerms {
            StreamTerms(dialect: .own, format: format, absence: absence)
        }

        mutating func reopen(_ terms: StreamTerms = Self.terms(), order: UInt64? = nil) {
            link = StreamLink()
            open(terms, order: order)
        }

        private func open(_ terms: StreamTerms, order: UInt64? = nil) {
            let start = StreamStart(
                stream: "s", call: "c", application: "a", from: "alice@example.com", to: "bot@example.com",
                format: terms.format)
            voice.attach(MediaStream(link: link, terms: terms, start: start, order: order))
        }

        /// 20 ms; returns the last sample that others hear, `nil` if it says nothing.
        func cycle(hearing heard: Int16 = 0) -> Int16? {
            _ = voice.serveListeners(isCycle: !voice.isPaused)
            if let stream = voice.stream {
                stream.receive()
                if !voice.isPaused { stream.advance() }
            }
            var samples = [Int16](repeating: 99, count: AudioMixer.frame)
            var span = samples.mutableSpan
            let speaks = voice.speak(into: &span)
            let ear = [Int16](repeating: heard, count: AudioMixer.frame)
            voice.hear(ear.span, channels: 1)
            return speaks ? samples[AudioMixer.frame - 1] : nil
        }

        func run(_ cycles: Int, hearing heard: Int16 = 0) -> [Int16?] {
            (0..<cycles).map { _ in cycle(hearing: heard) }
        }

        func say(_ value: Int16, milliseconds: Int, _ format: StreamFormat = .standard) {
            let samples = [Int16](repeating: value, count: format.rate / 1_000 * milliseconds)
            _ = link.receive(.binary(format.encode(samples)))
        }

        /// What the program was told since the last call: the messages, and the audio.
        func told() -> (texts: [String], audio: [[UInt8]]) {
            var (texts, audio): ([String], [[UInt8]]) = ([], [])
            for frame in link.takeOutward().frames {
                switch frame {
                case .text(let text): texts.append(text)
                case .binary(let bytes): audio.append(bytes)
                }
            }
            return (texts, audio)
        }
    }

    @Test(arguments: [8_000, 16_000, 24_000, 48_000])
    func `what is said is heard, and what is heard is sent, at every rate`(_ rate: Int) throws {
        let format = try #require(StreamFormat(.l16, rate: rate))
        let rig = Rig(Rig.terms(format))
        rig.say(1_000, milliseconds: 100, format)
        let said = rig.run(7, hearing: 500)
        #expect(said[5...] == [nil, nil])
        for sample in said[1..<5] { #expect(abs((sample ?? 0) - 1_000) < 30) }
        let (texts, audio) = rig.told()
        #expect(texts[0].contains("\"type\":\"start\""))
        #expect(audio.count == 7 && audio.allSatisfy { $0.count == 2 * format.samplesPerFrame })
        let last = try #require(format.decode(audio[6]).last)
        #expect(abs(last - 500) < 20)
    }

    @Test func `a list goes before the stream, whose time passes`() throws {
        let rig = Rig()
        rig.say(1_000, milliseconds: 200)
        let tone = SpokenItem(.sound(Sound([Int16](repeating: 7, count: 4 * AudioMixer.frame))), length: nil)
        let list = try PlayList(items: [.silence(.seconds(1))], loops: nil, volume: 0)
        _ = rig.run(2)
        rig.voice.play(list, [tone], number: 1, tag: nil, replacing: true)
        #expect(rig.run(4) == [7, 7, 7, 7])
        #expect(rig.run(5).map { $0 != nil } == [true, true, true, true, false], "of ten frames four passed unheard")
        #expect(rig.told().audio.count == 11, "and the program heard all the time")
    }

    @Test func `a leg that holds stands still in both directions`() {
        let rig = Rig()
        rig.say(1_000, milliseconds: 60)
        rig.voice.isPaused = true
        #expect(rig.run(5) == [nil, nil, nil, nil, nil])
        #expect(rig.told().audio.isEmpty)
        rig.voice.isPaused = false
        #expect(rig.run(4).map { $0 != nil } == [true, true, true, false])
        #expect(rig.told().audio.count == 4)
    }

    @Test func `a program that is gone leaves silence or music, and comes back`() throws {
        var rig = Rig(Rig.terms(absence: .music))
        rig.say(1_000, milliseconds: 40)
        #expect(rig.cycle() != nil)
        rig.link.disconnect()
        #expect(rig.cycle() != nil, "what waited is heard")
        #expect(!rig.voice.hasStream)
        #expect(rig.run(50).allSatisfy { $0 != nil }, "music")
        rig.reopen()
        #expect(rig.voice.hasStream && rig.cycle() == nil)
        let start = rig.told().texts[0]
        #expect(start.contains("\"reconnected\":true") && start.contains("\"at\":1040"))
        rig.link.disconnect()
        _ = rig.cycle()
        #expect(rig.run(3) == [nil, nil, nil], "silence, as the second socket asked for")
        rig.reopen(Rig.terms(.muLaw))
        _ = rig.cycle()
        let (texts, audio) = rig.told()
        #expect(texts[0].contains("\"reconnected\":false") && audio.map(\.count) == [160])
    }

    @Test func `a program that cannot be told to stop is not read while much waits, and nothing is lost`() throws {
        let terms = StreamTerms(
            dialect: .twilio, format: .muLaw,
            configuration: StreamSession.Configuration(buffer: .init(capacity: 120), detector: nil))
        let rig = Rig(terms)
        let stream = try #require(rig.voice.stream)
        // 48 s of µ-law silence.
        let media = #"{"event":"media","media":{"payload":"\#(String(repeating: "////", count: 128_000))"}}"#
        var sent = 0
        // The socket reads as long as it may; a message is made up for in some cycles.
        for _ in 0..<200 {
            if rig.link.mayRead {
                _ = rig.link.receive(.text(media))
                sent += 1
            }
            _ = rig.cycle()
        }
        #expect(sent == 3, "two of them fill the buffer, and one the queue")
        #expect(!rig.link.mayRead)
        _ = rig.link.receive(.text(#"{"event":"mark","mark":{"name":"last"}}"#))
        rig.link.disconnect()
        // What was sent before the socket was gone is heard, and the mark is told to the next socket.
        var heard = 200
        while rig.cycle() != nil, heard < 10_000 { heard += 1 }
        #expect(heard == sent * 48_000 / 20)
        #expect(stream.takeRefusals() == 0)
        var next = rig
        next.reopen(terms)
        #expect(next.told().texts.contains { $0.contains(#""mark":{"name":"last"}"#) })
    }

    @Test func `what a program has sent before it connects again is heard first, also what had no room yet`() throws {
        let terms = StreamTerms(
            dialect: .twilio, format: .muLaw,
            configuration: StreamSession.Configuration(media: .none, buffer: .init(capacity: 120), detector: nil))
        var rig = Rig(terms)
        let stream = try #require(rig.voice.stream)
        // 48 s of µ-law silence, of which two fit into the buffer.
        let media = #"{"event":"media","media":{"payload":"\#(String(repeating: "////", count: 128_000))"}}"#
        func mark(_ name: String) -> StreamFrame { .text(#"{"event":"mark","mark":{"name":"\#(name)"}}"#) }
        // The socket had read four before it was told to stop. They are taken together, and two of them wait.
        for _ in 0..<4 { _ = rig.link.receive(.text(media)) }
        #expect(rig.cycle() != nil)
        // What comes behind them stays in the queue, and is made up for later.
        _ = rig.link.receive(.text(media))
        _ = rig.link.receive(mark("first"))
        rig.reopen(terms)
        _ = rig.link.receive(.text(media))
        _ = rig.link.receive(mark("second"))
        // It is lost again, before anything could be taken of it.
        rig.reopen(terms)
        _ = rig.link.receive(mark("third"))
        var heard = 1
        while rig.cycle() != nil, heard < 20_000 { heard += 1 }
        #expect(heard == 6 * 48_000 / 20)
        #expect(stream.takeRefusals() == 0)
        let told = rig.told().texts
        let starts = told.filter { $0.contains(#""event":"start""#) }
        #expect(starts.count == 1)
        let names = told.compactMap { text in
            ["first", "second", "third"].first { text.contains(#""mark":{"name":"\#($0)"}"#) }
        }
        #expect(names == ["first", "second", "third"])
    }

    /// Twilio's dialect, with a buffer for two of `long`.
    private static let twilio = StreamTerms(
        dialect: .twilio, format: .muLaw,
        configuration: StreamSession.Configuration(media: .none, buffer: .init(capacity: 120), detector: nil))
    /// 48 s of µ-law silence.
    private static let long = StreamFrame.text(
        #"{"event":"media","media":{"payload":"\#(String(repeating: "////", count: 128_000))"}}"#)

    @Test func `what a program has sent before it ends its stream is heard whole, also what had no room yet`() {
        let rig = Rig(Self.twilio)
        for _ in 0..<3 { _ = rig.link.receive(Self.long) }
        rig.link.close(with: 1_000)
        rig.link.disconnect()
        #expect(rig.run(3 * 2_400).allSatisfy { $0 != nil })
        #expect(rig.cycle() == nil)
    }

    @Test(arguments: [1_000, 1_001])
    func `a program that comes after the end of a stream has nothing of it, and one that comes back has all`(
        _ code: Int
    ) throws {
        func mark(_ name: String) -> StreamFrame { .text(#"{"event":"mark","mark":{"name":"\#(name)"}}"#) }
        var rig = Rig(Self.twilio)
        for _ in 0..<3 { _ = rig.link.receive(Self.long) }
        _ = rig.link.receive(mark("first"))
        #expect(rig.run(100).allSatisfy { $0 != nil })
        rig.link.close(with: code)
        rig.link.disconnect()
        #expect(rig.cycle() != nil, "what waits is still heard")
        let former = try #require(rig.voice.stream)
        rig.reopen(Self.twilio)
        let isTheSame = rig.voice.stream === former
        #expect(isTheSame == (code != 1_000))
        _ = rig.link.receive(mark("second"))
        var heard = 0
        while rig.cycle() != nil, heard < 20_000 { heard += 1 }
        _ = rig.run(2)
        #expect(heard == (isTheSame ? 3 * 2_400 - 101 : 0))
        let names = rig.told().texts.compactMap { text in
            ["first", "second"].first { text.contains(#""mark":{"name":"\#($0)"}"#) }
        }
        #expect(names == (isTheSame ? ["first", "second"] : ["second"]))
    }

    @Test func `what a program has asked for directly before it ends its stream happens, whoever comes next`() throws {
        var rig = Rig()
        rig.say(1_000, milliseconds: 1_000)
        #expect(rig.cycle() != nil)
        for text in [#"{"type":"keys","keys":"1"}"#, "nonsense"] { _ = rig.link.receive(.text(text)) }
        rig.link.close(with: 1_000)
        rig.reopen()
        #expect(rig.cycle() == nil)
        let start = try #require(rig.told().texts.first)
        #expect(start.contains("\"reconnected\":false") && start.contains("\"at\":0"))
        let stream = try #require(rig.voice.stream)
        #expect(stream.takeWishes() == [.press(try #require(DigitSequence("1")))] && stream.takeRefusals() == 1)
    }

    @Test func `what cannot be read and came on a lost socket does not end the next one`() throws {
        var rig = Rig(Self.twilio)
        let stream = try #require(rig.voice.stream)
        func nonsense(_ count: Int) { for _ in 0..<count { _ = rig.link.receive(.text("nonsense")) } }
        // There is no room for the last two yet, and what comes behind them waits.
        for _ in 0..<4 { _ = rig.link.receive(Self.long) }
        nonsense(150)
        #expect(rig.run(100).allSatisfy { $0 != nil })
        rig.link.disconnect()
        #expect(rig.cycle() != nil)
        rig.reopen(Self.twilio)
        nonsense(99)
        #expect(rig.run(4 * 2_400).contains(nil), "all is heard")
        #expect(rig.voice.stream === stream && rig.voice.hasStream)
        #expect(stream.takeRefusals() == 249)
        nonsense(1)
        _ = rig.cycle()
        #expect(rig.link.takeOutward().end == .faults && !rig.voice.hasStream)
    }

    /// `isBehind`: a large message in front of them is made up for when the socket goes.
    @Test(arguments: [false, true])
    func `a program that is gone after many messages that cannot be read is judged before that is told`(
        _ isBehind: Bool
    ) {
        var rig = Rig()
        let told = Lock(0)
        if isBehind {
            rig.say(1_000, milliseconds: 15_000)
            _ = rig.cycle()
        }
        for _ in 0..<100 { _ = rig.link.receive(.text("nonsense")) }
        let link = rig.link
        link.close(with: 1_001)
        link.disconnect { told.withLock { $0 += 1 } }
        #expect(told.withLock { $0 } == 0 && link.loss == .transient)
        _ = rig.cycle()
        #expect(told.withLock { $0 } == 1 && link.loss == .final)
        #expect(!rig.voice.hasStream && rig.cycle() == nil, "the stream is over")
        rig.reopen()
        #expect(rig.told().texts[0].contains("\"reconnected\":false"))
    }

    @Test func `a program that is gone behind messages without room is not waited for until they are read`() {
        let rig = Rig(Self.twilio)
        let told = Lock(0)
        for _ in 0..<4 { _ = rig.link.receive(Self.long) }
        rig.link.disconnect { told.withLock { $0 += 1 } }
        _ = rig.run(2)
        #expect(told.withLock { $0 } == 1 && rig.link.loss == .transient)
    }

    @Test func `a program that loses full sockets again and again has a bounded part of them heard`() throws {
        let terms = StreamTerms(
            dialect: .twilio, format: .muLaw,
            configuration: StreamSession.Configuration(media: .none, buffer: .init(capacity: 120), detector: nil))
        var rig = Rig(terms)
        let stream = try #require(rig.voice.stream)
        let media = #"{"event":"media","media":{"payload":"\#(String(repeating: "////", count: 128_000))"}}"#
        for _ in 0..<14 {
            _ = rig.link.receive(.text(media))
            rig.reopen(terms)
        }
        // Two are in the buffer, and nine have more than 4 MiB.
        #expect(stream.takeRefusals() == 3)
    }

    @Test func `wishes are passed on, and faults are counted`() throws {
        let rig = Rig()
        let stream = try #require(rig.voice.stream)
        for text in [#"{"type":"keys","keys":"1,2"}"#, #"{"type":"answer"}"#, "nonsense", #"{"type":"end"}"#] {
            _ = rig.link.receive(.text(text))
        }
        _ = rig.cycle()
        #expect(stream.takeWishes() == [.press(try #require(DigitSequence("1,2"))), .answer, .end])
        #expect(stream.takeWishes().isEmpty)
        #expect(stream.takeRefusals() == 1 && stream.takeRefusals() == 0)
        rig.link.press("5", milliseconds: 90)
        _ = rig.cycle()
        #expect(rig.told().texts.contains { $0.contains("\"keys\":\"5\"") && $0.contains("90") })
        rig.voice.endStream(.callEnded)
        let last = rig.link.takeOutward()
        #expect(last.end == .callEnded && last.frames.count == 1)
        #expect(rig.voice.stream == nil && rig.cycle() == nil)
    }

    @Test func `a program is told that the application wants it no more, and another one starts anew`() {
        var rig = Rig()
        rig.say(1_000, milliseconds: 100)
        #expect(rig.cycle() != nil)
        rig.link.stop()
        #expect(rig.cycle() == nil, "what waited is not heard any more")
        let last = rig.link.takeOutward()
        #expect(last.end == .stopped && last.frames.last?.isEnd == true && !rig.voice.hasStream)
        rig.reopen()
        _ = rig.cycle()
        #expect(rig.told().texts[0].contains("\"reconnected\":false"))
    }

    @Test func `listeners hear the caller, or the call, and say nothing`() throws {
        let rig = Rig(Rig.terms(try #require(StreamFormat(.l16, rate: 48_000))))
        func listener(_ whom: StreamTerms.Listening) throws -> StreamLink {
            let format = try #require(StreamFormat(.l16, rate: 48_000))
            let terms = StreamTerms(
                dialect: .own, format: format, configuration: .init(detector: nil, isListener: true), listens: whom)
            let start = StreamStart(
                stream: "l", call: "c", application: "a", from: "alice@example.com", to: "bot@example.com",
                format: format)
            let link = StreamLink()
            rig.voice.attach(MediaStream(link: link, terms: terms, start: start))
            return link
        }
        func heard(_ link: StreamLink) -> [Int16] {
            let format = StreamFormat(.l16, rate: 48_000)
            return link.takeOutward().frames.compactMap { frame in
                guard case .binary(let bytes) = frame else { return nil }
                return format?.decode(bytes).last
            }
        }
        let (caller, call) = (try listener(.caller), try listener(.call))
        rig.say(1_000, milliseconds: 200, try #require(StreamFormat(.l16, rate: 48_000)))
        _ = caller.receive(.binary([1, 2]))
        let said = rig.run(6, hearing: 500)
        #expect(said.dropFirst().allSatisfy { abs(($0 ?? 0) - 1_000) < 30 }, "as without listeners")
        // What comes in one cycle is sent with the next one. The resampler settles meanwhile.
        let (ofCaller, ofCall) = (heard(caller), heard(call))
        #expect(ofCaller.count == 5 && ofCaller.dropFirst(2).allSatisfy { abs($0 - 500) < 10 })
        #expect(ofCall.count == 5 && ofCall.dropFirst(2).allSatisfy { abs($0 - 1_500) < 30 })
        rig.voice.isMuted = true
        _ = rig.run(4, hearing: 500)
        #expect(heard(call).suffix(2).allSatisfy { abs($0 - 500) < 10 }, "what nobody hears is not in it")
        caller.disconnect()
        _ = rig.cycle()
        rig.voice.endStream(.callEnded)
        #expect(call.takeOutward().end == .callEnded && !rig.voice.hasStream)
    }

    @Test func `another order has nothing of the one before`() {
        var rig = Rig()
        rig.reopen(order: 1)
        rig.say(1_000, milliseconds: 1_000)
        #expect(rig.cycle() != nil)
        rig.link.disconnect()
        #expect(rig.cycle() != nil, "what waits is still heard")
        rig.reopen(order: 1)
        #expect(rig.cycle() != nil && rig.told().texts[0].contains("\"reconnected\":true"))
        rig.link.disconnect()
        _ = rig.cycle()
        rig.reopen(order: 2)
        #expect(rig.cycle() == nil && rig.told().texts[0].contains("\"reconnected\":false"))
        let stopped = rig.link
        stopped.stop()
        rig.reopen(order: 3)
        #expect(stopped.takeOutward().end == .stopped, "not replaced")
    }

    @Test func `another base ends a stream whose program is gone, with its music`() {
        var rig = Rig()
        var terms = Rig.terms()
        terms.absence = .music
        rig.reopen(terms, order: 1)
        rig.link.disconnect()
        _ = rig.cycle()
        #expect(rig.cycle() != nil, "the music")
        rig.voice.setBase(PlayingVoice(nil))
        #expect(rig.cycle() == nil && rig.voice.stream == nil)
        rig.reopen(terms, order: 2)
        rig.voice.setBase(PlayingVoice(nil))
        #expect(rig.voice.hasStream)
    }

    @Test func `another stream takes the place of one that still has its socket`() {
        var rig = Rig()
        let former = rig.link
        rig.reopen(Rig.terms(.aLaw))
        #expect(former.takeOutward().end == .replaced)
        #expect(rig.voice.hasStream)
    }
}

extension StreamFrame {
    /// Whether it is the last message of a stream.
    fileprivate var isEnd: Bool { if case .text(let text) = self { text.contains("\"type\":\"end\"") } else { false } }
}
