import MediaServer
import Observability
import PeerSupport
import Primitives
import SDP
import Testing

/// TCP connections that want something else than a call, or nothing at all.
@Suite(.serialized)
struct HostileConnectionTests {
    private func establishedRig(firstCheckTimeout: Duration = .seconds(60)) throws -> Rig {
        var rig = try Rig(callerOver: .tcp, firstCheckTimeout: firstCheckTimeout)
        try rig.establish()
        try rig.expectMedia()
        return rig
    }

    @Test func `a connection that stays silent is closed (half-open, as Slowloris leaves them)`() throws {
        var rig = try establishedRig(firstCheckTimeout: .milliseconds(300))
        let silent = try Stranger(.tcp, to: rig.listener)
        let halfway = try Stranger(.tcp, to: rig.listener)
        halfway.sendUnframed([0])  // half a length
        #expect(try silent.listen(for: .seconds(60)) { $0.isDisconnected })
        #expect(try halfway.listen(for: .seconds(60)) { $0.isDisconnected })
        #expect(try rig.wait { rig.metrics.mediaConnectionsClosed[.silent].value == 2 })
        try rig.expectMedia()
        #expect(rig.metrics.mediaConnectionsActive.value == 1)
        rig.server.stop()
    }

    enum Opening: CaseIterable, Sendable {
        case anotherProtocol, media, handshake, nothing, forgedCheck, foreignCheck

        func bytes(_ rig: Rig) -> [UInt8] {
            switch self {
            case .anotherProtocol: Array("GET / HTTP/1.1\r\nHost: gateway\r\n\r\n".utf8)
            case .media: Self.frame(Rig.packet(sequence: 1, timestamp: 0, ssrc: 0xAAAA))
            case .handshake: Self.frame(HostilePackets.clientHelloWithoutCiphers())
            case .nothing: Self.frame([0xFF])
            case .forgedCheck:
                Self.frame(Checks.withWrongPassword(for: rig.callerLocal, by: rig.caller.credentials.ufrag))
            case .foreignCheck: Self.frame(Checks.valid(for: Checks.nobody, by: "whoever"))
            }
        }

        private static func frame(_ packet: [UInt8]) -> [UInt8] {
            [UInt8(packet.count >> 8), UInt8(packet.count & 0xFF)] + packet
        }
    }

    @Test(arguments: Opening.allCases)
    func `a connection that does not begin with a valid check is closed at once`(_ opening: Opening) throws {
        var rig = try establishedRig()
        let stranger = try Stranger(.tcp, to: rig.listener)
        stranger.sendUnframed(opening.bytes(rig))
        #expect(try stranger.listen(for: .seconds(60)) { $0.isDisconnected })
        let reason: MediaConnectionClosure = opening == .anotherProtocol ? .malformed : .unauthenticated
        #expect(try rig.wait { rig.metrics.mediaConnectionsClosed[reason].value == 1 })
        #expect(rig.metrics.mediaConnectionsClosed[.silent].value == 0)
        try rig.expectMedia()
        rig.server.stop()
    }

    @Test func `a flood of connections is bounded, and a call keeps its own`() throws {
        var rig = try establishedRig()
        let flood = try (0..<100).map { _ in try Stranger(.tcp, to: rig.listener) }
        #expect(try rig.wait { rig.metrics.mediaConnectionsClosed[.limit].value >= 60 })
        #expect(rig.metrics.mediaConnectionsActive.value <= 33)
        try rig.expectMedia()
        for stranger in flood { stranger.leave() }
        #expect(try rig.wait { rig.metrics.mediaConnectionsActive.value == 1 })
        rig.server.stop()
    }

    @Test func `a reader that does not read loses packets, and costs no memory and no other leg`() throws {
        let rig = try establishedRig()
        // The callee sends; the caller takes nothing until the kernel's buffers and the gateway's are full.
        var sequence: UInt16 = 3_000
        for _ in 0..<2_000 where rig.metrics.mediaSendFailures.value == 0 {
            let burst = (0..<20).map {
                Rig.packet(sequence: sequence &+ $0, timestamp: 0, ssrc: 0xBBBB, payload: 1_200)
            }
            sequence &+= 20
            try rig.callee.send(burst: burst)
            _ = try rig.callee.run(for: .microseconds(200))
        }
        #expect(rig.metrics.mediaSendFailures.value > 0)
        // The caller can still send, and hears again once it reads.
        rig.callee.clear()
        try rig.caller.send(Rig.packet(sequence: 1_500, timestamp: 0, ssrc: 0xAAAA))
        #expect(try rig.callee.run(for: .seconds(60)) { !$0.received.isEmpty })
        _ = try rig.caller.run(for: .milliseconds(300))
        rig.caller.clear()
        try rig.callee.send(Rig.packet(sequence: sequence, timestamp: 0, ssrc: 0xBBBB))
        #expect(try rig.caller.run(for: .seconds(60)) { !$0.received.isEmpty })
        #expect(rig.caller.failures == 0)
        rig.server.stop()
    }

    @Test func `a frame longer than any packet ends its connection, and the peer comes back`() throws {
        var rig = try establishedRig()
        rig.caller.sendRawUnframed([0x08, 0x01] + [UInt8](repeating: 0x80, count: 2_049))
        #expect(try rig.wait { rig.caller.isDisconnected })
        #expect(rig.metrics.mediaConnectionsClosed[.malformed].value == 1)
        try rig.caller.disconnect()
        let answered = rig.caller.answeredChecks
        #expect(try rig.wait { rig.caller.answeredChecks > answered })
        try rig.expectMedia()
        rig.server.stop()
    }

    @Test func `a connection that breaks in the middle of a frame takes nothing with it`() throws {
        var rig = try establishedRig()
        rig.caller.sendRawUnframed([0x04, 0x00, 1, 2, 3])
        try rig.caller.disconnect()
        let answered = rig.caller.answeredChecks
        #expect(try rig.wait { rig.caller.answeredChecks > answered })
        try rig.expectMedia()
        rig.server.stop()
    }
}
