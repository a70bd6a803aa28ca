import Audio
import MediaPlane
import MediaServer
import Primitives
import RTP
import SDP
import TestSupport
import Testing

/// Headless legs in the audio engine: voices speak and hear 20 ms at a time, without packets.
struct HeadlessAudioTests {
    /// Says a number, and keeps the first sample of all that it hears.
    private final class Counter: HeadlessVoice {
        var channels: Int { 1 }
        var says: Int16?
        private(set) var heard: [Int16] = []

        init(says: Int16? = nil) { self.says = says }

        func speak(into samples: inout MutableSpan<Int16>) -> Bool {
            guard let says else { return false }
            for index in samples.indices { samples[index] = says }
            return true
        }

        func hear(_ samples: Span<Int16>, channels: Int) { heard.append(samples[0]) }
    }

    private struct Rig {
        var bridge: Bridge
        let engine = AudioEngine()
        var clock = VirtualClock()
        var random = SeededRandomSource(seed: 7)

        init() {
            bridge = Bridge(
                cname: "cname", wallClock: WallClock(showing: NTPTimestamp(unixNanoseconds: 0), at: clock.now))
        }

        mutating func add(_ voice: any HeadlessVoice) throws -> LegIndex {
            let added = bridge.addHeadlessLeg(random: &random, at: clock.now)
            let leg = try #require(added)
            engine.setVoice(voice, of: leg)
            return leg
        }

        mutating func route(_ leg: LegIndex, to source: MediaSource) {
            bridge.setSource(source, of: .audio, for: leg, at: clock.now)
            engine.update(to: &bridge, at: clock.now)
        }

        /// Returns how many packets there were.
        mutating func run(cycles: Int) -> Int {
            var packets = 0
            for _ in 0..<cycles {
                _ = engine.startCycle(at: clock.now)
                while engine.nextPacket(&bridge, at: clock.now) != nil { packets += 1 }
                clock.advance(by: AudioEngine.interval)
            }
            return packets
        }
    }

    @Test func `two headless legs hear each other, and no packet is made`() throws {
        var rig = Rig()
        let (one, other) = (Counter(says: 5), Counter(says: 7))
        let (a, b) = (try rig.add(one), try rig.add(other))
        #expect(rig.engine.nextCycle == nil, "nobody hears anybody")
        rig.route(a, to: .leg(b))
        rig.route(b, to: .leg(a))
        var packets = rig.run(cycles: 3)
        #expect(one.heard == [7, 7, 7])
        #expect(other.heard == [5, 5, 5])
        other.says = nil
        packets += rig.run(cycles: 1)
        #expect(packets == 0)
        #expect(one.heard.last == 0)
        rig.route(a, to: .silence)
        rig.route(b, to: .silence)
        #expect(rig.engine.nextCycle == nil, "nobody hears anybody any more")
    }

    @Test func `an echo says what it has heard after exactly its delay`() throws {
        var rig = Rig()
        let talker = Counter()
        let (a, b) = (try rig.add(talker), try rig.add(EchoVoice(delay: .milliseconds(100))))
        rig.route(a, to: .leg(b))
        rig.route(b, to: .leg(a))
        for number in 1...20 {
            talker.says = Int16(number)
            _ = rig.run(cycles: 1)
        }
        #expect(talker.heard == [0, 0, 0, 0, 0] + (1...15).map { Int16($0) })
    }

    @Test func `in a mix a headless leg hears the others, and not itself`() throws {
        var rig = Rig()
        let voices = [Counter(says: 100), Counter(says: 20), Counter(says: 3)]
        for voice in voices { rig.route(try rig.add(voice), to: .mix) }
        _ = rig.run(cycles: 50)
        #expect(voices.map { $0.heard.last } == [23, 103, 120])
    }

    @Test func `a player that ends leaves a voice silent`() throws {
        var rig = Rig()
        let ear = Counter()
        let sound = Sound([Int16](repeating: 9, count: 960 + 480))
        let (a, b) = (try rig.add(ear), try rig.add(PlayingVoice(SamplePlayer(sound, from: 0, repeats: false))))
        rig.route(a, to: .leg(b))
        _ = rig.run(cycles: 4)
        #expect(ear.heard == [9, 9, 0, 0])
    }

    @Test func `a headless leg hears what is played to it, and then another leg`() throws {
        var rig = Rig()
        let ear = Counter()
        let (a, b) = (try rig.add(ear), try rig.add(Counter(says: 5)))
        let sound = Sound([Int16](repeating: 9, count: 960 + 480))
        rig.engine.setPlayer(SamplePlayer(sound, from: 0, repeats: true), number: 0)
        rig.route(a, to: .player(0))
        var packets = rig.run(cycles: 3)
        #expect(ear.heard == [9, 9, 9])
        rig.route(a, to: .leg(b))
        packets += rig.run(cycles: 2)
        #expect(ear.heard == [9, 9, 9, 5, 5] && packets == 0)
    }

    @Test func `a headless leg goes on in another call, and sends no goodbye`() throws {
        var (rig, other) = (Rig(), Rig())
        let (mover, stayer, host) = (Counter(says: 5), Counter(says: 6), Counter(says: 7))
        let (a, b) = (try rig.add(mover), try rig.add(stayer))
        rig.route(a, to: .leg(b))
        rig.route(b, to: .leg(a))
        _ = rig.run(cycles: 1)
        let taken = rig.bridge.takeLeg(a, at: rig.clock.now)
        rig.engine.setVoice(nil, of: a)
        rig.engine.update(to: &rig.bridge, at: rig.clock.now)
        let c = try other.add(host)
        let inserted = other.bridge.insertLeg(try #require(taken), at: other.clock.now)
        let moved = try #require(inserted)
        other.engine.setVoice(mover, of: moved)
        other.route(moved, to: .leg(c))
        other.route(c, to: .leg(moved))
        _ = other.run(cycles: 1)
        #expect((mover.heard, host.heard) == ([6, 7], [5]))
        rig.bridge.removeLeg(b, at: rig.clock.now)
        other.bridge.end(at: other.clock.now)
        let outputs = [rig.bridge.poll(), other.bridge.poll()]
        #expect(outputs == [nil, nil])
    }
}
