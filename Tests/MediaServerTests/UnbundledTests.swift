import CallControl
import CallRuntime
import DTLS
import Logging
import MediaServer
import Observability
import PeerSupport
import Primitives
import SDP
import Testing

/// Peers that do not bundle: two associations, one leg (docs/adr/0007).
@Suite(.serialized)
struct UnbundledTests {
    @Test func `sound and pictures have ways of their own, in both directions`() throws {
        let rig = try SpreadRig()
        try rig.establish()
        try rig.expectMedia()
        #expect(rig.metrics.dtlsHandshakes[.completed].value == 3)
        #expect(rig.metrics.mediaSessionsActive.value == 3)
        #expect(
            rig.sound.received.allSatisfy { $0[1] & 0x7F == 0 }
                && rig.picture.received.allSatisfy { $0[1] & 0x7F == 96 })
        try rig.expectNothingLeft()
    }

    @Test func `reports go over the transport of what they are about`() throws {
        let rig = try SpreadRig()
        try rig.establish()
        try rig.expectMedia()
        let gateways = [SpreadRig.soundSSRC, SpreadRig.pictureSSRC]
        #expect(try rig.wait { !rig.sound.reporters.isEmpty && !rig.picture.reporters.isEmpty })
        #expect(rig.sound.reporters == [gateways[0]] && rig.picture.reporters == [gateways[1]])
        try rig.expectNothingLeft()
    }

    @Test func `the loss of the pictures' transport is no loss of the leg`() throws {
        let rig = try SpreadRig(certificate: .ofAnother(for: .picture))
        try rig.connect()
        #expect(
            try rig.wait {
                rig.metrics.dtlsHandshakes[.fingerprintMismatch].value == 1 && rig.sound.isConnected
                    && rig.other.isConnected
            })
        #expect(try rig.wait { rig.hears(rig.other, 0) && rig.hears(rig.sound, 0) })
        #expect(
            rig.events.contains(.pathSecured(.caller)) && !rig.events.contains(.failed(.caller, .fingerprintMismatch))
        )
        try rig.expectNothingLeft()
    }

    @Test func `the loss of the sound's transport is that of the leg`() throws {
        let rig = try SpreadRig(certificate: .ofAnother(for: .sound))
        try rig.connect()
        #expect(try rig.wait { rig.events.contains(.failed(.caller, .fingerprintMismatch)) })
        try rig.expectNothingLeft()
    }

    @Test func `the pictures' transport ends with its m-line and begins with another`() throws {
        let rig = try SpreadRig()
        try rig.establish()
        rig.connectCaller(video: nil)
        #expect(try rig.wait { rig.metrics.mediaSessionsActive.value == 2 })
        #expect(try rig.wait { rig.hears(rig.other, 0) && rig.hears(rig.sound, 0) })
        let renewed = ICECredentials(ufrag: "gatewayX", password: "another password of the gateway")
        let picture = try LoopbackPeer(role: .client)
        rig.connectCaller(video: renewed, picture)
        picture.connect(to: rig.gateway, renewed)
        #expect(try rig.wait { try picture.run(for: .milliseconds(10)) { $0.isConnected } })
        #expect(try rig.wait { rig.sees(rig.other, from: picture) && rig.sees(picture, from: rig.other) })
        try rig.expectNothingLeft()
    }

    @Test func `ICE is restarted on one transport, and the other goes on`() throws {
        let rig = try SpreadRig()
        try rig.establish()
        let renewed = ICECredentials(ufrag: "gatewayX", password: "another password of the gateway")
        rig.picture.restart(renewed)
        let answered = rig.picture.answeredChecks
        rig.connectCaller(video: renewed, rig.picture)
        #expect(try rig.wait { rig.picture.answeredChecks > answered })
        try rig.expectMedia()
        #expect(rig.metrics.dtlsHandshakes[.completed].value == 3)
        try rig.expectNothingLeft()
    }

    @Test func `a leg goes to another worker with all of its transports, and comes back`() async throws {
        let rig = try SpreadRig()
        try rig.establish()
        try rig.expectMedia()
        for (from, to, name) in [
            (SpreadRig.first, SpreadRig.second, LegID.callee), (SpreadRig.second, SpreadRig.first, .caller),
        ] {
            rig.move(from: from, to: to, as: name)
            rig.server.send(.release, for: from)
            var legs = 0
            for _ in 0..<1_000 where legs < 2 {
                _ = try rig.sound.run(for: .milliseconds(10))
                legs = await rig.server.statistics(of: to)?.legs.count ?? 0
            }
            #expect(legs == 2)
            try rig.expectMedia()
        }
        #expect(rig.metrics.dtlsHandshakes[.completed].value == 3, "nobody shook hands again")
        #expect(rig.metrics.mediaSessionsActive.value == 3)
        try rig.expectNothingLeft()
    }
}

