import Audio
import Primitives
import TestSupport
import Testing

/// A decoder whose packets say where in a sine they begin: what comes out can be compared with what should have come
/// out.
private struct SineDecoder: AudioDecoder, ~Copyable {
    var hasRedundancy = false
    private var next = 0

    init(hasRedundancy: Bool = false) { self.hasRedundancy = hasRedundancy }

    static func payload(_ position: Int) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: position >> (8 * $0)) } }

    private func position(_ payload: Span<UInt8>) -> Int { (0..<4).reduce(0) { $0 | Int(payload[$1]) << (8 * $1) } }

    func sampleCount(of payload: Span<UInt8>) -> Int? { 960 }
    func carriesRedundancy(_ payload: Span<UInt8>) -> Bool { hasRedundancy }

    mutating func decode(_ payload: Span<UInt8>, into samples: inout MutableSpan<Int16>) throws(AudioCodecError) -> Int
    {
        guard payload.count == 4 else { throw .malformed }
        fill(&samples, from: position(payload), count: 960)
        return 960
    }

    mutating func recover(from payload: Span<UInt8>, into samples: inout MutableSpan<Int16>) throws(AudioCodecError) {
        fill(&samples, from: position(payload) - samples.count, count: samples.count)
    }

    /// Silence: so that a concealed part is known.
    mutating func conceal(into samples: inout MutableSpan<Int16>) {
        for index in samples.indices { samples[index] = 0 }
    }

    mutating func reset() {}

    private func fill(_ samples: inout MutableSpan<Int16>, from start: Int, count: Int) {
        for index in 0..<count { samples[index] = Int16(8_000 * sine(2 * .pi * 440 * Double(start + index) / 48_000)) }
    }
}

/// A sender, a network and a playout in virtual time.
private struct PlayoutRig: ~Copyable {
    var playout: AudioPlayout
    var decoder: SineDecoder
    private var arrivals: [(time: MonotonicTime, index: Int)] = []
    private var sent = 0
    private var clock = MonotonicTime(nanoseconds: 1_000_000_000)
    private var sendClock = MonotonicTime(nanoseconds: 1_000_000_000)
    private(set) var heard: [Int16] = []
    private(set) var deepest = Duration.zero
    /// The most that waited beyond what should be held back, in milliseconds.
    private(set) var excess = Duration.zero
    /// Of the sender's clock against ours, parts per million.
    var drift = 0.0
    var firstNumber: UInt16 = 65_500
    var firstTimestamp: UInt32 = .max - 5_000
    var keepsSound = true
    /// Packets that come twice: how long after it was sent the second one comes.
    var repetitions: [Int: Duration] = [:]

    init(hasRedundancy: Bool = false) {
        playout = AudioPlayout()
        decoder = SineDecoder(hasRedundancy: hasRedundancy)
    }

    /// - Parameter delay: of a packet, `nil` if it is lost.
    mutating func run(packets: Int, delay: (Int) -> Duration?) {
        for _ in 0..<packets {
            while sendClock <= clock {
                if let delay = delay(sent) { arrivals.append((sendClock + delay, sent)) }
                if let delay = repetitions[sent] { arrivals.append((sendClock + delay, sent)) }
                sent += 1
                sendClock = sendClock + .nanoseconds(Int64(20_000_000 * (1 - drift / 1_000_000)))
            }
            arrivals.sort { $0.time < $1.time }
            while let first = arrivals.first, first.time <= clock {
                arrivals.removeFirst()
                deliver(first.index, at: first.time)
            }
            var frame = [Int16](repeating: 0, count: 960)
            var span = frame.mutableSpan
            _ = playout.pull(into: &span, using: &decoder, at: clock)
            if keepsSound { heard += frame }
            deepest = max(deepest, playout.depth)
            excess = max(excess, playout.depth - playout.target)
            clock = clock + .milliseconds(20)
        }
    }

