import Audio
import CallControl
import MediaPlane
import MediaServer
import Primitives
import RTP
import SDP
import TestSupport
import Testing

/// A call between two headless legs (docs/adr/0009): decided by `Call`, carried by `Bridge` and `AudioEngine`, in
/// virtual time. There is no peer, no description and no packet.
struct HeadlessCallTests {
    /// Says what another voice says, and keeps that and all that it hears.
    private final class RecordingVoice: HeadlessVoice {
        let voice: any HeadlessVoice
        private(set) var said: [Int16] = []
        private(set) var heard: [Int16] = []

        init(_ voice: any HeadlessVoice) { self.voice = voice }

        var channels: Int { voice.channels }

        func speak(into samples: inout MutableSpan<Int16>) -> Bool {
            let speaks = voice.speak(into: &samples)
            for index in 0..<AudioMixer.frame { said.append(speaks ? samples[index] : 0) }
            return speaks
        }

        func hear(_ samples: Span<Int16>, channels: Int) {
            for index in 0..<AudioMixer.frame { heard.append(samples[index * channels]) }
            voice.hear(samples, channels: channels)
        }
    }

    /// The part of a media worker that headless legs need.
    private struct World {
        var clock = VirtualClock()
        var random = SeededRandomSource(seed: 11)
        var bridge: Bridge
        let engine = AudioEngine()
        var places: [LegID: LegIndex] = [:]
        var voices: [LegID: RecordingVoice] = [:]
        var packets = 0
        var isReleased = false

        init() {
            bridge = Bridge(
                cname: "cname", wallClock: WallClock(showing: NTPTimestamp(unixNanoseconds: 0), at: clock.now))
        }

        mutating func perform(_ actions: [CallAction]) throws {
            for action in actions {
                switch action {
                case .prepareHeadless(let leg, let source):
                    let added = bridge.addHeadlessLeg(random: &random, at: clock.now)
                    let place = try #require(added)
                    places[leg] = place
                    voices[leg] = RecordingVoice(Self.voice(of: source))
                    engine.setVoice(voices[leg], of: place)
                case .route(let leg, .leg(let other)):
                    bridge.setSource(
                        .leg(try #require(places[other])), of: .audio, for: try #require(places[leg]), at: clock.now)
                case .releaseMedia:
                    isReleased = true
                    bridge.end(at: clock.now)
                case .event, .detach: break
                default: Issue.record("headless legs have no use for \(action)")
                }
            }
            engine.update(to: &bridge, at: clock.now)
        }

        private static func voice(of source: HeadlessSource) -> any HeadlessVoice {
            switch source {
            case .echo(let delay): EchoVoice(delay: delay)
            case .playback: PlayingVoice(TonePlayer(ToneCadence(.dial, in: .itu)))
            case .silence: PlayingVoice(nil)
            }
        }

        mutating func run(for duration: Duration) {
            let end = clock.now + duration
            while clock.now < end {
                _ = engine.startCycle(at: clock.now)
                while engine.nextPacket(&bridge, at: clock.now) != nil { packets += 1 }
                clock.advance(by: AudioEngine.interval)
            }
        }
    }

    private static func party(_ name: String, _ source: HeadlessSource) throws -> CallParty {
        CallParty(
            user: try #require(UserAddress(parsing: "\(name)@example.com")), name: name, session: SessionID(name),
            endpoint: .application(source))
    }

    private static func identity(_ name: String) -> LegIdentity {
        LegIdentity(
            sessionID: 1, canonicalName: name, streamID: name,
            credentials: ICECredentials(ufrag: name, password: "password+password+password"),
            fingerprint: Fingerprint(.sha256, digest: [UInt8](repeating: 7, count: 32)), candidates: [])
    }

    @Test func `a robot with a tone calls the echo robot, and hears its tone a second later`() throws {
        var world = World()
        let (tone, echo) = (HeadlessSource.playback(Playback(.tone(.dial))), HeadlessSource.echo(delay: .seconds(1)))
        let parties = PerLeg(caller: try Self.party("tone", tone), callee: try Self.party("echo", echo))
        var call = Call(
            id: CallID(1), parties: parties, configuration: .init(headlessDuration: .seconds(2 * 86_400)))
        let media = MediaMode.anchored(PerLeg(caller: Self.identity("caller"), callee: Self.identity("callee")))
        try world.perform(
            call.start(
                CallStartRequest(callee: parties.callee.user, sdp: ""), media: media, at: world.clock.now,
                random: &world.random))
        #expect(world.engine.nextCycle == nil)
        try world.perform(
            call.answer(by: .callee, CallAnswerRequest(sdp: ""), at: world.clock.now, random: &world.random))

        world.run(for: .seconds(10))
        let (caller, callee) = (try #require(world.voices[.caller]), try #require(world.voices[.callee]))
        #expect(caller.said.contains { abs($0) > 1_000 })
        #expect(callee.heard == caller.said)
        #expect(caller.heard.prefix(48_000).allSatisfy { $0 == 0 })
        #expect(caller.heard.dropFirst(48_000).elementsEqual(caller.said.dropLast(48_000)))
        let output = world.bridge.poll()
        #expect(world.packets == 0 && output == nil)

        // A day later neither leg has been missed.
        world.clock.advance(by: .seconds(86_400))
        let late = call.timeout(at: world.clock.now, random: &world.random)
        #expect(late.isEmpty)
        try world.perform(call.end(by: .caller, from: nil, reasonText: nil, at: world.clock.now))
        #expect(world.isReleased && world.engine.nextCycle == nil)
    }
}
