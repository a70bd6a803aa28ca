import CallControl
import CallRuntime
import DTLS
import Logging
import MediaServer
import Observability
import PeerSupport
import Primitives
import SDP

/// One anchored call of one m-line on a media server of its own, with both peers connected.
struct BenchCall {
    let server: MediaServer
    let caller: LoopbackPeer
    let callee: LoopbackPeer

    init(id: CallID, _ codec: Codec = .pcmu) throws {
        server = try Self.server()
        (caller, callee) = try Self.connect(id, codec, to: server)
    }

    /// With one worker on loopback.
    ///
    /// Wake-ups are not paced. The benchmark's peers send a burst and wait until it has been answered, so that a worker
    /// that leaves its sockets alone would only make both wait; `load` has packets that are spread.
    static func server() throws -> MediaServer {
        var configuration = MediaServer.Configuration(bind: [IPAddress(v4: 0x7F00_0001)], firstPort: 0)
        configuration.pacesWakeUps = false
        return try MediaServer(
            configuration: configuration,
            metrics: GatewayMetrics(version: "bench", startTime: 0),
            logger: Logger(label: "bench") { _ in SwiftLogNoOpLogHandler() },
            events: { _, _ in })
    }

    /// Opens a call on `server` and connects two new peers to it.
    static func connect(
        _ id: CallID, _ codec: Codec = .pcmu, to server: MediaServer
    ) throws -> (caller: LoopbackPeer, callee: LoopbackPeer) {
        let gateway = server.localAddresses[0]
        let peers = (caller: try LoopbackPeer(role: .client), callee: try LoopbackPeer(role: .client))
        for (leg, peer) in [(LegID.caller, peers.caller), (.callee, peers.callee)] {
            let local = ICECredentials(ufrag: "\(id)-\(leg)", password: "a password of twenty-two")
            server.send(.prepare(leg, local), for: id)
            let remote = (credentials: peer.credentials, fingerprint: peer.fingerprint)
            server.send(.connect(leg, negotiated(local, remote, codec, ssrc: leg == .caller ? 1 : 2)), for: id)
            peer.connect(to: gateway, local)
        }
        for (leg, other) in [(LegID.caller, LegID.callee), (.callee, .caller)] {
            server.send(.route(leg, .leg(other)), for: id)
        }
        for _ in 0..<400 where !(peers.caller.isConnected && peers.callee.isConnected) {
            _ = try peers.caller.run(for: .milliseconds(20)) { $0.isConnected }
            _ = try peers.callee.run(for: .milliseconds(20)) { $0.isConnected }
        }
        return peers
    }

    /// Opens a call on `server` between two new peers, who speak different codecs.
    static func connect(
        _ id: CallID, of peers: LoadPeers, voices: (LoadPeer.Voice, LoadPeer.Voice), to server: MediaServer
    ) throws {
        var connecting: [LoadPeer] = []
        for (leg, voice) in [(LegID.caller, voices.0), (.callee, voices.1)] {
            let peer = peers.add(voice)
            let local = ICECredentials(ufrag: "\(id)-\(leg)", password: "a password of twenty-two")
            let remote = (credentials: peer.credentials, fingerprint: peer.fingerprint)
            server.send(.prepare(leg, local), for: id)
            server.send(.connect(leg, negotiated(local, remote, voice.codec, ssrc: leg == .caller ? 1 : 2)), for: id)
            peer.learn(local)
            connecting.append(peer)
        }
        for (leg, other) in [(LegID.caller, LegID.callee), (.callee, .caller)] {
            server.send(.route(leg, .leg(other)), for: id)
        }
        try peers.connect(connecting, to: server.localAddresses[0])
    }

    private static func negotiated(
        _ local: ICECredentials, _ remote: (credentials: ICECredentials, fingerprint: Fingerprint), _ codec: Codec,
        ssrc: UInt32
    ) -> NegotiatedLeg {
        NegotiatedLeg(
            transport: NegotiatedTransport(
                local: local, remote: remote.credentials, remoteFingerprints: [remote.fingerprint], role: .server),
            media: [
                NegotiatedMedia(
                    mid: "0", kind: codec.name == "VP8" ? .video : .audio, direction: .sendReceive, isRejected: false,
                    codecs: [codec], extensions: [], remoteSources: [], localSSRC: SSRC(ssrc),
                    localRetransmissionSSRC: nil)
            ])
    }
}

extension Codec {
    static let pcmu = Codec(payloadType: payloadType(0), name: "PCMU", clockRate: 8_000)
    /// Of a receiver that has what it misses repeated, or of one that does not.
    static func vp8(isRepeated: Bool) -> Codec {
        Codec(payloadType: payloadType(96), name: "VP8", clockRate: 90_000, feedback: isRepeated ? ["nack"] : [])
    }
    static let opus = Codec(payloadType: payloadType(111), name: "opus", clockRate: 48_000, channels: 2)

    private static func payloadType(_ value: Int) -> PayloadType {
        guard let type = PayloadType(value) else { preconditionFailure("\(value) fits seven bits") }
        return type
    }
}
