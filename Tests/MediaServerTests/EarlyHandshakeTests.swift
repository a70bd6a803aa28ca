import CallControl
import CallRuntime
import DTLS
import MediaServer
import Observability
import PeerSupport
import Primitives
import SDP
import Testing

/// Peers that begin their handshake when they set their answer, before the gateway has it.
@Suite(.serialized)
struct EarlyHandshakeTests {
    /// The peer's ClientHello is out, once, and the gateway has taken it: of what one peer sends nothing overtakes.
    private func sayHello(_ peer: LoopbackPeer) throws {
        peer.repeatsFlights = false
        #expect(try peer.run(for: .seconds(30)) { $0.hasBegunHandshake })
        let answered = peer.answeredChecks
        #expect(try peer.run(for: .seconds(30)) { $0.answeredChecks > answered })
    }

    @Test(arguments: [PeerLink.Transport.udp, .tcp])
    func `a ClientHello from before the description is answered when it comes, without a repetition`(over transport: PeerLink.Transport) throws {
        var rig = try Rig(callerOver: transport)
        try rig.prepare()
        try sayHello(rig.caller)
        try sayHello(rig.callee)
        #expect(!rig.caller.isConnected && !rig.callee.isConnected)
        rig.describe()
        #expect(try rig.wait { rig.caller.isConnected && rig.callee.isConnected })
        #expect(try rig.wait { rig.events.contains(.dtlsConnected(.caller)) && rig.events.contains(.dtlsConnected(.callee)) })
        try rig.expectMedia()
        #expect(rig.metrics.packetsDropped[.notConnected].value == 0)
        rig.server.stop()
    }
}
