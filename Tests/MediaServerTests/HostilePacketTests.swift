import CallControl
import CallRuntime
import DTLS
import MediaServer
import Observability
import PeerSupport
import Primitives
import SDP
import Testing

/// What has hurt others, sent to a live call: it becomes a number, and the call goes on (`docs/threats.md`).
@Suite(.serialized)
struct HostilePacketTests {
    private func establishedRig(callerOver transport: PeerLink.Transport = .udp) throws -> Rig {
        var rig = try Rig(callerOver: transport)
        try rig.establish()
        try rig.expectMedia()
        return rig
    }

    // MARK: STUN

    @Test func `forged checks validate nothing and move no media`() throws {
        var rig = try establishedRig()
        let stranger = try Stranger(to: rig.gateway)
        for transaction in 0..<20 as Range<UInt64> {
            stranger.send(
                Checks.withoutIntegrity(
                    for: rig.callerLocal, by: rig.caller.credentials.ufrag, transaction: transaction))
            stranger.send(
                Checks.withWrongPassword(
                    for: rig.callerLocal, by: rig.caller.credentials.ufrag, transaction: transaction))
            stranger.send(Checks.valid(for: rig.callerLocal, by: "another", transaction: transaction))
        }
        for refusal in [STUNRefusal.malformed, .wrongIntegrity, .unknownUsername] {
            #expect(try rig.wait { rig.metrics.stunRefused[refusal].value == 20 })
        }
        try rig.expectMedia()
        _ = try stranger.listen(for: .milliseconds(50))
        // Only refusals, no media.
        #expect(stranger.answers.allSatisfy { $0.starts(with: [0x01, 0x11]) })
        rig.server.stop()
    }

    @Test func `checks whose attributes lie about their length are counted`() throws {
        var rig = try establishedRig()
        let stranger = try Stranger(to: rig.gateway)
        let packets = HostilePackets.malformedChecks()
        for packet in packets { stranger.send(packet) }
        #expect(try rig.wait { rig.metrics.stunRefused[.malformed].value == UInt64(packets.count) })
        #expect(try !stranger.listen(for: .milliseconds(50)) { !$0.answers.isEmpty })
        try rig.expectMedia()
        rig.server.stop()
    }

