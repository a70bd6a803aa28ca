import Audio
import MediaPlane
import MediaServer
import Primitives
import RTP
import SDP
import TestSupport

/// Two legs of a bridge, or several in a mix, and the engine between them, in virtual time, without sockets and
/// ciphers.
struct EngineRig {
    static let a = LegIndex(0)
    static let b = LegIndex(1)

    /// A packet as the engine made it, and when.
    struct Sent {
        var leg: LegIndex
        /// Cycles since the beginning.
        var cycle: Int
        var marker: Bool
        var payloadType: Int
        var number: UInt16
        var timestamp: UInt32
        var payload: [UInt8]
    }

    private(set) var bridge: Bridge
    let engine: AudioEngine
    private(set) var clock = VirtualClock()
    private var random = SeededRandomSource(seed: 7)
    private(set) var sent: [Sent] = []
    /// The digits that peers press, as the worker hears them.
    private var digits = HeardDigits()
    private var cycle = 0
    private var numbers: [UInt16] = [65_530, 100, 7_000, 40_000]
    private var videoNumber: UInt16 = 0

    init(
        a codecsOfA: [Codec], b codecsOfB: [Codec], packetTime: PacketTime = PacketTime(),
        source: MediaSource = .leg(Self.a),
        engine: AudioEngine = AudioEngine()
    ) {
        self.engine = engine
        bridge = Bridge(cname: "cname", wallClock: WallClock(showing: NTPTimestamp(unixNanoseconds: 0), at: clock.now))
        for (leg, codecs) in [(Self.a, codecsOfA), (Self.b, codecsOfB)] {
            precondition(bridge.addLeg(random: &random) == leg, "legs take the first free places")
            bridge.configure(
                leg, Self.negotiated(codecs, leg == Self.b ? packetTime : PacketTime()), random: &random, at: clock.now)
            bridge.peerReady(leg, at: clock.now)
        }
        setSource(source)
    }

    /// Legs that all hear each other.
    ///
    /// - Parameter showing: those that have video, too.
    init(mixing legs: [[Codec]], showing: Set<Int> = [], engine: AudioEngine = AudioEngine()) {
        self.engine = engine
        bridge = Bridge(cname: "cname", wallClock: WallClock(showing: NTPTimestamp(unixNanoseconds: 0), at: clock.now))
        for (place, codecs) in legs.enumerated() { join(codecs, showsItself: showing.contains(place)) }
    }

    /// One more leg that hears all others.
    mutating func join(_ codecs: [Codec], showsItself: Bool = false) {
        guard let leg = bridge.addLeg(random: &random) else { preconditionFailure("there is room for four legs") }
        precondition(leg.rawValue < 4, "each has numbers of its own")
        bridge.setSource(.mix, of: .audio, for: leg, at: clock.now)
        engine.update(to: &bridge, at: clock.now)
        var negotiated = Self.negotiated(codecs, PacketTime())
        if showsItself { negotiated.media.append(Self.video(of: leg)) }
        bridge.configure(leg, negotiated, random: &random, at: clock.now)
        bridge.peerReady(leg, at: clock.now)
        engine.update(to: &bridge, at: clock.now)
    }

    mutating func leave(_ leg: LegIndex) {
        bridge.removeLeg(leg, at: clock.now)
        digits.forget(leg)
        engine.update(to: &bridge, at: clock.now)
    }

    /// What b hears.
    mutating func setSource(_ source: MediaSource) {
        bridge.setSource(source, of: .audio, for: Self.b, at: clock.now)
        engine.update(to: &bridge, at: clock.now)
    }

    private static func negotiated(_ codecs: [Codec], _ packetTime: PacketTime) -> NegotiatedLeg {
        let credentials = ICECredentials(ufrag: "ufrag", password: "password-of-22-characters")
        var audio = NegotiatedMedia(
            mid: "0", kind: .audio, direction: .sendReceive, isRejected: false, codecs: codecs, extensions: [],
            remoteSources: [],
            localSSRC: SSRC(0xA0), localRetransmissionSSRC: nil)
        audio.packetTime = packetTime
        return NegotiatedLeg(
            transport: NegotiatedTransport(
                local: credentials, remote: credentials, remoteFingerprints: [], role: .server), media: [audio])
    }

