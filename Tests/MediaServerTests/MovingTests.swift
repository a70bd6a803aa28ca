import CallControl
import CallRuntime
import MediaServer
import Observability
import PeerSupport
import Primitives
import SDP
import Testing

/// Legs that become part of a call on another worker, while their peers go on sending where they always did.
@Suite(.serialized)
struct MovingTests {
    private static let transports = [PeerLink.Transport.udp, .tcp]
    private let guest = LegID(2)

    private func established(over transport: PeerLink.Transport = .udp) throws -> MovingRig {
        var rig = try MovingRig(over: transport)
        try rig.establish()
        return rig
    }

    /// `d` leaves `c`, whom it hears on the second worker, for `a` on the first.
    private func moved(over transport: PeerLink.Transport = .udp) throws -> MovingRig {
        var rig = try established(over: transport)
        rig.move(to: MovingRig.first, as: guest, with: .caller)
        try rig.expectMedia(between: rig.a, rig.d)
        return rig
    }

    private func expectNothingLeft(of rig: MovingRig) throws {
        for call in [MovingRig.first, MovingRig.second, MovingRig.third, MovingRig.last] {
            rig.server.send(.release, for: call)
        }
        #expect(
            try rig.wait { rig.metrics.mediaSessionsActive.value == 0 && rig.metrics.mediaConnectionsActive.value == 0 }
        )
        rig.server.stop()
        #expect(rig.metrics.mediaSessionsActive.value == 0)
        #expect(rig.metrics.packetsDropped[.overload].value == 0)
    }

    @Test(arguments: transports)
    func `a leg goes from worker to worker and back, and its peer notices nothing`(
        _ transport: PeerLink.Transport
    ) async throws {
        var rig = try moved(over: transport)
        // On to a third call, where `c` comes, too.
        rig.move(guest, from: MovingRig.first, to: MovingRig.third, as: .caller, with: .callee)
        rig.move(.caller, from: MovingRig.second, to: MovingRig.third, as: .callee, with: .caller)
        try rig.expectMedia(between: rig.c, rig.d)
        // To the second worker, where both began, and from there to the first again.
        rig.move(.caller, from: MovingRig.third, to: MovingRig.second, as: LegID(2), with: LegID(3))
        rig.move(.callee, from: MovingRig.third, to: MovingRig.second, as: LegID(3), with: LegID(2))
        for leg in [LegID(2), LegID(3)] { try await rig.expectArrival(of: leg, in: MovingRig.second) }
        try rig.expectMedia(between: rig.c, rig.d)
        rig.move(LegID(2), from: MovingRig.second, to: MovingRig.first, as: LegID(3), with: .caller)
        try rig.expectMedia(between: rig.a, rig.d)
        #expect(rig.metrics.dtlsHandshakes[.completed].value == 4, "nobody shook hands again")
        #expect(rig.metrics.mediaSessionsActive.value == 4)
        try expectNothingLeft(of: rig)
    }

    @Test(arguments: transports)
    func `the peer of a moved leg comes from another address`(_ transport: PeerLink.Transport) throws {
        var rig = try moved(over: transport)
        try rig.d.move()
        let answered = rig.d.answeredChecks
        #expect(try rig.wait { rig.d.answeredChecks > answered })
        try rig.expectMedia(between: rig.a, rig.d)
        if transport == .tcp { #expect(try rig.wait { rig.metrics.mediaConnectionsClosed[.byPeer].value == 1 }) }
        try expectNothingLeft(of: rig)
    }

    /// Its packets come to the worker that it has left, and say by their sources where to.
    @Test func `the peer of a moved leg that sends no checks is followed by its packets`() async throws {
        var rig = try moved()
        // On to a third worker and back: nobody looks for it where it was in between.
        rig.move(guest, from: MovingRig.first, to: MovingRig.last, as: .caller, with: .callee)
        rig.move(.caller, from: MovingRig.last, to: MovingRig.first, as: LegID(3), with: .caller)
        try await rig.expectArrival(of: LegID(3), in: MovingRig.first)
        try rig.expectMedia(between: rig.a, rig.d)
        rig.d.checks = false
        try rig.d.move()
        for peer in [rig.a, rig.d] { peer.clear() }
        for _ in 0..<3_000 where rig.a.received.count < 50 || rig.d.received.isEmpty {
            try rig.send(from: rig.a, rig.d)
            for peer in [rig.a, rig.d] { _ = try peer.run(for: .milliseconds(10)) }
        }
        #expect(rig.a.received.count >= 50 && !rig.d.received.isEmpty)
        try rig.expectMedia(between: rig.a, rig.d)
        #expect(rig.metrics.dtlsHandshakes[.completed].value == 4)
        try expectNothingLeft(of: rig)
    }

    @Test func `ICE starts over on a moved leg`() throws {
        var rig = try moved()
        let former = rig.d.credentials.ufrag
        let renewed = ICECredentials(ufrag: "renewed0", password: "another password of the gateway")
        rig.d.restart(renewed)
        rig.connect(guest, rig.d, renewed, in: MovingRig.first)
        let answered = rig.d.answeredChecks
        #expect(try rig.wait { rig.d.answeredChecks > answered })
        try rig.expectMedia(between: rig.a, rig.d)
        // Under the old parameters nothing is answered any more, where they were used.
        let unknown = rig.metrics.stunRefused[.unknownUsername].value
        let stranger = try Stranger(to: rig.server.localAddresses[1])
        stranger.send(Checks.valid(for: MovingRig.credentials(of: .callee, MovingRig.second), by: former))
        #expect(try rig.wait { rig.metrics.stunRefused[.unknownUsername].value > unknown })
        #expect(rig.metrics.dtlsHandshakes[.completed].value == 4)
        try expectNothingLeft(of: rig)
    }

    @Test func `a check with a wrong password opens no way to a moved leg, and neither does anything else`() throws {
        var rig = try moved()
        let credentials = MovingRig.credentials(of: .callee, MovingRig.second)
        let stranger = try Stranger(to: rig.server.localAddresses[1])
        stranger.send(Checks.withWrongPassword(for: credentials, by: rig.d.credentials.ufrag))
        #expect(try rig.wait { rig.metrics.stunRefused[.wrongIntegrity].value == 1 })
        let before = rig.metrics.packetsDropped[.unknownAddress].value
        stranger.send(rig.packet())
        stranger.send([22, 0xFE, 0xFD] + [UInt8](repeating: 0, count: 30))
        stranger.send([0x80, 201, 0, 1] + [UInt8](repeating: 0, count: 24))
        #expect(try rig.wait { rig.metrics.packetsDropped[.unknownAddress].value == before + 3 })
        try rig.expectMedia(between: rig.a, rig.d)
        try expectNothingLeft(of: rig)
    }

    /// `d` has moved, `c` has not, and each sends checks for its own leg from the other's address.
    @Test
    func `a valid check for one's own leg from another peer's address moves nobody's media, wherever the two legs are`()
        async throws
    {
        var rig = try moved()
        func forge(_ one: LoopbackPeer, _ leg: LegID, from other: LoopbackPeer) throws {
            let checks = rig.metrics.stunRequests.value
            for transaction in 0..<5 as Range<UInt64> {
                other.sendRaw(
                    Checks.valid(
                        for: MovingRig.credentials(of: leg, MovingRig.second), by: one.credentials.ufrag,
                        transaction: transaction))
            }
            #expect(try rig.wait { rig.metrics.stunRequests.value >= checks + 5 })
        }
        // The attacker is where it began, its victim is not.
        try forge(rig.c, .caller, from: rig.d)
        try rig.expectMedia(between: rig.a, rig.d)
        // The victim is where it began, the attacker is not.
        rig.move(.callee, from: MovingRig.first, to: MovingRig.second, as: LegID(3), with: .caller)
        try await rig.expectArrival(of: LegID(3), in: MovingRig.second)
        try rig.expectMedia(between: rig.b, rig.c)
        try forge(rig.d, .callee, from: rig.c)
        try rig.expectMedia(between: rig.b, rig.c)
        // Both have moved to the same worker.
        rig.move(.caller, from: MovingRig.second, to: MovingRig.first, as: LegID(4), with: .caller)
        try await rig.expectArrival(of: LegID(4), in: MovingRig.first)
        try rig.expectMedia(between: rig.a, rig.c)
        try forge(rig.d, .callee, from: rig.c)
        try rig.expectMedia(between: rig.a, rig.c)
        // The attacker goes, and leaves no hole.
        rig.server.send(.releaseLeg(guest), for: MovingRig.first)
        #expect(try rig.wait { rig.metrics.mediaSessionsActive.value == 3 })
        try rig.expectMedia(between: rig.a, rig.c)
        try expectNothingLeft(of: rig)
    }

    /// The moves and the forged checks meet in every order.
    @Test func `forged checks that come while legs move move nobody's media`() async throws {
        var rig = try moved()
        func forge(_ one: LoopbackPeer, _ leg: LegID, from other: LoopbackPeer) {
            other.sendRaw(
                Checks.valid(
                    for: MovingRig.credentials(of: leg, MovingRig.second), by: one.credentials.ufrag, transaction: 1))
        }
        func forgeBoth() {
            for _ in 0..<3 {
                forge(rig.c, .caller, from: rig.d)
                forge(rig.d, .callee, from: rig.c)
            }
        }
        let nobody = LegID(1_000)
        var (c, d) = (LegID.caller, guest)
        for round in 0..<20 as Range<UInt64> {
            let (here, there) =
                round % 2 == 0 ? (MovingRig.second, MovingRig.third) : (MovingRig.third, MovingRig.second)
            forgeBoth()
            rig.move(c, from: here, to: there, as: LegID(100 + round), with: nobody)
            forgeBoth()
            rig.move(d, from: MovingRig.first, to: MovingRig.third, as: LegID(200 + round), with: nobody)
            forgeBoth()
            rig.move(
                LegID(200 + round), from: MovingRig.third, to: MovingRig.first, as: LegID(300 + round), with: .caller)
            forgeBoth()
            (c, d) = (LegID(100 + round), LegID(300 + round))
            try await rig.expectArrival(of: d, in: MovingRig.first)
            try rig.expectMedia(between: rig.a, rig.d)
        }
        try expectNothingLeft(of: rig)
    }

    @Test(arguments: transports)
    func `when a moved leg ends nothing is left of it where it began`(_ transport: PeerLink.Transport) throws {
        var rig = try moved(over: transport)
        rig.d.checks = false
        rig.server.send(.releaseLeg(guest), for: MovingRig.first)
        #expect(try rig.wait { rig.metrics.mediaSessionsActive.value == 3 })
        if transport == .tcp {
            #expect(try rig.wait { rig.d.isDisconnected })
            #expect(try rig.wait { rig.metrics.mediaConnectionsActive.value == 0 })
            #expect(!rig.d.receivedControl.isEmpty, "the reports' good-bye comes before the end")
        } else {
            #expect(
                try rig.wait {
                    rig.d.sendRaw([0x80, 0] + [UInt8](repeating: 0, count: 30))
                    return rig.metrics.packetsDropped[.unknownAddress].value > 0
                })
        }
        // A check of the peer may have been on its way when the leg ended.
        let unknown = rig.metrics.stunRefused[.unknownUsername].value
        let stranger = try Stranger(to: rig.server.localAddresses[1])
        stranger.send(
            Checks.valid(for: MovingRig.credentials(of: .callee, MovingRig.second), by: rig.d.credentials.ufrag))
        #expect(try rig.wait { rig.metrics.stunRefused[.unknownUsername].value > unknown })
        rig.talk(.caller, .callee, in: MovingRig.first)
        try rig.expectMedia(between: rig.a, rig.b)
        try expectNothingLeft(of: rig)
    }

    @Test(arguments: transports)
    func `a handshake goes on where its leg goes`(_ transport: PeerLink.Transport) throws {
        var rig = try MovingRig(over: transport)
        // Nobody has checked yet.
        rig.move(to: MovingRig.first, as: guest, with: .caller)
        #expect(try rig.wait { rig.events.contains(.pathSecured(guest)) && rig.a.isConnected && rig.d.isConnected })
        try rig.expectMedia(between: rig.a, rig.d)
        #expect(rig.metrics.dtlsHandshakes[.failed].value == 0)
        try expectNothingLeft(of: rig)
    }

    /// The first of them has to give away what it does not have yet.
    @Test(arguments: [MovingRig.third, CallID(33)])
    func `a leg that is on its way can be given on at once, to another worker or the same`(_ last: CallID) async throws
    {
        var rig = try established()
        func names(_ round: Int) -> (of: LegID, with: LegID) {
            (LegID(UInt64(2 * round)), LegID(UInt64(2 * round + 1)))
        }
        for round in 0..<20 {
            let (now, next, guest) = (names(round), names(round + 1), LegID(UInt64(round + 2)))
            try rig.send(from: rig.c, rig.d)
            rig.move(now.with, from: MovingRig.second, to: MovingRig.first, as: guest, with: .caller)
            rig.move(guest, from: MovingRig.first, to: last, as: now.with, with: now.of)
            rig.move(now.of, from: MovingRig.second, to: last, as: now.of, with: now.with)
            rig.move(now.with, from: last, to: MovingRig.second, as: next.with, with: next.of)
            try rig.send(from: rig.c, rig.d)
            rig.move(now.of, from: last, to: MovingRig.second, as: next.of, with: next.with)
        }
        let end = names(20)
        rig.move(end.of, from: MovingRig.second, to: MovingRig.last, as: .caller, with: .callee)
        rig.move(end.with, from: MovingRig.second, to: MovingRig.last, as: .callee, with: .caller)
        for _ in 0..<500 where await rig.server.statistics(of: MovingRig.last)?.legs.count != 2 {
            try rig.send(from: rig.c, rig.d)
            _ = try rig.d.run(for: .milliseconds(5))
        }
        try rig.expectMedia(between: rig.c, rig.d)
        #expect(try rig.wait { rig.metrics.rtpPacketsReceived.value == rig.sentPackets }, "nothing is lost on the way")
        #expect(rig.metrics.packetsDropped[.unknownAddress].value == 0)
        #expect(rig.metrics.dtlsHandshakes[.completed].value == 4)
        #expect(rig.metrics.mediaSessionsActive.value == 4)
        try expectNothingLeft(of: rig)
    }

    @Test func `what a call asks for while a leg is on its way is done when it is there`() async throws {
        let rig = try established()
        rig.server.send(.adopt(.callee, from: MovingRig.second, as: guest), for: MovingRig.first)
        rig.server.send(.adopt(.caller, from: MovingRig.second, as: LegID(3)), for: MovingRig.first)
        rig.server.send(.releaseLeg(guest), for: MovingRig.first)
        rig.server.send(.release, for: MovingRig.second)
        #expect(try rig.wait { rig.metrics.mediaSessionsActive.value == 3 })
        #expect(await rig.server.statistics(of: MovingRig.first)?.legs.map(\.leg) == [.caller, .callee, LegID(3)])
        #expect(await rig.server.statistics(of: MovingRig.second) == nil)
        try expectNothingLeft(of: rig)
    }

    /// It comes from a call of the same worker, and is there at once, while the call still waits for another leg.
    @Test func `a headless leg that arrives before its turn is not waited for any more`() throws {
        var rig = try established()
        let near = CallID(33)
        rig.server.send(.prepareHeadless(.caller, .silence), for: near)
        rig.server.send(.adopt(.callee, from: MovingRig.second, as: guest), for: MovingRig.first)
        rig.server.send(.adopt(.caller, from: near, as: LegID(3)), for: MovingRig.first)
        rig.talk(guest, .caller, in: MovingRig.first)
        try rig.expectMedia(between: rig.a, rig.d)
        rig.server.send(.release, for: near)
        try expectNothingLeft(of: rig)
    }

    @Test func `a leg that is gone is not waited for`() throws {
        let rig = try established()
        rig.server.send(.adopt(LegID(7), from: MovingRig.second, as: guest), for: MovingRig.first)
        rig.server.send(.releaseLeg(.callee), for: MovingRig.first)
        #expect(try rig.wait { rig.metrics.mediaSessionsActive.value == 3 })
        try expectNothingLeft(of: rig)
    }

    @Test(arguments: [true, false])
    func `the end of a call, or of the server, takes legs along that are on their way`(_ released: Bool) throws {
        let rig = try established()
        rig.server.send(.adopt(.callee, from: MovingRig.second, as: guest), for: MovingRig.first)
        if released { rig.server.send(.release, for: MovingRig.first) }
        rig.server.stop()
        #expect(rig.metrics.mediaSessionsActive.value == 0)
    }
}
