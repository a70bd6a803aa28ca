import AudioStreams
import TestSupport
import Testing

struct PacingBufferTests {
    /// 160 bytes are 20 ms.
    private static func buffer(_ capacity: Int = 60, patience: Int = 40) -> PacingBuffer {
        PacingBuffer(.muLaw, .init(capacity: capacity, patience: patience))
    }

    private static func audio(_ milliseconds: Int, _ value: UInt8 = 1) -> [UInt8] {
        [UInt8](repeating: value, count: 8 * milliseconds)
    }

    @Test(arguments: [1, 7, 159, 160, 161, 8_000])
    func `audio of any pieces leaves whole and in order`(_ size: Int) throws {
        let sent = (0..<8_000).map { UInt8(truncatingIfNeeded: $0 * 7) }
        var buffer = Self.buffer()
        for start in stride(from: 0, to: sent.count, by: size) {
            #expect(try buffer.append(Array(sent[start..<min(start + size, sent.count)])) == [])
        }
        var left: [UInt8] = []
        for _ in 0..<50 {
            guard case .frame(let frame) = buffer.tick().playout else { break }
            #expect(frame.count == 160)
            left += frame
        }
        #expect(left == sent)
        #expect(buffer.heard == 1_000)
        #expect(buffer.tick().playout == .silence)
        #expect(buffer.heard == 1_000, "silence is not heard of the bot")
    }

    @Test func `a rest waits for 40 ms and leaves with silence behind it`() throws {
        var buffer = Self.buffer()
        _ = try buffer.append(Self.audio(5))
        #expect(buffer.tick().playout == .silence)
        #expect(buffer.tick().playout == .silence)
        let rest = PacingBuffer.Playout.frame(Self.audio(5) + [UInt8](repeating: 0xFF, count: 120))
        let (playout, events) = buffer.tick()
        #expect(playout == rest)
        #expect(events == [.drained(isAsked: false)])
        #expect(buffer.heard == 5)
    }

    @Test func `a rest that more audio follows leaves with it`() throws {
        var buffer = Self.buffer()
        _ = try buffer.append(Self.audio(5, 1))
        #expect(buffer.tick().playout == .silence)
        _ = try buffer.append(Self.audio(15, 2))
        #expect(buffer.tick().playout == .frame(Self.audio(5, 1) + Self.audio(15, 2)))
    }

    @Test func `a rest of audio that is complete does not wait`() throws {
        var buffer = Self.buffer()
        _ = try buffer.append(Self.audio(25))
        buffer.finish()
        #expect(buffer.tick().playout == .frame(Self.audio(20)))
        #expect(buffer.tick().playout == .frame(Self.audio(5) + [UInt8](repeating: 0xFF, count: 120)))
    }

    @Test func `marks are told when the audio before them was heard`() throws {
        var buffer = Self.buffer()
        #expect(try buffer.mark("now") == [.marked("now", heard: 0, wasCleared: false)])
        _ = try buffer.append(Self.audio(30))
        #expect(try buffer.mark("middle") == [])
        _ = try buffer.append(Self.audio(30))
        #expect(try buffer.mark("end") == [])
        #expect(buffer.tick().events == [])
        #expect(buffer.tick().events == [.marked("middle", heard: 30, wasCleared: false)])
        #expect(buffer.tick().events == [.marked("end", heard: 60, wasCleared: false), .drained(isAsked: false)])
        #expect(buffer.tick().events == [])
    }