    mutating func deliver(_ index: Int, at time: MonotonicTime) {
        playout.insert(
            SineDecoder.payload(index * 960).span,
            number: SequenceNumber(firstNumber &+ UInt16(truncatingIfNeeded: index)),
            timestamp: RTPTimestamp(firstTimestamp &+ UInt32(truncatingIfNeeded: index &* 960)), clockRate: 48_000,
            sampleCount: 960, at: time)
    }
}

/// What may befall a stream of packets of 20 ms on a path that takes 10 ms, and what is to become of it.
private struct Course: Sendable, CustomTestStringConvertible {
    var testDescription: String
    /// Of the first packet.
    var number: UInt16 = 1_000
    var timestamp: UInt32 = 50_000
    /// Milliseconds that packet 90 takes; `nil` if it is lost.
    var delay: Int64? = 10
    /// Those after which it comes again.
    var repetition: Int64?
    /// What numbers and timestamps go on by from there, more than usual.
    var numberJump: UInt16 = 0
    var timestampJump: UInt32 = 0

    /// Packets.
    var late: UInt64 = 0
    var duplicate: UInt64 = 0
    var concealed: UInt64 = 0
    /// The stream begins anew, and has to be waited for again.
    var isInterrupted = false

    init(_ description: String, _ change: (inout Course) -> Void = { _ in }) {
        testDescription = description
        change(&self)
    }
}

struct AudioPlayoutTests {
    /// What was heard after the silence of the beginning.
    private static func spoken(_ heard: [Int16]) -> [Int16] { Array(heard.drop { $0 == 0 }) }

    @Test(arguments: [0, 4])
    func `on a steady path everything is heard exactly as it was said`(_ jitter: Int) {
        var rig = PlayoutRig()
        var random = SeededRandomSource(seed: 1)
        rig.run(packets: 500) { _ in .milliseconds(30 + (jitter == 0 ? 0 : Int(random.next() % UInt64(jitter)))) }
        let spoken = Self.spoken(rig.heard)
        let said = tone(440, count: spoken.count + 1).dropFirst()
        #expect(spoken.count > 490 * 960)
        #expect(spoken == Array(said.prefix(spoken.count)))
        #expect(rig.playout.statistics.concealed == 0)
        #expect(rig.playout.depth <= .milliseconds(60))
    }

    /// Frames and packets are out of step by as much as packets take.
    @Test(arguments: [0, 3, 6, 9, 12, 15, 18])
    func `a frame starts where a packet starts, and nothing of the packet waits for the next frame`(_ delay: Int) {
        var rig = PlayoutRig()
        rig.run(packets: 100) { _ in .milliseconds(delay) }
        // A sine begins with a 0.
        let start = rig.heard.firstIndex { $0 != 0 } ?? 0
        #expect(start % 960 == 1)
        #expect(rig.deepest <= .milliseconds(20))
        let statistics = rig.playout.statistics
        #expect(statistics.concealed + statistics.shortened + statistics.lengthened == 0)
    }

    @Test func `the first frame can be played at the earliest time that is told, and not before`() throws {
        var playout = AudioPlayout()
        var decoder = SineDecoder()
        let now = MonotonicTime(nanoseconds: 1_000_000_000)
        let none = playout.earliestStart(of: 960, at: now)
        #expect(none == nil)
        playout.insert(
            SineDecoder.payload(0).span, number: SequenceNumber(1), timestamp: RTPTimestamp(0), clockRate: 48_000,
            sampleCount: 960, at: now)
        let told = playout.earliestStart(of: 960, at: now)
        let start = try #require(told)
        #expect((10_000_000...10_100_000) ~= (start - now).wholeNanoseconds)
        var frame = [Int16](repeating: 0, count: 960)
        var span = frame.mutableSpan
        let isEarly = playout.pull(into: &span, using: &decoder, at: start - .microseconds(100))
        let isHeard = playout.pull(into: &span, using: &decoder, at: start + .microseconds(100))
        #expect(!isEarly && isHeard)
        let after = playout.earliestStart(of: 960, at: start)
        #expect(after == nil)
    }

