import CallControl
import CallRuntime
import Cryptography
import DTLS
import Logging
import MediaServer
import Observability
import PeerSupport
import Primitives
import SDP
import Testing

/// A media server with three workers, and one call of two peers on each of the first two: `a` talks to `b`, and `c` to
/// `d`.
struct MovingRig {
    /// Each call's number names its worker; the last one's is the third's.
    static let (first, second, third, last) = (CallID(30), CallID(31), CallID(32), CallID(35))

    let server: MediaServer
    let metrics = GatewayMetrics(version: "test", startTime: 0)
    let events = RecordedEvents()
    let a: LoopbackPeer
    let b: LoopbackPeer
    let c: LoopbackPeer
    let d: LoopbackPeer
    private var sequence: UInt16 = 1_000
    /// RTP packets that peers have sent.
    private(set) var sentPackets: UInt64 = 0

    /// - Parameter transport: what `d`, whose leg moves, comes over.
    init(over transport: PeerLink.Transport = .udp) throws {
        server = try MediaServer(
            configuration: MediaServer.Configuration(
                bind: [IPAddress(v4: 0x7F00_0001)], firstPort: 0, tcpPort: 0, workers: 3,
                consentTimeout: .seconds(3_600)),
            metrics: metrics, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() },
            events: { [events] _, event in events.append(event) })
        (a, b, c) = (try LoopbackPeer(role: .client), try LoopbackPeer(role: .client), try LoopbackPeer(role: .client))
        d = try LoopbackPeer(role: .client, over: transport)
        start(Self.first, a, b)
        start(Self.second, c, d, calleeOver: transport)
    }

    var peers: [LoopbackPeer] { [a, b, c, d] }

    private func start(
        _ call: CallID, _ caller: LoopbackPeer, _ callee: LoopbackPeer, calleeOver transport: PeerLink.Transport = .udp
    ) {
        let worker = Int(call.rawValue % 3)
        for leg in [LegID.caller, .callee] { server.send(.prepare(leg, Self.credentials(of: leg, call)), for: call) }
        talk(.caller, .callee, in: call)
        connect(.caller, caller, Self.credentials(of: .caller, call), in: call)
        connect(.callee, callee, Self.credentials(of: .callee, call), in: call)
        caller.connect(to: server.localAddresses[worker], Self.credentials(of: .caller, call))
        let addresses = transport == .udp ? server.localAddresses : server.listenerAddresses
        callee.connect(to: addresses[worker], Self.credentials(of: .callee, call))
    }

    static func credentials(of leg: LegID, _ call: CallID) -> ICECredentials {
        ICECredentials(
            ufrag: "gateway\(leg == .caller ? "A" : "B")\(call.rawValue)", password: "password of the gateway")
    }

    /// Two legs hear each other.
    func talk(_ one: LegID, _ other: LegID, in call: CallID) {
        server.send(.route(one, .leg(other)), for: call)
        server.send(.route(other, .leg(one)), for: call)
    }

    /// Both descriptions of a leg are known.
    ///
    /// - Parameter video: what the peer sends its video as, if it has any.
    func connect(_ leg: LegID, _ peer: LoopbackPeer, _ local: ICECredentials, in call: CallID, video: SSRC? = nil) {
        let pcmu = Codec(payloadType: PayloadType(0)!, name: "PCMU", clockRate: 8_000)
        var negotiated = NegotiatedLeg(
            transport: NegotiatedTransport(
                local: local, remote: peer.credentials, remoteFingerprints: [peer.fingerprint], role: .server),
            media: [
                NegotiatedMedia(
                    mid: "0", kind: .audio, direction: .sendReceive, isRejected: false, codecs: [pcmu], extensions: [],
                    remoteSources: [],
                    localSSRC: SSRC(UInt32(local.ufrag.utf8.reduce(0) { $0 &* 31 &+ UInt64($1) } % 0xFFFF_0000)),
                    localRetransmissionSSRC: nil)
            ])
        if let video {
            let vp8 = Codec(payloadType: PayloadType(96)!, name: "VP8", clockRate: 90_000, feedback: ["nack pli"])
            negotiated.media.append(
                NegotiatedMedia(
                    mid: "1", kind: .video, direction: .sendReceive, isRejected: false, codecs: [vp8], extensions: [],
                    remoteSources: [AnnouncedSource(ssrc: video)], localSSRC: SSRC(~video.rawValue),
                    localRetransmissionSSRC: nil))
        }
        server.send(.connect(leg, negotiated), for: call)
    }

    /// Lets the peers go on until the condition holds, at most for a minute.
    func wait(until condition: () -> Bool) throws -> Bool {
        for _ in 0..<3_000 where !condition() {
            for peer in peers { _ = try peer.run(for: .milliseconds(5)) }
        }
        return condition()
    }

    /// Goes on until all peers have keys and both calls have media.
    mutating func establish() throws {
        #expect(try wait { peers.allSatisfy(\.isConnected) && metrics.dtlsHandshakes[.completed].value == 4 })
        try expectMedia(between: a, b)
        try expectMedia(between: c, d)
    }

    /// Lets both talk until each hears the other: what was asked for has been done, unless they heard each other before
    /// (`expectArrival`). From then on everything arrives, and all of it can be decrypted.
    mutating func expectMedia(
        between one: LoopbackPeer, _ other: LoopbackPeer, _ sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        for peer in [one, other] { peer.clear() }
        for _ in 0..<500 where one.received.isEmpty || other.received.isEmpty {
            try send(from: one, other)
            for peer in [one, other] { _ = try peer.run(for: .milliseconds(10)) { !$0.received.isEmpty } }
        }
        for round in 1...5 {
            for peer in [one, other] { peer.clear() }
            try send(from: one, other)
            for peer in [one, other] {
                #expect(
                    try peer.run(for: .seconds(60)) { !$0.received.isEmpty }, "each hears the other, round \(round)",
                    sourceLocation: sourceLocation)
            }
        }
        #expect(one.failures + other.failures == 0, sourceLocation: sourceLocation)
    }

    /// Waits until a leg is part of the call that it was moved to, and until what was asked of that call meanwhile is
    /// done. Two peers that heard each other before the moves, too, would show nothing by hearing each other.
    func expectArrival(
        of leg: LegID, in call: CallID, _ sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        for _ in 0..<3_000 {
            if await server.statistics(of: call)?.legs.contains(where: { $0.leg == leg }) == true { return }
            for peer in peers { _ = try peer.run(for: .milliseconds(5)) }
        }
        Issue.record("\(leg) has not arrived in \(call)", sourceLocation: sourceLocation)
    }

    mutating func send(from peers: LoopbackPeer...) throws {
        sequence &+= 1
        for peer in peers { try peer.send(packet()) }
        sentPackets += UInt64(peers.count)
    }

    func packet() -> [UInt8] { Rig.packet(sequence: sequence, timestamp: UInt32(sequence) * 160, ssrc: 0xAAAA) }

    /// What the owners of calls ask for when `d` leaves the second call for the first, where `a` and `b` are, and `b`
    /// leaves.
    mutating func move(
        _ leg: LegID = .callee, from former: CallID = second, to call: CallID = first, as name: LegID, with other: LegID
    ) {
        server.send(.adopt(leg, from: former, as: name), for: call)
        talk(name, other, in: call)
    }
}