    private static func video(of leg: LegIndex) -> NegotiatedMedia {
        let vp8 = Codec(payloadType: PayloadType(96)!, name: "VP8", clockRate: 90_000, feedback: ["nack pli"])
        return NegotiatedMedia(
            mid: "1", kind: .video, direction: .sendReceive, isRejected: false, codecs: [vp8], extensions: [],
            remoteSources: [AnnouncedSource(ssrc: videoSource(of: leg))], localSSRC: SSRC(0xB0),
            localRetransmissionSSRC: nil)
    }

    private static func videoSource(of leg: LegIndex) -> SSRC { SSRC(0x1000 + UInt32(leg.rawValue)) }

    /// A headless leg hears this from now on; a, unless it is given.
    @discardableResult
    mutating func listen(_ voice: any HeadlessVoice, to source: MediaSource = .leg(Self.a)) -> LegIndex {
        guard let leg = bridge.addHeadlessLeg(random: &random, at: clock.now) else {
            preconditionFailure("there is room for another leg")
        }
        engine.setVoice(voice, of: leg)
        route(leg, to: source)
        return leg
    }

    /// What a leg hears.
    mutating func route(_ leg: LegIndex, to source: MediaSource) {
        bridge.setSource(source, of: .audio, for: leg, at: clock.now)
        engine.update(to: &bridge, at: clock.now)
    }

    /// a has agreed on something else.
    mutating func renegotiate(a codecs: [Codec]) {
        bridge.configure(Self.a, Self.negotiated(codecs, PacketTime()), random: &random, at: clock.now)
        engine.update(to: &bridge, at: clock.now)
    }

    // MARK: Time

    /// Lets 20 ms go by, with what they bring; the worker comes `late` to it.
    mutating func runCycle(late: Duration = .zero) {
        let now = clock.now + late
        _ = engine.startCycle(at: now)
        while let output = engine.nextPacket(&bridge, at: now) { keep(output) }
        for found in engine.takeDetectedDigits() { digits.detected(found.digit, of: found.leg, at: now) }
        digits.timeout(at: now)
        clock.advance(by: AudioEngine.interval)
        cycle += 1
    }

    /// Time passes without a cycle, because the worker is late.
    mutating func stall(_ duration: Duration) { clock.advance(by: duration) }

    mutating func run(cycles: Int) {
        for _ in 0..<cycles { runCycle() }
    }

    private mutating func keep(_ output: AudioEngine.Output) {
        let bytes = Array(engine.packet[..<output.count])
        guard let header = try? RTPHeader(parsing: bytes.span) else { preconditionFailure("the engine makes packets") }
        sent.append(
            Sent(
                leg: output.leg, cycle: cycle, marker: header.marker, payloadType: Int(header.payloadType.rawValue),
                number: header.sequenceNumber.rawValue, timestamp: header.timestamp.rawValue,
                payload: Array(bytes[header.payloadRange])))
    }

    mutating func forget() { sent = [] }

    /// DTMF digits are pressed for b; a test that fails cannot show the engine itself.
    ///
    /// - Parameters:
    ///   - duration: of each digit, milliseconds.
    ///   - gap: after each digit, milliseconds.
    func press(_ digits: String, duration: Int, gap: Int) -> Bool {
        engine.press(DigitQueue(digits, duration: .milliseconds(duration), gap: .milliseconds(gap)), for: Self.b)
    }

    /// What has become of a's audio.
    var receivedFromA: AudioPlayout.Statistics? { engine.played(from: Self.a) }

    /// How loud a leg is, and what is said to it.
    func heard(from leg: LegIndex) -> AudioLevel? { engine.level(of: leg) }
    func spoken(to leg: LegIndex) -> AudioLevel? { engine.spokenLevel(to: leg) }

    var isPressing: Bool { engine.isPressing(Self.b) }

    /// The digits that peers have pressed since the last call.
    mutating func takeDigits() -> [HeardDigits.Digit] { digits.take() }

    // MARK: Video

