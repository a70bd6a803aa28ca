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

/// Two real peers on loopback sockets with a media server between them.
@Suite(.serialized)
struct RelayTests {
    @Test func `what one peer says the other hears, with the gateway's SSRC and continuous numbers`() throws {
        var rig = try Rig(callerRole: .client, calleeRole: .client)
        try rig.establish()
        for index in 0..<50 {
            try rig.caller.send(
                Rig.packet(sequence: 65_500 &+ UInt16(index), timestamp: UInt32(index) * 960, ssrc: 0xAAAA))
        }
        _ = try rig.callee.run(for: .seconds(60)) { $0.received.count >= 50 }
        #expect(rig.callee.received.count == 50)
        let headers = rig.callee.received.map { Rig.header(of: $0) }
        #expect(Set(headers.map(\.ssrc)) == [Rig.calleeSSRC])
        for (previous, next) in zip(headers, headers.dropFirst()) {
            #expect(next.sequence == previous.sequence &+ 1)
            #expect(next.timestamp == previous.timestamp &+ 960)
        }
        #expect(rig.callee.received.allSatisfy { $0.count == 12 + 160 && $0.suffix(160).allSatisfy { $0 == 0x55 } })
        #expect(rig.events.contains(.mediaReceived(.caller)))
        rig.server.stop()
    }

    @Test func `the gateway takes either DTLS role`() throws {
        var rig = try Rig(callerRole: .server, calleeRole: .client)
        try rig.establish()
        try rig.callee.send(Rig.packet(sequence: 1, timestamp: 0, ssrc: 0xBBBB))
        #expect(try rig.caller.run(for: .seconds(60)) { !$0.received.isEmpty })
        #expect(rig.caller.profile == .aeadAES128GCM)
        rig.server.stop()
    }

    @Test func `a certificate other than the announced one ends the leg`() throws {
        var rig = try Rig(callerRole: .client, calleeRole: .client)
        rig.announcedCallerFingerprint = Fingerprint(.sha256, digest: [UInt8](repeating: 7, count: 32))
        try rig.connect()
        _ = try rig.caller.run(for: .seconds(60)) { [events = rig.events] _ in
            events.contains(.failed(.caller, .fingerprintMismatch))
        }
        #expect(rig.events.contains(.failed(.caller, .fingerprintMismatch)))
        #expect(!rig.events.contains(.pathSecured(.caller)))
        rig.server.stop()
    }

    @Test func `packets from an address without a check go nowhere`() throws {
        var rig = try Rig(callerRole: .client, calleeRole: .client)
        try rig.establish()
        let stranger = try LoopbackPeer(role: .client)
        stranger.connect(to: rig.gateway, ICECredentials(ufrag: "nobody00", password: "no password of this gateway"))
        stranger.sendRaw(Rig.packet(sequence: 1, timestamp: 0, ssrc: 0xCCCC))
        #expect(try !stranger.run(for: .milliseconds(300)) { $0.isConnected })
        #expect(rig.callee.received.isEmpty)
        rig.server.stop()
        let text = rig.metrics.render()
        #expect(text.contains(#"reason="unknown_username""#))
    }

    @Test func `release says BYE and forgets the call`() throws {
        var rig = try Rig(callerRole: .client, calleeRole: .client)
        try rig.establish()
        try rig.caller.send(Rig.packet(sequence: 1, timestamp: 0, ssrc: 0xAAAA))
        _ = try rig.callee.run(for: .seconds(60)) { !$0.received.isEmpty }
        rig.callee.clear()
        rig.server.send(.release, for: rig.call)
        // A compound that ends in BYE (RFC 3550 §6.6): packet type 203 somewhere in it.
        #expect(try rig.callee.run(for: .seconds(60)) { peer in peer.receivedControl.contains { $0.contains(203) } })
        rig.server.stop()
        #expect(rig.metrics.mediaSessionsActive.value == 0)
    }
}