    @Test func `the gateway does not amplify: strangers get no more bytes than they sent, mostly none`() throws {
        var rig = try establishedRig()
        let (unknown, known) = (try Stranger(to: rig.gateway), try Stranger(to: rig.gateway))
        for transaction in 0..<100 as Range<UInt64> {
            unknown.send(Checks.valid(for: Checks.nobody, by: "whoever", transaction: transaction))
            known.send(Checks.withoutIntegrity(for: rig.callerLocal, by: "x", transaction: transaction))
            known.send(Checks.withWrongPassword(for: rig.callerLocal, by: "x", transaction: transaction))
        }
        #expect(
            try rig.wait {
                rig.metrics.stunRefused[.unknownUsername].value >= 200
                    && rig.metrics.stunRefused[.malformed].value == 100
            })
        _ = try known.listen(for: .milliseconds(50))
        _ = try unknown.listen(for: .milliseconds(50))
        #expect(unknown.answers.isEmpty)
        #expect(known.answers.reduce(0) { $0 + $1.count } <= known.sentBytes)
        try rig.expectMedia()
        rig.server.stop()
    }

    // MARK: RTP and RTCP

    @Test func `RTP from another address neither is heard nor draws media there (AST-2017-005)`() throws {
        var rig = try establishedRig()
        let stranger = try Stranger(to: rig.gateway)
        // Both what anybody can make up, and what only the peer can have encrypted.
        let protected = try #require(try rig.caller.protect(Rig.packet(sequence: 9, timestamp: 8_640, ssrc: 0xAAAA)))
        rig.callee.clear()
        for _ in 0..<50 {
            stranger.send(Rig.packet(sequence: 8, timestamp: 7_680, ssrc: 0xAAAA))
            stranger.send(protected)
        }
        #expect(try rig.wait { rig.metrics.packetsDropped[.unknownAddress].value == 100 })
        #expect(rig.callee.received.isEmpty)
        try rig.expectMedia()
        #expect(try !stranger.listen(for: .milliseconds(50)) { !$0.answers.isEmpty })
        rig.server.stop()
    }

    @Test func `RTP that is not encrypted is not heard, wherever it comes from`() throws {
        var rig = try establishedRig()
        rig.callee.clear()
        for index in 0..<20 { rig.caller.sendRaw(Rig.packet(sequence: UInt16(index), timestamp: 0, ssrc: 0xAAAA)) }
        #expect(try rig.wait { rig.metrics.srtpFailures[.authentication].value == 20 })
        #expect(rig.callee.received.isEmpty)
        try rig.expectMedia()
        rig.server.stop()
    }

    @Test func `a packet sent twice is heard once (RFC 3711 §3.3.2)`() throws {
        let rig = try establishedRig()
        rig.callee.clear()
        let protected = try #require(
            try rig.caller.protect(Rig.packet(sequence: 2_000, timestamp: 96_000, ssrc: 0xAAAA)))
        for _ in 0..<20 { rig.caller.sendRaw(protected) }
        #expect(try rig.wait { rig.metrics.srtpFailures[.replay].value == 19 })
        #expect(try rig.wait { rig.callee.received.count == 1 })
        rig.server.stop()
    }

    @Test func `what one leg encrypted is not heard when the other sends it`() throws {
        var rig = try establishedRig()
        let protected = try #require(try rig.caller.protect(Rig.packet(sequence: 9, timestamp: 8_640, ssrc: 0xAAAA)))
        rig.callee.sendRaw(protected)
        #expect(try rig.wait { rig.metrics.srtpFailures[.authentication].value == 1 })
        try rig.expectMedia()
        rig.server.stop()
    }

    @Test func `RTCP from a stranger ends no stream and redirects no reports (AST-2017-008, CVE-2021-43804)`() throws {
        var rig = try establishedRig()
        let stranger = try Stranger(to: rig.gateway)
        stranger.send(HostilePackets.bye(SSRC(0xAAAA)))
        stranger.send(HostilePackets.receiverReport(by: 0xAAAA, on: Rig.callerSSRC))
        #expect(try rig.wait { rig.metrics.packetsDropped[.unknownAddress].value == 2 })
        // The same from the peer's own address, where somebody has forged it.
        rig.caller.sendRaw(HostilePackets.bye(SSRC(0xAAAA)) + [UInt8](repeating: 0, count: 20))
        #expect(try rig.wait { rig.metrics.srtpFailures[.authentication].value == 1 })
        try rig.expectMedia()
        #expect(try !stranger.listen(for: .milliseconds(50)) { !$0.answers.isEmpty })
        rig.server.stop()
    }

    @Test func `header extensions and sources that end behind the packet are counted (CVE-2015-6360)`() throws {
        var rig = try establishedRig()
        let packets = [
            HostilePackets.rtp(first: 0x90, rest: [0xBE, 0xDE, 0xFF, 0xFF, 1, 2, 3, 4]),  // extension of 65,535 words
            HostilePackets.rtp(first: 0x90, rest: []),  // extension announced, none there
            HostilePackets.rtp(first: 0x8F, rest: [0, 0, 0, 1]),  // fifteen contributing sources announced, one there
            HostilePackets.rtp(first: 0xBF, rest: [UInt8](repeating: 0xFF, count: 40)),
            Array(HostilePackets.rtp(first: 0x80, rest: []).prefix(3)),
        ]
        for packet in packets { rig.caller.sendRaw(packet) }
        #expect(
            try rig.wait {
                rig.metrics.srtpFailures[.other].value + rig.metrics.srtpFailures[.authentication].value
                    == UInt64(packets.count)
            })
        try rig.expectMedia()
        rig.server.stop()
    }

    @Test func `extension elements that overflow their extension are the sender's own loss`() throws {
        var rig = try establishedRig()
        let lying: [UInt8] = [0xBE, 0xDE, 0, 1, 0x1F, 1, 2, 3]  // an element of 16 bytes in 4
        try rig.caller.send(HostilePackets.rtp(first: 0x90, rest: lying + [UInt8](repeating: 0x55, count: 160)))
        try rig.expectMedia()
        rig.server.stop()
    }

    // MARK: DTLS

    @Test func `a ClientHello from an unchecked address does not win the race (CVE-2023-49786, CVE-2023-51443)`() throws
    {
        var rig = try Rig()
        try rig.connect()
        let stranger = try Stranger(to: rig.gateway)
        let proper = try DTLSTransport(context: DTLSContext(certificate: rig.caller.certificate), role: .client)
        proper.start()
        let hello = proper.nextDatagram() ?? []
        for _ in 0..<50 {
            stranger.send(HostilePackets.clientHelloWithoutCiphers())
            stranger.send(hello)
        }
        #expect(try rig.wait { rig.metrics.packetsDropped[.unknownAddress].value == 100 })
        // The real ones come second and are served.
        #expect(
            try rig.wait {
                rig.caller.isConnected && rig.callee.isConnected && rig.metrics.dtlsHandshakes[.completed].value == 2
            })
        try rig.expectMedia()
        #expect(try !stranger.listen(for: .milliseconds(50)) { !$0.answers.isEmpty })
        rig.server.stop()
    }

    @Test func `a flood of ClientHellos costs no handshake and no call`() throws {
        var rig = try establishedRig()
        let stranger = try Stranger(to: rig.gateway)
        for _ in 0..<20 {
            for _ in 0..<100 { stranger.send(HostilePackets.clientHelloWithoutCiphers()) }
            try rig.expectMedia()
        }
        #expect(try rig.wait { rig.metrics.packetsDropped[.unknownAddress].value == 2_000 })
        #expect(stranger.answers.isEmpty)
        #expect(rig.metrics.dtlsHandshakes[.completed].value == 2 && rig.metrics.dtlsHandshakes[.failed].value == 0)
        rig.server.stop()
    }

    @Test func `a ClientHello from the peer's own address does not restart an association`() throws {
        var rig = try establishedRig()
        for _ in 0..<20 { rig.caller.sendRaw(HostilePackets.clientHelloWithoutCiphers()) }
        try rig.expectMedia()
        #expect(!rig.events.contains(.failed(.caller, .handshakeFailed)))
        rig.server.stop()
    }

    @Test func `impossible fragments do not end a handshake, nor take memory (CVE-2014-0195, CVE-2016-2179)`() throws {
        var rig = try Rig()
        try rig.connect()
        // The path is checked, and the handshake about to begin: now anybody who can forge the address may disturb it.
        #expect(try rig.caller.run(for: .seconds(60)) { $0.answeredChecks > 0 })
        let junk = [UInt8](repeating: 0xCC, count: 1_000)
        var refused: UInt64 = 0
        for number in 0..<500 as Range<UInt64> {
            for packet in [
                HostilePackets.handshake(
                    type: 11, sequence: 1, length: 0xFF_FFFF, offset: 0, fragment: junk, record: number),
                HostilePackets.handshake(
                    type: 11, sequence: 1, length: 2_000, offset: 1_500, fragment: junk, record: number),
                HostilePackets.handshake(
                    type: 11, sequence: 1, length: 2_000, offset: 0, fragment: junk, claiming: 2_000, record: number),
                HostilePackets.handshake(
                    type: 11, sequence: 900, length: 16_000, offset: 0, fragment: junk, record: number),
                HostilePackets.handshake(type: 11, sequence: 1, length: 2_000, offset: 0, fragment: [], record: number),
                // Fragments of one message that disagree on its length, ahead of the ones that are expected.
                HostilePackets.handshake(
                    type: 11, sequence: 7, length: 2_000, offset: 0, fragment: junk, record: number),
                HostilePackets.handshake(
                    type: 11, sequence: 7, length: 4_000, offset: 500, fragment: junk, record: number),
                HostilePackets.plainApplicationData,
            ] {
                rig.caller.sendRaw(packet)
                refused += 1
            }
            // A repeated end of the ClientHello, under a number that no record of the peer will reach: OpenSSL sees
            // these.
            rig.caller.sendRaw(
                HostilePackets.handshake(
                    type: 1, sequence: 0, length: 200, offset: 190, fragment: [1, 2], record: number << 20))
            // The caller's handshake stands still until all of this is in; a few at a time, for they must fit into the
            // socket's buffer.
            if number % 5 == 4 {
                for _ in 0..<500 where rig.metrics.packetsDropped[.malformed].value < refused {
                    _ = try rig.callee.run(for: .milliseconds(10))
                }
            }
        }
        #expect(
            try rig.wait {
                rig.caller.isConnected && rig.callee.isConnected && rig.metrics.dtlsHandshakes[.completed].value == 2
            })
        #expect(rig.metrics.packetsDropped[.malformed].value == refused)
        try rig.expectMedia()
        rig.server.stop()
    }
}