    /// A packet of video comes from a leg; returns the legs that it goes to.
    mutating func viewers(of leg: LegIndex) -> [LegIndex] {
        videoNumber &+= 1
        var packet = [UInt8](repeating: 0, count: RTPHeader.fixedLength + 4)
        let header = RTPHeader(
            marker: true, payloadType: PayloadType(96)!, sequenceNumber: SequenceNumber(videoNumber),
            timestamp: RTPTimestamp(UInt32(cycle) * 1_800), ssrc: Self.videoSource(of: leg))
        var span = packet.mutableSpan
        header.writeNew(to: &span)
        guard case .media(let arrival) = bridge.receive(span.span, from: leg, at: clock.now) else { return [] }
        return (0..<arrival.receiverCount).compactMap { receiver in
            var copy = packet
            var span = copy.mutableSpan
            guard
                case .relay(let viewer, _, _) = bridge.relay(
                    arrival, toReceiver: receiver, in: &span, count: packet.count, at: clock.now)
            else { return nil }
            return viewer
        }
    }

    /// Legs that were asked for a key frame since the last look.
    mutating func keyFrameRequests() -> [LegIndex] {
        var asked: [LegIndex] = []
        while let output = bridge.poll() {
            guard case .transmitControl(let bytes, let leg, _) = output else { continue }
            guard let compound = try? RTCPCompound(parsing: bytes.span) else {
                preconditionFailure("the bridge's RTCP parses")
            }
            for case .pictureLossIndication(let indication) in compound.packets
            where indication.media == Self.videoSource(of: leg) {
                asked.append(leg)
            }
        }
        return asked
    }

    // MARK: What a says

    /// A packet from a, or from another leg, comes in; the number goes on by itself.
    mutating func receive(
        _ payload: [UInt8], from leg: LegIndex = Self.a, payloadType: Int, timestamp: UInt32, marker: Bool = false,
        ssrc: UInt32 = 0xAAAA
    ) {
        numbers[Int(leg.rawValue)] &+= 1
        var packet = [UInt8](repeating: 0, count: RTPHeader.fixedLength)
        let header = RTPHeader(
            marker: marker, payloadType: PayloadType(payloadType)!,
            sequenceNumber: SequenceNumber(numbers[Int(leg.rawValue)]),
            timestamp: RTPTimestamp(timestamp), ssrc: SSRC(ssrc))
        var span = packet.mutableSpan
        header.writeNew(to: &span)
        packet += payload
        guard case .media(let arrival) = bridge.receive(packet.span, from: leg, at: clock.now) else { return }
        if arrival.concernsDigits { digits.receive(arrival, payload.span, at: clock.now) }
        if arrival.isDecoded { engine.receive(arrival, payload: payload.span, at: clock.now) }
    }
}

extension Codec {
    static func audio(
        _ payloadType: Int, _ name: String, _ clockRate: Int, channels: Int = 1, _ parameters: String? = nil
    ) -> Codec {
        Codec(
            payloadType: PayloadType(payloadType)!, name: name, clockRate: clockRate, channels: channels,
            parameters: parameters)
    }

    static func opus(_ parameters: String? = nil) -> Codec { audio(111, "opus", 48_000, channels: 2, parameters) }
    static let pcmu = audio(0, "PCMU", 8_000)
    static let pcma = audio(8, "PCMA", 8_000)
    static let g722 = audio(9, "G722", 8_000)
    static let comfortNoise = audio(13, "CN", 8_000)
    static let events8 = audio(101, "telephone-event", 8_000)
    static let events48 = audio(110, "telephone-event", 48_000)
}

/// Plays a sine of 440 Hz for ever; samples count on even while nobody hears them.
final class SinePlayer: AudioPlayer {
    private var oscillator = Oscillator(frequency: 440)
    private(set) var played = 0
    var amplitude: Double

    init(amplitude: Double = 8_000) { self.amplitude = amplitude }

    func next(into samples: inout MutableSpan<Int16>) -> Bool {
        for index in samples.indices { samples[index] = Int16(amplitude * oscillator.next()) }
        played += samples.count
        return true
    }
}
