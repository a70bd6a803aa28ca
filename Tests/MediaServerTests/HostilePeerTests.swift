import CallControl
import CallRuntime
import DTLS
import MediaServer
import Observability
import PeerSupport
import Primitives
import SDP
import Testing

/// What a peer with a leg of its own does to those of others on the same worker, and to those who have nothing to do
/// with it.
@Suite(.serialized)
struct HostilePeerTests {
    /// A peer in a call of its own, alone.
    private struct Attacker {
        static let call = CallID(43)
        static let credentials = ICECredentials(ufrag: "gatewayM", password: "password of the gateway M")
        let peer: LoopbackPeer
        let rig: Rig

        init(in rig: Rig, role: DTLSTransport.Role = .client) throws {
            self.rig = rig
            peer = try LoopbackPeer(role: role)
            rig.server.send(.prepare(.caller, Self.credentials), for: Self.call)
            rig.server.send(
                .connect(.caller, rig.leg(Self.credentials, peer, peer.fingerprint, role, SSRC(0x3333_3333))),
                for: Self.call)
            peer.connect(to: rig.gateway, Self.credentials)
        }

        /// A check that is valid for the attacker's leg, nominated like all of these tests.
        func check(_ transaction: UInt64 = 1) -> [UInt8] {
            Checks.valid(for: Self.credentials, by: peer.credentials.ufrag, transaction: transaction)
        }

        func establish() throws {
            let before = rig.metrics.dtlsHandshakes[.completed].value
            #expect(
                try peer.run(for: .seconds(60)) {
                    $0.isConnected && rig.metrics.dtlsHandshakes[.completed].value > before
                }, "the attacker's own leg")
        }

