import Audio
import CallControl
import MediaPlane
import MediaServer
import Primitives
import RTP
import SDP
import TestSupport

/// A call whose audio the gateway codes itself: bridge and engine as a worker drives them, in virtual time, without
/// sockets and ciphers. Each end speaks by a clock of its own, and over a network of its own whose loss and delay
/// change.
struct SimulatedConversation {
    typealias Network = VirtualNetwork<[UInt8]>

    /// What a leg's playout has come to.
    struct Playout {
        /// The most that ever waited, and the most beyond what was to be held back.
        var deepest = Duration.zero
        var excess = Duration.zero
    }

    private struct End {
        var voice: SimulatedVoice
        var network: Network
        var playout = Playout()
        var quality = QualityWatch()
        /// Opinion scores of what it sends, one per second.
        var scores: [Double] = []
        /// Payloads that it was sent, while it listens.
        var heard: [[UInt8]] = []
    }

    /// Packets are lost, doubled and held up by so much.
    private static let calm = Network.Conditions(latency: .milliseconds(20))

    private var bridge: Bridge
    private let engine = AudioEngine()
    private var clock = VirtualClock()
    private var random: SeededRandomSource
    private var ends: [End] = []
    private var isListening = false
    private var nextReports: MonotonicTime
    private var nextMeasurement: MonotonicTime

    /// - Parameter isMix: all hear each other; otherwise there are two, who hear each other coded anew.
    init(_ voices: [(frequency: Double, codec: AudioCodec, drift: Double)], isMix: Bool, seed: UInt64) throws {
        random = SeededRandomSource(seed: seed)
        (nextReports, nextMeasurement) = (clock.now, clock.now + QualityWatch.interval)
        bridge = Bridge(cname: "cname", wallClock: WallClock(showing: NTPTimestamp(unixNanoseconds: 0), at: clock.now))
        for (place, voice) in voices.enumerated() {
            guard let leg = bridge.addLeg(random: &random) else {
                preconditionFailure("a bridge has room for a few legs")
            }
            bridge.setSource(isMix ? .mix : .leg(LegIndex(1 - place)), of: .audio, for: leg, at: clock.now)
            ends.append(
                End(
                    voice: try SimulatedVoice(
                        voice.frequency, in: voice.codec, drift: voice.drift, ssrc: UInt32(0xAA00 + place),
                        from: clock.now),
                    network: Network(Self.calm, seed: random.next())))
        }
        for place in ends.indices {
            bridge.configure(LegIndex(place), Self.negotiated(ends[place].voice.codec), random: &random, at: clock.now)
            bridge.peerReady(LegIndex(place), at: clock.now)
        }
        engine.update(to: &bridge, at: clock.now)
    }

    private static func negotiated(_ codec: AudioCodec) -> NegotiatedLeg {
        let credentials = ICECredentials(ufrag: "ufrag", password: "password-of-22-characters")
        let audio = NegotiatedMedia(
            mid: "0", kind: .audio, direction: .sendReceive, isRejected: false, codecs: [codec.description],
            extensions: [], remoteSources: [],
            localSSRC: SSRC(0xA0), localRetransmissionSSRC: nil)
        return NegotiatedLeg(
            transport: NegotiatedTransport(
                local: credentials, remote: credentials, remoteFingerprints: [], role: .server), media: [audio])
    }

    // MARK: Time

    /// Lets time go by under these conditions, one for each end.
    mutating func run(for duration: Duration, under conditions: [Network.Conditions]) {
        for (place, condition) in conditions.enumerated() { ends[place].network.conditions = condition }
        let end = clock.now + duration
        while clock.now < end { runCycle() }
    }

    /// The same; returns what each end heard meanwhile.
    mutating func listen(for duration: Duration, under conditions: [Network.Conditions]) throws -> [[Int16]] {
        isListening = true
        run(for: duration, under: conditions)
        isListening = false
        defer { for place in ends.indices { ends[place].heard = [] } }
        return try ends.map { try $0.voice.codec.decode($0.heard) }
    }

    private mutating func runCycle() {
        let now = clock.now
        for place in ends.indices {
            while ends[place].voice.next <= now {
                let time = ends[place].voice.next
                let packet = ends[place].voice.packet()
                ends[place].network.send(packet, at: time)
            }
        }
        while let (place, time) = nextArrival(until: now) {
            for packet in ends[place].network.receive(at: time) { deliver(packet, from: LegIndex(place), at: time) }
        }
        report(at: now)
        _ = engine.startCycle(at: now)
        while let output = engine.nextPacket(&bridge, at: now) {
            if isListening {
                ends[Int(output.leg.rawValue)].heard.append(Array(engine.packet[RTPHeader.fixedLength..<output.count]))
            }
        }
        for place in ends.indices { look(at: place) }
        measure(at: now)
        clock.advance(by: AudioEngine.interval)
    }

    private func nextArrival(until now: MonotonicTime) -> (place: Int, time: MonotonicTime)? {
        var earliest: (place: Int, time: MonotonicTime)?
        for place in ends.indices {
            guard let time = ends[place].network.nextArrival, time <= earliest?.time ?? now else { continue }
            earliest = (place, time)
        }
        return earliest
    }

    private mutating func deliver(_ packet: [UInt8], from leg: LegIndex, at now: MonotonicTime) {
        guard case .media(let arrival) = bridge.receive(packet.span, from: leg, at: now), arrival.isDecoded else {
            return
        }
        engine.receive(arrival, payload: packet.span.extracting(arrival.header.payloadRange), at: now)
    }

    /// Reports of the ends every five seconds, and those of the gateway when it wants.
    private mutating func report(at now: MonotonicTime) {
        if now >= nextReports {
            nextReports = now + .seconds(5)
            for place in ends.indices {
                bridge.receiveControl(ends[place].voice.report(at: now).span, from: LegIndex(place), at: now)
            }
        }
        if let deadline = bridge.nextDeadline, deadline.time <= now { bridge.timeout(at: now) }
        while case .transmitControl(let bytes, _, _)? = bridge.poll() { bridge.recycle(bytes) }
    }

    /// As a worker does, once a second.
    private mutating func measure(at now: MonotonicTime) {
        guard now >= nextMeasurement else { return }
        nextMeasurement = now + QualityWatch.interval
        for place in ends.indices {
            let leg = LegIndex(place)
            guard let line = bridge.audioStatistics(of: leg) else { continue }
            _ = ends[place].quality.measure(line, engine.playoutQuality(of: leg), at: now)
            if let score = ends[place].quality.latest.sent?.mos { ends[place].scores.append(score) }
        }
    }

    private mutating func look(at place: Int) {
        guard let waiting = engine.waiting(from: LegIndex(place)) else { return }
        ends[place].playout.deepest = max(ends[place].playout.deepest, waiting.depth)
        ends[place].playout.excess = max(ends[place].playout.excess, waiting.depth - waiting.target)
    }

    // MARK: What has come of it

    var places: Range<Int> { ends.indices }
    func voice(_ place: Int) -> SimulatedVoice { ends[place].voice }
    /// Opinion scores of what an end sends (MOS-CQE, 1…4.5), one for each second that has gone by.
    func scores(of place: Int) -> [Double] { ends[place].scores }
    func playout(of place: Int) -> Playout { ends[place].playout }
    /// How much waits now, and how much should.
    func waiting(from place: Int) -> (depth: Duration, target: Duration)? { engine.waiting(from: LegIndex(place)) }
    func statistics(of place: Int) -> AudioPlayout.Statistics? { engine.played(from: LegIndex(place)) }
}
