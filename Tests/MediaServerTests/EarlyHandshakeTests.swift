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
        #expect(try peer.run(for: .seconds(30)) { $0.hasStartedHandshake })
        let answered = peer.answeredChecks
        #expect(try peer.run(for: .seconds(30)) { $0.answeredChecks > answered })
    }

    /// The same, and the peer has read no answer yet: what another sends after it to the same socket is taken after it.
    private func sayHello(_ peer: LoopbackPeer, before other: LoopbackPeer) throws {
        peer.repeatsFlights = false
        #expect(try peer.run(for: .seconds(30)) { $0.hasStartedHandshake })
        let answered = other.answeredChecks
        #expect(try other.run(for: .seconds(30)) { $0.answeredChecks > answered })
    }

    @Test(arguments: [PeerLink.Transport.udp, .tcp])
    func `a ClientHello from before the description is answered when it comes, without a repetition`(
        over transport: PeerLink.Transport
    ) throws {
        var rig = try Rig(callerOver: transport)
        try rig.prepare()
        try sayHello(rig.caller)
        try sayHello(rig.callee)
        #expect(!rig.caller.isConnected && !rig.callee.isConnected)
        rig.describe()
        #expect(try rig.wait { rig.caller.isConnected && rig.callee.isConnected })
        #expect(
            try rig.wait {
                rig.events.contains(.pathSecured(.caller)) && rig.events.contains(.pathSecured(.callee))
            })
        try rig.expectMedia()
        #expect(rig.metrics.packetsDropped[.notConnected].value == 0)
        rig.server.stop()
    }

    @Test func `of several devices the one that the description is of is answered, whoever spoke last`() throws {
        var rig = try Rig()
        try rig.prepare()
        let other = try LoopbackPeer(role: .client)
        other.connect(to: rig.gateway, rig.callerLocal)
        try sayHello(rig.caller)
        try sayHello(rig.callee)
        try sayHello(other)
        rig.describe()
        #expect(try rig.wait { rig.caller.isConnected && rig.callee.isConnected })
        try rig.expectMedia()
        _ = try other.run(for: .milliseconds(50))
        #expect(!other.isConnected)
        rig.server.stop()
    }

    @Test func `a ClientHello from before the description is judged by it`() throws {
        var rig = try Rig()
        rig.announcedCallerFingerprint = rig.callee.fingerprint
        try rig.prepare()
        try sayHello(rig.caller)
        rig.describe()
        #expect(try rig.wait { rig.events.contains(.failed(.caller, .fingerprintMismatch)) })
        rig.server.stop()
    }

    @Test func `what is none of a ClientHello is not kept`() throws {
        var rig = try Rig()
        try rig.prepare()
        #expect(try rig.caller.run(for: .seconds(30)) { $0.hasStartedHandshake })
        rig.caller.sendRaw(
            [22, 0xFE, 0xFD] + [UInt8](repeating: 0, count: 8) + [0, 13, 11, 0, 0, 1, 0, 1, 0, 0, 0, 0, 0, 1, 0])
        #expect(try rig.wait { rig.metrics.packetsDropped[.malformed].value == 1 })
        rig.describe()
        #expect(try rig.wait { rig.caller.isConnected && rig.callee.isConnected })
        try rig.expectMedia()
        rig.server.stop()
    }

    @Test func `what is kept moves along with its leg`() throws {
        var rig = try MovingRig()
        try rig.establish()
        let (call, local) = (CallID(38), ICECredentials(ufrag: "gatewayE", password: "password of the gateway"))
        let peer = try LoopbackPeer(role: .client)
        rig.server.send(.prepare(.callee, local), for: call)
        peer.connect(to: rig.server.localAddresses[2], local)
        try sayHello(peer)
        rig.server.send(.adopt(.callee, from: call, as: LegID(2)), for: MovingRig.first)
        rig.connect(LegID(2), peer, local, in: MovingRig.first)
        rig.talk(LegID(2), .caller, in: MovingRig.first)
        #expect(try peer.run(for: .seconds(30)) { $0.isConnected })
        try rig.expectMedia(between: rig.a, peer)
        rig.server.stop()
    }

    // MARK: Over a path that an attacker claims

    /// What the attacker's leg does with the peer's handshake.
    enum Attack: CaseIterable {
        /// It is described before the peer speaks.
        case answersFirst
        /// It is described after the peer has spoken, and before the peer's leg.
        case answersInBetween
        /// The same, and ends while the peer shakes hands with it.
        case hangsUp
        /// It is never described.
        case keepsSilent
    }

    /// A check for the attacker's leg, valid but from the peer's address, goes ahead of the peer's handshake.
    @Test(arguments: Attack.allCases, [true, false])
    func `a ClientHello from before its description is the peer's own, whoever answers it`(
        _ attack: Attack, describedLate: Bool
    ) throws {
        var rig = try Rig()
        try rig.prepare()
        let (call, local) = (CallID(43), ICECredentials(ufrag: "gatewayM", password: "password of the gateway M"))
        let attacker = try LoopbackPeer(role: .client)
        rig.server.send(.prepare(.caller, local), for: call)
        let answer = {
            rig.server.send(
                .connect(.caller, rig.leg(local, attacker, attacker.fingerprint, .client, SSRC(0x3333_3333))), for: call
            )
        }
        // The path is the peer's first, or the attacker's.
        if !describedLate { rig.caller.sendRaw(Checks.valid(for: rig.callerLocal, by: rig.caller.credentials.ufrag)) }
        rig.caller.sendRaw(Checks.valid(for: local, by: attacker.credentials.ufrag))
        if attack == .answersFirst { answer() }
        if describedLate { try sayHello(rig.caller) } else { try sayHello(rig.caller, before: rig.callee) }
        if attack == .answersInBetween || attack == .hangsUp { answer() }
        if attack == .hangsUp {
            // The first flight comes from the attacker's association; what follows finds it gone.
            rig.server.send(.release, for: call)
        }
        if describedLate {
            // Whoever it shakes hands with, the peer is through.
            #expect(
                try rig.caller.run(for: attack == .keepsSilent ? .milliseconds(10) : .seconds(30)) { $0.isConnected }
                    || attack == .keepsSilent)
        }
        rig.caller.repeatsFlights = true
        rig.describe()
        #expect(try rig.wait { rig.caller.isConnected && rig.callee.isConnected })
        #expect(
            try rig.wait {
                rig.events.contains(.pathSecured(.caller)) && rig.events.contains(.pathSecured(.callee))
            })
        for _ in 0..<3 { try rig.expectMedia() }
        #expect(rig.metrics.dtlsHandshakes[.fingerprintMismatch].value == 0)
        rig.server.stop()
    }
}
