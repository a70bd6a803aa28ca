import CallControl
import CallRuntime
import DTLS
import Logging
import MediaServer
import Observability
import PeerSupport
import Primitives
import STUN
import Testing

/// How peers come to the gateway and stay: TCP, IPv6, other addresses.
@Suite(.serialized)
struct ConnectivityTests {
    private static let hosts = [IPAddress(v4: 0x7F00_0001), IPAddress(v6: 0, 1)]

    @Test(arguments: hosts, [PeerLink.Transport.udp, .tcp])
    func `a call over each family and each transport`(host: IPAddress, transport: PeerLink.Transport) throws {
        var rig = try Rig(callerRole: .client, calleeRole: .server, callerOver: transport, on: host)
        try rig.establish()
        for _ in 0..<20 { try rig.expectMedia() }
        #expect(rig.metrics.mediaConnectionsActive.value == (transport == .tcp ? 1 : 0))
        rig.server.send(.release, for: rig.call)
        rig.server.stop()
        #expect(rig.metrics.mediaConnectionsActive.value == 0)
    }

    @Test func `descriptions offer TCP after UDP, on its own port`() throws {
        let rig = try Rig()
        let candidates = try rig.server.reserve(rig.call, isNew: true).candidates
        #expect(
            candidates == [
                "1 1 udp 2130706431 127.0.0.1 \(rig.gateway.port) typ host",
                "2 1 tcp 2124414975 127.0.0.1 \(rig.listener.port) typ host tcptype passive",
            ])
        rig.server.stop()
    }

    @Test func `without a TCP port none is offered`() throws {
        let server = try MediaServer(
            configuration: MediaServer.Configuration(bind: Self.hosts, firstPort: 0),
            metrics: GatewayMetrics(version: "test", startTime: 0),
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }, events: { _, _ in })
        #expect(server.listenerAddresses.isEmpty)
        #expect(Set(server.localAddresses.map(\.port)).count == 1)
        #expect(try server.reserve(CallID(1), isNew: true).candidates.allSatisfy { $0.contains(" udp ") })
        server.stop()
    }

    @Test func `a peer whose connection closes comes back on another, with the same keys`() throws {
        var rig = try Rig(callerOver: .tcp)
        try rig.establish()
        try rig.expectMedia()
        try rig.caller.disconnect()
        let answered = rig.caller.answeredChecks
        #expect(try rig.wait { rig.caller.answeredChecks > answered })
        try rig.expectMedia()
        #expect(try rig.wait { rig.metrics.mediaConnectionsClosed[.byPeer].value == 1 })
        #expect(rig.metrics.dtlsHandshakes[.completed].value == 2)
        rig.server.stop()
    }

    @Test func `a peer that moves to another port takes its media with it`() throws {
        var rig = try Rig()
        try rig.establish()
        try rig.expectMedia()
        let before = rig.caller.localAddress
        try rig.caller.move()
        let answered = rig.caller.answeredChecks
        #expect(try rig.wait { rig.caller.answeredChecks > answered })
        #expect(rig.caller.localAddress != before)
        try rig.expectMedia()
        #expect(rig.metrics.dtlsHandshakes[.completed].value == 2)
        rig.server.stop()
    }

    @Test func `media from where the peer was is still heard, and goes where it is`() throws {
        var rig = try Rig()
        try rig.establish()
        rig.caller.nominates = false
        let late = try #require(try rig.caller.protect(Rig.packet(sequence: 7, timestamp: 6_720, ssrc: 0xAAAA)))
        rig.caller.sendRaw(late)
        try rig.caller.move()
        let answered = rig.caller.answeredChecks
        #expect(try rig.wait { rig.caller.answeredChecks > answered && !rig.callee.received.isEmpty })
        rig.server.stop()
    }

    @Test func `a re-offer with other ICE parameters restarts ICE and nothing else`() throws {
        var rig = try Rig()
        try rig.establish()
        try rig.expectMedia()
        try rig.restartCaller()
        // Before the peer has checked under the new parameters the old path carries media.
        rig.caller.checks = false
        try rig.expectMedia()
        rig.caller.checks = true
        let answered = rig.caller.answeredChecks
        #expect(try rig.wait { rig.caller.answeredChecks > answered })
        try rig.expectMedia()
        #expect(rig.metrics.dtlsHandshakes[.completed].value == 2)
        #expect(rig.metrics.mediaSessionsActive.value == 2)
        // Under the old parameters nothing is answered any more.
        let stranger = try Stranger(to: rig.gateway)
        stranger.send(Checks.valid(for: rig.callerLocal, by: "whoever"))
        #expect(try rig.wait { rig.metrics.stunRefused[.unknownUsername].value == 1 })
        rig.server.stop()
    }

    @Test func `null packets keep a connection busy and say nothing`() throws {
        var rig = try Rig(callerOver: .tcp)
        try rig.establish()
        for _ in 0..<10 { rig.caller.sendRaw([]) }
        try rig.expectMedia()
        #expect(rig.metrics.packetsDropped[.unclassified].value == 0)
        rig.server.stop()
    }
}