    @Test func `clear answers all marks with what was heard`() throws {
        var buffer = Self.buffer()
        _ = try buffer.append(Self.audio(100))
        _ = try buffer.mark("a")
        _ = try buffer.append(Self.audio(100))
        _ = try buffer.mark("b")
        _ = buffer.tick()
        #expect(
            buffer.clear() == [
                .marked("a", heard: 20, wasCleared: true), .marked("b", heard: 20, wasCleared: true),
                .cleared(heard: 20),
            ])
        #expect(buffer.tick().events == [])
        #expect(buffer.tick().playout == .silence)
        // What follows counts from there.
        _ = try buffer.append(Self.audio(20))
        _ = try buffer.mark("c")
        #expect(buffer.tick().events.first == .marked("c", heard: 40, wasCleared: false))
    }

    @Test func `a pause keeps what waits, and clear ends it`() throws {
        var buffer = Self.buffer()
        _ = try buffer.append(Self.audio(60))
        buffer.pause()
        #expect(!buffer.isPlaying)
        #expect(buffer.tick().playout == .silence)
        #expect(buffer.tick().events == [])
        #expect(buffer.heard == 0)
        buffer.resume()
        #expect(buffer.tick().playout == .frame(Self.audio(20)))
        buffer.pause()
        _ = buffer.clear()
        _ = try buffer.append(Self.audio(20, 9))
        #expect(buffer.tick().playout == .frame(Self.audio(20, 9)))
    }

    @Test func `the bot is told to pause and to resume, once each`() throws {
        var buffer = Self.buffer(2)
        #expect(try buffer.append(Self.audio(1_480)) == [])
        #expect(try buffer.append(Self.audio(20)) == [.pause])
        #expect(try buffer.append(Self.audio(20)) == [])
        #expect(buffer.status == StreamStatus(waiting: 1_520, high: 1_500, low: 1_000, isFull: true, isPaused: false))
        for _ in 0..<25 { #expect(buffer.tick().events == []) }
        #expect(buffer.tick().events == [.resume])
        #expect(buffer.waiting == 1_000)
        #expect(buffer.tick().events == [])
    }

    @Test func `an hour at once is kept up to the capacity, and the rest is told`() throws {
        var buffer = Self.buffer(2)
        #expect(try buffer.append(Self.audio(3_600_000)) == [.pause])
        #expect(buffer.waiting == 2_000)
        let events = buffer.tick().events
        guard case .refused(let fault)? = events.first else {
            Issue.record("nothing was told: \(events)")
            return
        }
        #expect(fault.code == .bufferFull)
        #expect(fault.sentence.contains("3598000 ms"))
        #expect(buffer.tick().events == [], "it is told once")
    }

    @Test func `samples stay whole where the buffer is full`() throws {
        let format = try #require(StreamFormat(.l16, rate: 8_000))
        var buffer = PacingBuffer(format, .init(capacity: 1))
        _ = try buffer.append([7])
        _ = try buffer.append([UInt8](repeating: 0, count: 20_000))
        #expect(buffer.waiting <= 1_000)
        var bytes = 0
        while case .frame(let frame) = buffer.tick().playout { bytes += frame.count }
        #expect(bytes.isMultiple(of: 2))
    }

    @Test func `marks are limited`() throws {
        var buffer = PacingBuffer(.muLaw, .init(maximumMarks: 2))
        _ = try buffer.append(Self.audio(20))
        _ = try buffer.mark("a")
        _ = try buffer.mark("b")
        let fault = #expect(throws: StreamFault.self) { try buffer.mark("c") }
        #expect(fault?.code == .tooLong)
    }

    @Test func `drained is told when asked, also if nothing waits`() throws {
        var buffer = Self.buffer()
        #expect(buffer.tick().events == [])
        buffer.askWhenDrained()
        #expect(buffer.tick().events == [.drained(isAsked: true)])
        #expect(buffer.tick().events == [])
        _ = try buffer.append(Self.audio(40))
        buffer.askWhenDrained()
        #expect(buffer.tick().events == [])
        #expect(buffer.tick().events == [.drained(isAsked: true)])
    }

    /// The first byte of an Opus packet says how long it is: 0x98 20 ms, 0x90 10 ms, 0x18 60 ms, 0x80 2.5 ms.
    @Test(
        arguments: [
            ([0x98, 0x98], [1, 1]), ([0x90, 0x90, 0x90], [2, 1]), ([0x18, 0x98], [1, 0, 0, 1]),
            ([0x80, 0x80, 0x98], [3, 0]),
        ] as [([UInt8], [Int])])
    func `packets leave when they are due`(_ heads: [UInt8], _ counts: [Int]) throws {
        var buffer = PacingBuffer(.opus)
        for (index, head) in heads.enumerated() { _ = try buffer.append([head, UInt8(index)]) }
        var left: [[UInt8]] = []
        for count in counts {
            guard case .packets(let packets) = buffer.tick().playout else {
                Issue.record("silence before all is heard")
                return
            }
            #expect(packets.count == count)
            left += packets
        }
        #expect(left.map { $0[0] } == heads)
        #expect(left.map { $0[1] } == (0..<heads.count).map { UInt8($0) })
        #expect(buffer.tick().playout == .silence)
    }

    @Test func `what is no packet is refused`() {
        var buffer = PacingBuffer(.opus)
        for packet in [[], [0x7B], [0x7B, 0], [UInt8](repeating: 0x98, count: 1_276)] as [[UInt8]] {
            #expect(throws: StreamFault.self) { try buffer.append(packet) }
        }
        #expect(buffer.waiting == 0)
    }

    /// Whatever a bot does: what came was heard, waits, was cleared or was refused, and each mark is answered once.
    @Test(arguments: 0..<40)
    func `nothing is lost silently`(_ seed: UInt64) throws {
        var random = SeededRandomSource(seed: seed)
        var buffer = Self.buffer(1)
        var (sent, cleared, refused, marks, answered) = (0, 0, 0, 0, 0)
        func note(_ events: [StreamEvent]) {
            for event in events {
                switch event {
                case .marked: answered += 1
                case .refused(let fault):
                    let number = fault.sentence.split(separator: " ").compactMap { Int($0) }
                    refused += number.last ?? 0
                default: break
                }
            }
        }
        for _ in 0..<400 {
            switch random.next() % 8 {
            case 0...2:
                let count = Int(random.next() % 40)
                sent += count
                note(try buffer.append(Self.audio(count)))
            case 3:
                marks += 1
                note(try buffer.mark("m"))
            case 4 where random.next() % 8 == 0:
                cleared += buffer.waiting
                note(buffer.clear())
            case 5 where random.next() % 4 == 0: buffer.pause()
            case 6: buffer.resume()
            default: note(buffer.tick().events)
            }
        }
        note(buffer.tick().events)
        #expect(sent == buffer.heard + buffer.waiting + cleared + refused)
        note(buffer.clear())
        #expect(marks == answered)
    }
}