    @Test func `a lost packet is concealed, once, and what follows is in its place`() {
        var rig = PlayoutRig()
        rig.run(packets: 100) { $0 == 50 ? nil : .milliseconds(10) }
        #expect(rig.playout.statistics.concealed == 960)
        let spoken = Self.spoken(rig.heard)
        #expect(
            Array(spoken[(51 * 960)..<(60 * 960)])
                == Array(tone(440, count: 60 * 960 + 1).dropFirst()[(51 * 960 + 1)...].prefix(9 * 960)))
    }

    @Test func `redundancy in the next packet brings it back`() {
        var rig = PlayoutRig(hasRedundancy: true)
        rig.run(packets: 100) { $0 == 50 ? nil : .milliseconds(10) }
        #expect(rig.playout.statistics.recovered == 960)
        #expect(rig.playout.statistics.concealed == 0)
        let spoken = Self.spoken(rig.heard)
        #expect(spoken == Array(tone(440, count: spoken.count + 1).dropFirst()))
    }

    /// Frames and packets are out of step by as much as packets take.
    @Test(arguments: [0, 3, 6, 9, 12, 15, 18])
    func `where packets get lost their redundancy is waited for, and no longer when none is lost any more`(_ delay: Int)
    {
        var rig = PlayoutRig(hasRedundancy: true)
        rig.run(packets: 1_000) { $0 % 20 == 10 ? nil : .milliseconds(delay) }
        #expect(rig.playout.statistics.concealed <= 960)
        #expect(rig.playout.statistics.recovered >= 48 * 960)
        #expect(rig.playout.target <= .milliseconds(50))
        rig.run(packets: 600) { _ in .milliseconds(delay) }
        #expect(rig.playout.target == .milliseconds(30))
        #expect(rig.playout.depth <= .milliseconds(60))
    }

    /// Until the packet after them comes, nobody knows whether they are lost or late.
    @Test(arguments: [1, 2, 3], [0, 5, 10, 15])
    func `lost packets in a row move nothing`(_ row: Int, _ delay: Int) {
        var rig = PlayoutRig(hasRedundancy: true)
        rig.run(packets: 300) { $0 % 20 < row ? nil : .milliseconds(delay) }
        let before = rig.playout.statistics
        rig.run(packets: 400) { $0 % 20 < row ? nil : .milliseconds(delay) }
        #expect(rig.playout.statistics.shortened == before.shortened)
        #expect(rig.playout.statistics.lengthened == before.lengthened)
        #expect(rig.playout.statistics.recovered - before.recovered == 20 * 960)
    }

    private static let courses = [
        Course("undisturbed"),
        Course("lost") { ($0.delay, $0.concealed) = (nil, 1) },
        Course("late") { ($0.delay, $0.late, $0.concealed) = (200, 1, 1) },
        Course("twice at once") { ($0.repetition, $0.duplicate) = (10, 1) },
        Course("twice, while it waits") { ($0.repetition, $0.duplicate) = (19, 1) },
        Course("twice, and the second one when the first has been played") { ($0.repetition, $0.late) = (200, 1) },
        Course("twice, and the first one late") { ($0.delay, $0.repetition, $0.late, $0.concealed) = (200, 210, 2, 1) },
        Course("lost, and sent again in time") { ($0.delay, $0.repetition) = (nil, 32) },
        Course("behind the next one") { $0.delay = 32 },
        Course("behind the next one, twice") { ($0.delay, $0.repetition, $0.duplicate) = (32, 32, 1) },
        Course("numbers begin anew at 0") { $0.number = 0 &- 90 },
        Course("timestamps begin anew at 0") { $0.timestamp = 0 &- 90 * 960 },
        Course("timestamps begin anew within a packet") { $0.timestamp = 0 &- 90 * 960 - 480 },
        Course("both begin anew at 0") { ($0.number, $0.timestamp) = (0 &- 90, 0 &- 90 * 960) },
        Course("both begin anew at 0, and the first packet after that is lost") {
            ($0.number, $0.timestamp, $0.delay, $0.concealed) = (0 &- 90, 0 &- 90 * 960, nil, 1)
        },
        Course("both begin anew at 0, and the first packet after that comes behind the next one") {
            ($0.number, $0.timestamp, $0.delay) = (0 &- 90, 0 &- 90 * 960, 32)
        },
        Course("only numbers jump ahead") { $0.numberJump = 20_000 },
        Course("only numbers jump back") { $0.numberJump = 0 &- 20_000 },
        Course("only timestamps jump ahead") { ($0.timestampJump, $0.isInterrupted) = (900_000_000, true) },
        Course("only timestamps jump back") { ($0.timestampJump, $0.isInterrupted) = (0 &- 900_000_000, true) },
        Course("both jump ahead") { ($0.numberJump, $0.timestampJump, $0.isInterrupted) = (20_000, 900_000_000, true) },
        Course("both jump back") {
            ($0.numberJump, $0.timestampJump, $0.isInterrupted) = (0 &- 20_000, 0 &- 900_000_000, true)
        },
    ]

    @Test(arguments: courses) private func `whatever befalls a stream, the rest is heard in its place`(_ course: Course)
    {
        var rig = PlayoutRig()
        (rig.firstNumber, rig.firstTimestamp) = (course.number, course.timestamp)
        rig.repetitions = course.repetition.map { [90: .milliseconds($0)] } ?? [:]
        let delay: (Int) -> Duration? = { index in
            index == 90 ? course.delay.map { .milliseconds($0) } : .milliseconds(10)
        }
        rig.run(packets: 90, delay: delay)
        rig.firstNumber &+= course.numberJump
        rig.firstTimestamp &+= course.timestampJump
        rig.run(packets: 60, delay: delay)
        let statistics = rig.playout.statistics
        #expect(statistics.late == course.late)
        #expect(statistics.duplicate == course.duplicate)
        #expect(statistics.concealed == course.concealed * 960)
        #expect(statistics.shortened + statistics.lengthened + statistics.refused + statistics.undecodable == 0)
        let spoken = Self.spoken(rig.heard)
        let said = Array(tone(440, count: spoken.count + 1).dropFirst())
        #expect(spoken.count > 146 * 960)
        // What comes after is where it would have been without. A sine begins with a 0, which does not count as spoken.
        let missing = zip(spoken, said).enumerated().filter { $1.0 != $1.1 }.map { $0.offset + 1 }
        // Whoever begins anew, as packet 89 does here, gives up what waited then.
        let lost = course.isInterrupted ? 88 : 90
        #expect(
            missing.allSatisfy { (lost * 960)..<(lost * 960 + 960) ~= $0 },
            "\(missing.first ?? 0)...\(missing.last ?? 0)")
        #expect(missing.isEmpty == (course.concealed == 0 && !course.isInterrupted))
    }

    @Test func `what comes twice or out of order changes nothing`() {
        var rig = PlayoutRig()
        rig.run(packets: 20) { _ in .milliseconds(40) }
        rig.run(packets: 60) { index in .milliseconds(index % 3 == 0 ? 59 : 40) }
        #expect(rig.playout.statistics.concealed == 0)
        rig.deliver(75, at: MonotonicTime(nanoseconds: 2_640_000_000))
        rig.deliver(3, at: MonotonicTime(nanoseconds: 2_640_000_000))
        #expect(rig.playout.statistics.late >= 1)
    }

    @Test func `a burst goes by, and the depth returns`() {
        var rig = PlayoutRig()
        rig.run(packets: 200) { _ in .milliseconds(20) }
        // A second in which nothing comes, and then everything at once.
        rig.run(packets: 50) { index in .milliseconds(20 + max(0, 1_000 - (index - 200) * 20)) }
        rig.run(packets: 1_500) { _ in .milliseconds(20) }
        #expect(rig.playout.depth <= .milliseconds(80), "\(rig.playout.depth)")
        #expect(rig.excess <= AudioPlayout.Configuration().cap, "\(rig.excess)")
        #expect(rig.deepest <= .milliseconds(620), "the cap, and what is held back at most: \(rig.deepest)")
    }

    /// The path's own delay is the least of ten seconds, and no packet was in time for as long.
    @Test(arguments: [300, 500, 800, 1_500, 3_000])
    func `a path that becomes slower for good is followed a second after its first packet`(_ milliseconds: Int) {
        var rig = PlayoutRig()
        rig.run(packets: 300) { _ in .milliseconds(20) }
        rig.run(packets: milliseconds / 20 + 60) { _ in .milliseconds(20 + milliseconds) }
        let before = rig.playout.statistics
        rig.run(packets: 200) { _ in .milliseconds(20 + milliseconds) }
        let after = rig.playout.statistics
        #expect(after.concealed == before.concealed && after.late == before.late)
        #expect(after.shortened == before.shortened && after.lengthened == before.lengthened)
        #expect(rig.playout.depth < .milliseconds(100), "\(rig.playout.depth)")
        #expect(rig.deepest <= .milliseconds(620), "\(rig.deepest)")
    }

    @Test(arguments: [1_300, 2_000]) func `a stall that ends in a burst is no slower path`(_ milliseconds: Int) {
        var rig = PlayoutRig()
        rig.run(packets: 300) { .milliseconds(20 + ($0 % 4) * 20) }
        let target = rig.playout.target
        // All packets of the stall come at its end, in their order.
        let stalled = milliseconds / 20
        rig.run(packets: stalled + 10) { index in
            .microseconds(1_000 * max(20, 20 + milliseconds - (index - 301) * 20) + index % 100)
        }
        #expect(rig.playout.target >= target, "what was known of the path is kept")
    }

    @Test(arguments: [300.0, -300.0])
    func `a clock that drifts is followed`(_ drift: Double) {
        var rig = PlayoutRig()
        rig.drift = drift
        rig.run(packets: 15_000) { _ in .milliseconds(20) }
        let moved = Int64(rig.playout.statistics.shortened) - Int64(rig.playout.statistics.lengthened)
        // Five minutes at 300 ppm are 90 ms, 4,320 samples.
        #expect(abs(moved - Int64(drift / 300 * 4_320)) < 1_800, "\(moved)")
        #expect(rig.playout.depth < .milliseconds(100))
        #expect(rig.playout.statistics.concealed < 2_000)
        let steps = zip(rig.heard, rig.heard.dropFirst()).map { abs(Int($1) - Int($0)) }
        #expect(steps.max() ?? 0 < 1_200, "no clicks: a sine of 440 Hz moves by 461 at most")
    }

    @Test func `a stream that begins anew elsewhere is heard`() {
        var rig = PlayoutRig()
        rig.run(packets: 100) { _ in .milliseconds(20) }
        rig.firstTimestamp = rig.firstTimestamp &+ 900_000_000
        rig.firstNumber = rig.firstNumber &+ 20_000
        rig.run(packets: 100) { _ in .milliseconds(20) }
        #expect(Self.spoken(Array(rig.heard.suffix(90 * 960))).count > 85 * 960)
    }

    @Test func `an hour of a bad network: nothing grows, and little is missed`() {
        let seed = UInt64.random(in: 0...UInt64.max)
        print("seed", seed)
        var random = SeededRandomSource(seed: seed)
        var rig = PlayoutRig()
        rig.keepsSound = false
        for (index, drift) in [300.0, -300].enumerated() {
            rig.drift = drift
            rig.run(packets: 90_000) { number in
                if random.next() % 100 < 5 { return nil }
                let route = number / 45_000 % 2 == index % 2 ? 100 : 0
                return .milliseconds(30 + route + Int(random.next() % 60))
            }
        }
        let statistics = rig.playout.statistics
        #expect(rig.deepest < .milliseconds(500), "\(rig.deepest)")
        #expect(rig.excess <= AudioPlayout.Configuration().cap, "\(rig.excess)")
        #expect(Double(statistics.concealed) / Double(statistics.played) < 0.12)
        #expect(rig.playout.depth < .milliseconds(250))
    }
}
