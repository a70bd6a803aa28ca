import CallControl
import CallRuntime
import DTLS
import Logging
import MediaServer
import Observability
import PeerSupport
import Primitives
import SDP

/// One anchored audio call on a media server of its own, with both peers connected.
struct BenchCall {
    let server: MediaServer
    let caller: LoopbackPeer
    let callee: LoopbackPeer

    init(id: CallID) throws {
        server = try MediaServer(
            configuration: MediaServer.Configuration(bind: [IPAddress(v4: 0x7F00_0001)], firstPort: 0),
            metrics: GatewayMetrics(version: "bench", startTime: 0), logger: Logger(label: "bench") { _ in SwiftLogNoOpLogHandler() },
            events: { _, _ in })
        (caller, callee) = try Self.connect(id, to: server)
    }

    /// Opens a call on `server` and connects two new peers to it.
    static func connect(_ id: CallID, to server: MediaServer) throws -> (caller: LoopbackPeer, callee: LoopbackPeer) {
        let gateway = server.localAddresses[0]
        let peers = (caller: try LoopbackPeer(role: .client), callee: try LoopbackPeer(role: .client))
        for (leg, peer) in [(Leg.caller, peers.caller), (.callee, peers.callee)] {
            let local = ICECredentials(ufrag: "\(id)-\(leg)", password: "a password of twenty-two")
            server.send(.prepare(leg, local), for: id)
            server.send(.connect(leg, negotiated(local, peer, ssrc: leg == .caller ? 1 : 2)), for: id)
            peer.connect(to: gateway, local)
        }
        for (leg, other) in [(Leg.caller, Leg.callee), (.callee, .caller)] { server.send(.route(leg, .leg(other)), for: id) }
        for _ in 0..<400 where !(peers.caller.isConnected && peers.callee.isConnected) {
            _ = try peers.caller.run(for: .milliseconds(20)) { $0.isConnected }
            _ = try peers.callee.run(for: .milliseconds(20)) { $0.isConnected }
        }
        return peers
    }

    private static func negotiated(_ local: ICECredentials, _ peer: LoopbackPeer, ssrc: UInt32) -> NegotiatedLeg {
        guard let payloadType = PayloadType(0) else { preconditionFailure("0 fits seven bits") }
        let codec = Codec(payloadType: payloadType, name: "PCMU", clockRate: 8_000)
        return NegotiatedLeg(
            transport: NegotiatedTransport(local: local, remote: peer.credentials, remoteFingerprints: [peer.fingerprint], role: .server),
            media: [
                NegotiatedMedia(
                    mid: "0", kind: .audio, direction: .sendReceive, isRejected: false, codecs: [codec], extensions: [], remoteSources: [],
                    localSSRC: SSRC(ssrc), localRetransmissionSSRC: nil)
            ])
    }
}