/// A caller that does not bundle, two peers in one, and a callee that does.
private struct SpreadRig {
    /// On different workers.
    static let (first, second) = (CallID(30), CallID(31))
    static let (soundSSRC, pictureSSRC) = (SSRC(0xA0), SSRC(0xA1))

    enum Line { case sound, picture }
    enum CertificateOf {
        case itself
        case ofAnother(for: Line)
    }

    let server: MediaServer
    let metrics = GatewayMetrics(version: "test", startTime: 0)
    let events = RecordedEvents()
    let sound: LoopbackPeer
    let picture: LoopbackPeer
    let other: LoopbackPeer
    let gateway: SocketAddress
    private let certificate: CertificateOf
    private let counter = Counter()
    private let local = ["sound", "picture", "other"].map {
        ICECredentials(ufrag: "gateway-" + $0, password: "password of the gateway")
    }

    private final class Counter {
        var next: UInt16 = 0
        var call = first
    }

    init(certificate: CertificateOf = .itself) throws {
        self.certificate = certificate
        server = try MediaServer(
            configuration: MediaServer.Configuration(bind: [IPAddress(v4: 0x7F00_0001)], firstPort: 0, workers: 2),
            metrics: metrics,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() },
            events: { [events] _, event in events.append(event) })
        gateway = server.localAddresses[0]
        (sound, picture, other) = (
            try LoopbackPeer(role: .client), try LoopbackPeer(role: .client), try LoopbackPeer(role: .client)
        )
    }

    func connect() throws {
        server.send(.prepare(.caller, local[0]), for: Self.first)
        server.send(.prepare(.callee, local[2]), for: Self.first)
        talk(.caller, .callee, in: Self.first)
        connectCaller(video: local[1])
        let media = [Self.audio(SSRC(0xB0)), Self.video(SSRC(0xB1))]
        server.send(.connect(.callee, NegotiatedLeg(transport: agreed(local[2], other), media: media)), for: Self.first)
        for (peer, credentials) in zip([sound, picture, other], local) { peer.connect(to: gateway, credentials) }
    }

    func establish() throws {
        try connect()
        #expect(try wait { metrics.dtlsHandshakes[.completed].value == 3 })
    }

    /// What the caller and the gateway agree on.
    ///
    /// - Parameter credentials: the gateway's for the transport of the video; `nil`: the m-line is rejected.
    func connectCaller(video credentials: ICECredentials?, _ peer: LoopbackPeer? = nil) {
        var video = Self.video(Self.pictureSSRC)
        video.transport = TransportNumber(ofLine: 1)
        if credentials == nil { (video.isRejected, video.direction, video.codecs) = (true, .inactive, []) }
        let sound = agreed(local[0], sound, certificate.isForged(.sound))
        var leg = NegotiatedLeg(transport: sound, media: [Self.audio(Self.soundSSRC), video])
        if let credentials {
            leg.furtherTransports[video.transport] = agreed(
                credentials, peer ?? picture, certificate.isForged(.picture))
        }
        server.send(.connect(.caller, leg), for: Self.first)
    }

    func talk(_ one: LegID, _ other: LegID, in call: CallID) {
        server.send(.route(one, .leg(other)), for: call)
        server.send(.route(other, .leg(one)), for: call)
    }

    /// Both legs become another call's, each under the name of the other.
    ///
    /// - Parameter name: what the leg of the peer that does not bundle is called there.
    func move(from: CallID, to: CallID, as name: LegID) {
        let (former, latter) = (name == .callee ? (LegID.caller, LegID.callee) : (.callee, .caller))
        server.send(.adopt(former, from: from, as: latter), for: to)
        server.send(.adopt(latter, from: from, as: former), for: to)
        talk(.caller, .callee, in: to)
    }

    // MARK: Media

    func wait(until condition: () throws -> Bool) throws -> Bool {
        for _ in 0..<1_000 {
            if try condition() { return true }
            for peer in [sound, picture, other] { _ = try peer.run(for: .milliseconds(10)) }
        }
        return try condition()
    }

    private func say(_ payloadType: UInt8, from peer: LoopbackPeer) throws {
        counter.next &+= 1
        let timestamp = UInt32(counter.next) * 160
        let ssrc: UInt32 = payloadType == 0 ? 0xAAAA : 0xBBBB
        try peer.send(
            Rig.packet(
                payloadType, sequence: counter.next, timestamp: timestamp, ssrc: ssrc,
                [UInt8](repeating: 0x10, count: 40)))
    }

    private func arrives(_ payloadType: UInt8, at peer: LoopbackPeer, from sender: LoopbackPeer) -> Bool {
        do {
            try say(payloadType, from: sender)
            return try peer.run(for: .milliseconds(20)) { $0.received.contains { $0[1] & 0x7F == payloadType } }
        } catch {
            Issue.record(error)
            return false
        }
    }

    func hears(_ peer: LoopbackPeer, _ payloadType: UInt8) -> Bool {
        arrives(payloadType, at: peer, from: peer === other ? sound : other)
    }

    func sees(_ peer: LoopbackPeer, from sender: LoopbackPeer) -> Bool { arrives(96, at: peer, from: sender) }

    /// Everything that is sent from now on arrives where it should.
    func expectMedia(_ sourceLocation: SourceLocation = #_sourceLocation) throws {
        for peer in [sound, picture, other] { peer.clear() }
        let flows = try wait {
            // None of them is looked at before all have been asked for.
            [hears(sound, 0), hears(other, 0), sees(picture, from: other), sees(other, from: picture)].allSatisfy(
                \.self)
        }
        #expect(flows, "sound and pictures go both ways", sourceLocation: sourceLocation)
        #expect(sound.failures + picture.failures + other.failures == 0, sourceLocation: sourceLocation)
    }

    func expectNothingLeft() throws {
        for call in [Self.first, Self.second] { server.send(.release, for: call) }
        #expect(try wait { metrics.mediaSessionsActive.value == 0 })
        server.stop()
    }

    // MARK: Agreements

    private func agreed(_ local: ICECredentials, _ peer: LoopbackPeer, _ isForged: Bool = false) -> NegotiatedTransport
    {
        let fingerprint = isForged ? Fingerprint(.sha256, digest: [UInt8](repeating: 7, count: 32)) : peer.fingerprint
        return NegotiatedTransport(
            local: local, remote: peer.credentials, remoteFingerprints: [fingerprint], role: .server)
    }

    private static func audio(_ ssrc: SSRC) -> NegotiatedMedia {
        NegotiatedMedia(
            mid: "0", kind: .audio, direction: .sendReceive, isRejected: false,
            codecs: [Codec(payloadType: PayloadType(0)!, name: "PCMU", clockRate: 8_000)], extensions: [],
            remoteSources: [],
            localSSRC: ssrc, localRetransmissionSSRC: nil)
    }

    private static func video(_ ssrc: SSRC) -> NegotiatedMedia {
        NegotiatedMedia(
            mid: "1", kind: .video, direction: .sendReceive, isRejected: false,
            codecs: [Codec(payloadType: PayloadType(96)!, name: "VP8", clockRate: 90_000, feedback: ["nack pli"])],
            extensions: [],
            remoteSources: [], localSSRC: ssrc, localRetransmissionSSRC: nil)
    }
}

extension SpreadRig.CertificateOf {
    fileprivate func isForged(_ line: SpreadRig.Line) -> Bool {
        if case .ofAnother(for: line) = self { true } else { false }
    }
}

extension LoopbackPeer {
    /// Who has sent reports to this peer (RFC 3550 §6.4).
    fileprivate var reporters: Set<SSRC> {
        Set(receivedControl.map { SSRC($0[4..<8].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }) })
    }
}
