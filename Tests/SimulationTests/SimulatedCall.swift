import ICE
import MediaPlane
import Primitives
import RTP
import SDP
import STUN
import TestSupport

struct TestAuthentication: MessageAuthentication {
    func hmacSHA1(key: [UInt8], _ message: Span<UInt8>) -> [UInt8] {
        SHA1.hmac(key: key, (0..<message.count).map { message[$0] })
    }
}

/// A whole anchored call in virtual time: two peers that check and send audio every 20 ms, lossy networks, and the
/// gateway's sessions and bridge between them. DTLS is played by the clock: it takes a while, then both ends have the
/// announced certificate.
struct SimulatedCall {
    enum Packet {
        case check([UInt8])
        case media([UInt8])
    }

    static let certificate = [UInt8](repeating: 9, count: 32)

    private(set) var clock = VirtualClock()
    private(set) var events: [LegIndex: [SessionEvent]] = [.a: [], .b: []]
    /// What each peer heard of the other: sequence numbers as they arrived.
    private(set) var heard: [LegIndex: [(header: RTPHeader, payload: [UInt8])]] = [.a: [], .b: []]
    private(set) var reports: [LegIndex: Int] = [.a: 0, .b: 0]
    private var sessions: [LegIndex: PeerSession]
    private var gate = MediaGate()
    private var bridge: Bridge
    private var toGateway: [LegIndex: VirtualNetwork<Packet>]
    private var toPeer: [LegIndex: VirtualNetwork<Packet>]
    private var handshakes: [LegIndex: MonotonicTime] = [:]
    private var random: SeededRandomSource
    private var sequence: UInt16 = 65_000
    private var frames: UInt32 = 0
    /// Peers that have gone without a word.
    var silent: Set<LegIndex> = []

    init(_ conditions: VirtualNetwork<Packet>.Conditions, seed: UInt64) {
        random = SeededRandomSource(seed: seed)
        let start = clock.now
        bridge = Bridge(
            cname: "simulated",
            wallClock: WallClock(showing: NTPTimestamp(unixNanoseconds: 1_700_000_000_000_000_000), at: start))
        for side in LegIndex.allCases {
            let added = bridge.addLeg(random: &random)
            precondition(added == side, "legs take the first free places")
        }
        for side in LegIndex.allCases { bridge.setSource(.leg(side.other), of: .audio, for: side, at: start) }
        sessions = Dictionary(
            uniqueKeysWithValues: LegIndex.allCases.map { ($0, PeerSession(local: Self.credentials("gate", $0))) })
        toGateway = Dictionary(
            uniqueKeysWithValues: LegIndex.allCases.map {
                ($0, VirtualNetwork(conditions, seed: seed &+ ($0 == .a ? 1 : 2)))
            })
        toPeer = Dictionary(
            uniqueKeysWithValues: LegIndex.allCases.map {
                ($0, VirtualNetwork(conditions, seed: seed &+ ($0 == .a ? 3 : 4)))
            })
        for side in LegIndex.allCases {
            let leg = Self.leg(side)
            bridge.configure(side, leg, random: &random, at: start)
            perform(sessions[side]?.connect(leg.transport, at: start) ?? [], side)
        }
    }

    /// Lets time pass, 10 ms a step.
    mutating func run(for duration: Duration) {
        let end = clock.now + duration
        while clock.now < end {
            step()
            clock.advance(by: .milliseconds(10))
        }
    }

    private mutating func step() {
        let now = clock.now
        frames += 1
        for side in LegIndex.allCases where !silent.contains(side) {
            if frames % 50 == 1 { toGateway[side]?.send(.check(Self.check(side, &random)), at: now) }
            if frames % 2 == 0, sessions[side]?.isEstablished == true {
                toGateway[side]?.send(.media(Self.audio(sequence, side)), at: now)
            }
        }
        if frames % 2 == 0 { sequence &+= 1 }
        for side in LegIndex.allCases {
            for packet in toGateway[side]?.receive(at: now) ?? [] { arrive(packet, from: side, at: now) }
            for packet in toPeer[side]?.receive(at: now) ?? [] {
                guard case .media(let bytes) = packet, let header = try? RTPHeader(parsing: bytes.span) else {
                    continue
                }
                heard[side]?.append((header, Array(bytes[header.payloadRange])))
            }
            if let due = handshakes[side], due <= now {
                handshakes[side] = nil
                let actions = sessions[side]?.handshakeCompleted { _ in Self.certificate } ?? []
                bridge.peerReady(side, at: now)
                perform(actions, side)
            }
            if let deadline = sessions[side]?.nextDeadline, deadline.time <= now {
                perform(sessions[side]?.timeout(at: now) ?? [], side)
            }
        }
        if let deadline = bridge.nextDeadline, deadline.time <= now { bridge.timeout(at: now) }
        while let output = bridge.poll() {
            switch output {
            case .transmitControl(let bytes, let side, _):
                reports[side, default: 0] += 1
                bridge.recycle(bytes)
            case .transmitMedia(let bytes, let side, _): toPeer[side]?.send(.media(bytes), at: now)
            case .audioChanged: break
            }
        }
    }