        func hangUp() { rig.server.send(.release, for: Self.call) }
    }

    private static func isSTUN(_ packet: [UInt8]) -> Bool { packet.first.map { $0 < 4 } ?? false }

    private func mediaBytes(at stranger: Stranger) -> Int {
        stranger.answers.filter { !Self.isSTUN($0) }.reduce(0) { $0 + $1.count }
    }

    /// Goes on until both peers have keys, then lets them talk.
    private func expectEstablishment(_ rig: inout Rig) throws {
        #expect(try rig.wait { rig.caller.isConnected && rig.callee.isConnected })
        #expect(
            try rig.wait {
                rig.events.contains(.pathSecured(.caller)) && rig.events.contains(.pathSecured(.callee))
            })
        for _ in 0..<3 { try rig.expectMedia() }
        #expect(!rig.events.contains(.failed(.caller, .handshakeFailed)))
    }

    // MARK: Paths

    @Test(arguments: [true, false])
    func `a valid check for one's own leg from a peer's address moves nobody's media, during the talk and after`(
        established: Bool
    ) throws {
        var rig = try Rig()
        try rig.establish()
        let attacker = try Attacker(in: rig)
        if established { try attacker.establish() }
        for transaction in 0..<20 as Range<UInt64> {
            let checks = rig.metrics.stunRequests.value
            rig.caller.sendRaw(attacker.check(transaction))
            rig.callee.sendRaw(attacker.check(transaction))
            #expect(try rig.wait { rig.metrics.stunRequests.value >= checks + 2 })
            try rig.expectMedia()
        }
        let sessions = rig.metrics.mediaSessionsActive.value
        attacker.hangUp()
        #expect(try rig.wait { rig.metrics.mediaSessionsActive.value == sessions - 1 })
        for _ in 0..<3 { try rig.expectMedia() }
        #expect(
            rig.metrics.srtpFailures[.authentication].value == 0
                && rig.metrics.packetsDropped[.unknownAddress].value == 0)
        rig.server.stop()
    }

    /// Whoever the gateway shakes hands with, and in whichever part: what the other end presents says whose it is.
    @Test(arguments: [
        (DTLSTransport.Role.client, DTLSTransport.Role.client, true), (.client, .client, false),
        (.client, .server, false),
        (.server, .client, true), (.server, .client, false), (.server, .server, true), (.server, .server, false),
    ])
    func `a valid check for one's own leg does not take a peer's handshake, before the peer's own check or after it`(
        role: DTLSTransport.Role, attackersRole: DTLSTransport.Role, before: Bool
    ) throws {
        var rig = try Rig(callerRole: role, calleeRole: role)
        try rig.connect()
        let attacker = try Attacker(in: rig, role: attackersRole)
        if !before {
            #expect(try rig.caller.run(for: .seconds(60)) { $0.answeredChecks > 0 })
            #expect(try rig.callee.run(for: .seconds(60)) { $0.answeredChecks > 0 })
        }
        for transaction in 0..<5 as Range<UInt64> {
            rig.caller.sendRaw(attacker.check(transaction))
            rig.callee.sendRaw(attacker.check(transaction))
        }
        try expectEstablishment(&rig)
        rig.server.stop()
    }

    /// The gateway begins the handshakes, and repeats the attacker's before either peer has said anything.
    @Test func `a ClientHello for the attacker's leg that has to be repeated goes to one peer only`() throws {
        var rig = try Rig(callerRole: .server, calleeRole: .server)
        try rig.connect()
        let attacker = try Attacker(in: rig, role: .server)
        rig.caller.sendRaw(attacker.check(0))
        rig.callee.sendRaw(attacker.check(1))
        // A second is when OpenSSL repeats its first flight.
        attacker.peer.checks = false
        _ = try attacker.peer.run(for: .milliseconds(1_500))
        try expectEstablishment(&rig)
        rig.server.stop()
    }

    @Test func `a handshake in which the attacker has its own elsewhere reaches the peer's leg`() throws {
        var rig = try Rig()
        let attacker = try Attacker(in: rig)
        // It has begun and goes no further.
        #expect(try attacker.peer.run(for: .seconds(60)) { $0.answeredChecks > 0 })
        try rig.connect()
        rig.caller.sendRaw(attacker.check())
        rig.callee.sendRaw(attacker.check())
        try expectEstablishment(&rig)
        rig.server.stop()
    }

    @Test(arguments: [DTLSTransport.Role.client, .server])
    func `an attacker that hangs up during the handshake leaves it to the peer's leg`(role: DTLSTransport.Role) throws {
        var rig = try Rig(callerRole: role, calleeRole: role)
        try rig.connect()
        let attacker = try Attacker(in: rig, role: role)
        rig.caller.sendRaw(attacker.check())
        rig.callee.sendRaw(attacker.check())
        // The first flights are out.
        #expect(try rig.caller.run(for: .seconds(60)) { $0.answeredChecks > 0 })
        #expect(try rig.callee.run(for: .seconds(60)) { $0.answeredChecks > 0 })
        attacker.hangUp()
        #expect(try rig.wait { rig.metrics.mediaSessionsActive.value == 2 })
        try expectEstablishment(&rig)
        rig.server.stop()
    }

    @Test
    func
        `a peer that has really got another one's address is heard from its first packet, and so is the other when it is back`()
        throws
    {
        var rig = try Rig()
        try rig.establish()
        try rig.expectMedia()
        let other = try Attacker(in: rig)
        try other.establish()
        // What the other protects comes from the caller's port.
        rig.caller.sendRaw(other.check())
        let received = rig.metrics.rtpPacketsReceived.value
        let packet = try #require(try other.peer.protect(Rig.packet(sequence: 5, timestamp: 800, ssrc: 0xCCCC)))
        rig.caller.sendRaw(packet)
        #expect(try rig.wait { rig.metrics.rtpPacketsReceived.value == received + 1 })
        #expect(rig.metrics.srtpFailures[.authentication].value == 0)
        for _ in 0..<3 { try rig.expectMedia() }
        rig.server.stop()
    }

    // MARK: Voice hammer

    @Test
    func `a nominated check from a forged address draws at most three times its bytes, and media stays where it was`()
        throws
    {
        var rig = try Rig()
        try rig.establish()
        let victim = try Stranger(to: rig.gateway)
        for transaction in 0..<10 as Range<UInt64> {
            victim.send(Checks.valid(for: rig.callerLocal, by: rig.caller.credentials.ufrag, transaction: transaction))
            #expect(try victim.listen(for: .seconds(60)) { $0.answers.count > transaction })
            for _ in 0..<5 { try rig.expectMedia() }
        }
        _ = try victim.listen(for: .milliseconds(50))
        #expect(mediaBytes(at: victim) <= 3 * victim.sentBytes)
        #expect(mediaBytes(at: victim) == 0, "there is a proven path")
        rig.server.stop()
    }

    @Test func `without a proven path a forged address draws at most three times its bytes of a handshake`() throws {
        let rig = try Rig()
        // The gateway has to speak first.
        let attacker = try Attacker(in: rig, role: .server)
        let victim = try Stranger(to: rig.gateway)
        victim.send(attacker.check())
        // Until it would have repeated itself more often than it may.
        #expect(try rig.wait { rig.metrics.packetsDropped[.unprovenPath].value >= 2 })
        _ = try victim.listen(for: .milliseconds(50))
        #expect(mediaBytes(at: victim) > 0, "the first flight is not held back")
        #expect(mediaBytes(at: victim) <= 3 * victim.sentBytes)
        rig.server.stop()
    }

    @Test func `a peer that only listens takes its media along with its first report from a new address`() throws {
        var rig = try Rig()
        try rig.establish()
        try rig.expectMedia()
        try rig.caller.move()
        let answered = rig.caller.answeredChecks
        #expect(try rig.wait { rig.caller.answeredChecks > answered })
        try rig.caller.sendControl(HostilePackets.receiverReport(by: 0xAAAA, on: Rig.callerSSRC))
        #expect(try rig.wait { rig.metrics.rtcpPacketsReceived.value > 0 })
        rig.caller.clear()
        for number in 1...50 as ClosedRange<UInt16> {
            try rig.callee.send(Rig.packet(sequence: 3_000 + number, timestamp: UInt32(number) * 160, ssrc: 0xBBBB))
        }
        #expect(try rig.wait { rig.caller.received.count == 50 })
        rig.server.stop()
    }

    // MARK: Sources

    @Test func `a flood of sources costs the flooder its packets, and another call on the worker none`() throws {
        var rig = try Rig()
        try rig.establish()
        let attacker = try Attacker(in: rig)
        try attacker.establish()
        var sent: UInt64 = 0
        for round in 0..<100 as Range<UInt32> {
            attacker.peer.forgetSources()
            try attacker.peer.send(
                burst: (0..<100).map {
                    Rig.packet(sequence: 1, timestamp: 0, ssrc: 0x1000_0000 + round * 100 + $0, payload: 20)
                })
            sent += 100
            let floodReceived = { rig.metrics.packetsDropped[.tooManySources].value + 200 >= sent }
            #expect(try rig.wait(until: floodReceived), "of each hundred, all but a few are turned away")
            try rig.expectMedia()
        }
        // The same with reports, each from another source.
        let turnedAway = rig.metrics.packetsDropped[.tooManySources].value
        for source in 0..<1_000 as Range<UInt32> {
            if source % 100 == 0 { attacker.peer.forgetSources() }
            try attacker.peer.sendControl(
                HostilePackets.receiverReport(by: 0x2000_0000 + source, on: SSRC(0x3333_3333)))
            if source % 100 == 99 { try rig.expectMedia() }
        }
        #expect(try rig.wait { rig.metrics.packetsDropped[.tooManySources].value >= turnedAway + 900 })
        rig.server.stop()
    }

    @Test func `a peer that changes its source now and then is heard`() throws {
        var rig = try Rig()
        try rig.establish()
        for source in 0..<25 as Range<UInt32> {
            rig.callee.clear()
            for number in 1...3 as ClosedRange<UInt16> {
                try rig.caller.send(
                    Rig.packet(sequence: number, timestamp: UInt32(number) * 160, ssrc: 0x4000_0000 + source))
            }
            #expect(try rig.wait { rig.callee.received.count == 3 })
        }
        #expect(rig.metrics.packetsDropped[.tooManySources].value == 0)
        rig.server.stop()
    }
}