    private mutating func arrive(_ packet: Packet, from side: LegIndex, at now: MonotonicTime) {
        switch packet {
        case .check(let bytes):
            guard let message = try? STUNMessage(parsing: bytes.span) else { return }
            let actions =
                sessions[side]?.receive(
                    message, raw: bytes.span, over: Self.path(side), at: now, authentication: TestAuthentication())
                ?? []
            gate.checked(Self.path(side), by: side, actions)
            perform(actions, side)
        case .media(let bytes):
            guard gate.leg(for: Self.path(side), among: sessions) == side else { return }
            perform(sessions[side]?.mediaReceived() ?? [], side)
            var buffer = bytes
            var span = buffer.mutableSpan
            guard case .media(let arrival) = bridge.receive(span.span.extracting(0..<bytes.count), from: side, at: now)
            else { return }
            guard case .relay = bridge.relay(arrival, toReceiver: 0, in: &span, count: bytes.count, at: now) else {
                return
            }
            toPeer[side.other]?.send(.media(buffer), at: now)
        }
    }

    private mutating func perform(_ actions: [SessionAction], _ side: LegIndex) {
        for action in actions {
            gate.follow(action, of: side)
            switch action {
            case .event(let event): events[side]?.append(event)
            case .startHandshake: handshakes[side] = clock.now + .milliseconds(80)
            case .transmit(let bytes, _): toPeer[side]?.send(.check(bytes), at: clock.now)
            case .pathValidated, .pathForgotten, .fragmentRetired, .refused: break
            }
        }
    }

    // MARK: What the two ends look like

    private static func credentials(_ name: String, _ side: LegIndex) -> ICECredentials {
        ICECredentials(ufrag: "\(name)\(side)", password: "a password of twenty-two")
    }

    private static func path(_ side: LegIndex) -> Path {
        Path(local: SocketIndex(0), remote: SocketAddress(IPAddress(v4: 0xC000_0201), port: side == .a ? 1_000 : 2_000))
    }

    private static func check(_ side: LegIndex, _ random: inout SeededRandomSource) -> [UInt8] {
        STUNMessage(
            .request, .binding, TransactionID(using: &random),
            [.username("gate\(side):peer\(side)"), .priority(1), .iceControlling(tieBreaker: 1), .useCandidate]
        ).encoded(password: "a password of twenty-two", authentication: TestAuthentication())
    }

    private static func audio(_ sequence: UInt16, _ side: LegIndex) -> [UInt8] {
        var writer = ByteWriter()
        writer.write(UInt16(0x8000))
        writer.write(sequence)
        writer.write(UInt32(sequence) &* 160)
        writer.write(UInt32(side == .a ? 0xAAAA : 0xBBBB))
        writer.write(sequence)
        return writer.bytes
    }

    private static func leg(_ side: LegIndex) -> NegotiatedLeg {
        let codec = PayloadType(0).map { Codec(payloadType: $0, name: "PCMU", clockRate: 8_000) }
        return NegotiatedLeg(
            transport: NegotiatedTransport(
                local: credentials("gate", side), remote: credentials("peer", side),
                remoteFingerprints: [Fingerprint(.sha256, digest: certificate)], role: .server),
            media: [
                NegotiatedMedia(
                    mid: "0", kind: .audio, direction: .sendReceive, isRejected: false,
                    codecs: [codec].compactMap(\.self), extensions: [],
                    remoteSources: [], localSSRC: SSRC(side == .a ? 1 : 2), localRetransmissionSSRC: nil)
            ])
    }
}

extension LegIndex {
    static let a = LegIndex(0)
    static let b = LegIndex(1)
    static let allCases = [a, b]

    var other: LegIndex { self == .a ? .b : .a }
}
