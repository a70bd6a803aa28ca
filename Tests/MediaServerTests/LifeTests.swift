import CallControl
import CallRuntime
import MediaServer
import Observability
import PeerSupport
import Primitives
import Testing

/// Peers that send no checks while their media flows (Pion's ice 2.3, libnice).
@Suite(.serialized)
struct LifeTests {
    enum Kind: CaseIterable {
        case media
        case reports
    }

    private func speak(_ rig: Rig, _ kind: Kind, _ number: UInt16) throws {
        switch kind {
        case .media: try rig.caller.send(Rig.packet(sequence: number, timestamp: UInt32(number) * 160, ssrc: 0xAAAA))
        case .reports: try rig.caller.sendControl(HostilePackets.receiverReport(by: 0xAAAA, on: Rig.callerSSRC))
        }
    }

    @Test(arguments: Kind.allCases)
    func `a peer without checks stays while it is heard, and one that is silent ends`(_ kind: Kind) throws {
        var rig = try Rig(consentTimeout: .seconds(5))
        try rig.establish()
        rig.caller.checks = false
        // The last check of all is the callee's, so that the caller's consent would be the first to end.
        let answered = rig.callee.answeredChecks
        #expect(try rig.callee.run(for: .seconds(30)) { $0.answeredChecks > answered })
        var number: UInt16 = 100
        for _ in 0..<3_000 where !rig.events.contains(.failed(.callee, .consentExpired)) {
            number += 1
            try speak(rig, kind, number)
            _ = try rig.caller.run(for: .milliseconds(10))
        }
        #expect(rig.events.contains(.failed(.callee, .consentExpired)))
        #expect(!rig.events.contains(.failed(.caller, .consentExpired)))
        // Then it falls silent, too.
        #expect(try rig.wait { rig.events.contains(.failed(.caller, .consentExpired)) })
        rig.server.stop()
    }

    @Test func `packets that are sent again keep nobody alive`() throws {
        var rig = try Rig(consentTimeout: .seconds(5))
        try rig.establish()
        let packet = try #require(try rig.caller.protect(Rig.packet(sequence: 7, timestamp: 1_120, ssrc: 0xAAAA)))
        rig.caller.checks = false
        for _ in 0..<3_000 where !rig.events.contains(.failed(.caller, .consentExpired)) {
            rig.caller.sendRaw(packet)
            _ = try rig.caller.run(for: .milliseconds(10))
            _ = try rig.callee.run(for: .milliseconds(1))
        }
        #expect(rig.events.contains(.failed(.caller, .consentExpired)))
        #expect(rig.metrics.srtpFailures[.replay].value > 0)
        rig.server.stop()
    }

    // MARK: Another address

    /// Both are heard where they are; numbers below those of `expectMedia`.
    private func talk(
        _ rig: Rig, _ numbers: Range<UInt16>, _ caller: (UInt16) throws -> Void, until condition: () -> Bool
    ) throws {
        for number in numbers where !condition() {
            try caller(number)
            try rig.callee.send(Rig.packet(sequence: number, timestamp: UInt32(number) * 160, ssrc: 0xBBBB))
            _ = try rig.callee.run(for: .milliseconds(10))
            _ = try rig.caller.run(for: .milliseconds(10))
        }
        #expect(condition())
    }

    private func isMedia(_ packet: [UInt8]) -> Bool { packet.first.map { $0 > 127 } ?? false }

    @Test func `a peer without checks is heard from another port, and takes its media along`() throws {
        var rig = try Rig()
        try rig.establish()
        try talk(rig, 1..<50, { try speak(rig, .media, $0) }) {
            !rig.caller.received.isEmpty && !rig.callee.received.isEmpty
        }
        rig.caller.checks = false
        try rig.caller.move()
        rig.caller.clear()
        rig.callee.clear()
        try talk(rig, 50..<1_000, { try speak(rig, .media, $0) }) {
            rig.caller.received.count > 50 && !rig.callee.received.isEmpty
        }
        #expect(rig.metrics.dtlsHandshakes[.completed].value == 2)
        #expect(!rig.events.contains(.failed(.caller, .consentExpired)))
        try rig.expectMedia()
        rig.server.stop()
    }

    /// A call in which nothing has come of the caller for so long that it would be followed.
    private func silentCaller() throws -> Rig {
        var rig = try Rig()
        try rig.establish()
        try talk(rig, 1..<50, { try speak(rig, .media, $0) }) {
            !rig.caller.received.isEmpty && !rig.callee.received.isEmpty
        }
        rig.caller.checks = false
        // The callee really moves, a little later: when it has been followed, the caller would be as well.
        let answered = rig.callee.answeredChecks
        #expect(try rig.callee.run(for: .seconds(30)) { $0.answeredChecks > answered })
        rig.callee.checks = false
        try rig.callee.move()
        let before = rig.caller.received.count
        try talk(rig, 50..<1_000, { _ in }) { rig.caller.received.count > before + 50 }
        rig.callee.checks = true
        let again = rig.callee.answeredChecks
        #expect(try rig.callee.run(for: .seconds(30)) { $0.answeredChecks > again })
        rig.callee.clear()
        return rig
    }

    private func protected(_ rig: Rig, _ number: UInt16) throws -> [UInt8] {
        try #require(
            try rig.caller.protect(Rig.packet(sequence: number, timestamp: UInt32(number) * 160, ssrc: 0xAAAA)))
    }

    @Test func `who is faster with a peer's packets than the peer draws no media, and takes none from its listener`()
        throws
    {
        var rig = try silentCaller()
        let thief = try Stranger(to: rig.gateway)
        for number in 100..<150 as Range<UInt16> {
            let (heard, packet) = (rig.callee.received.count, try protected(rig, number))
            thief.send(packet)
            rig.caller.sendRaw(packet)
            #expect(try rig.wait { rig.callee.received.count > heard })
        }
        _ = try thief.listen(for: .milliseconds(20))
        #expect(!thief.answers.contains(where: isMedia))
        try rig.expectMedia()
        rig.server.stop()
    }

    @Test func `who is faster by several packets has media only until the first of the peer's own`() throws {
        let rig = try silentCaller()
        let thief = try Stranger(to: rig.gateway)
        let packets = try (100..<105 as Range<UInt16>).map { try protected(rig, $0) }
        for packet in packets { thief.send(packet) }
        #expect(try rig.wait { rig.callee.received.count == packets.count })
        let replays = rig.metrics.srtpFailures[.replay].value
        rig.caller.sendRaw(packets[0])
        #expect(try rig.wait { rig.metrics.srtpFailures[.replay].value == replays + 1 })
        _ = try thief.listen(for: .milliseconds(20))
        let drawn = thief.answers.count(where: isMedia)
        rig.caller.clear()
        for number in 1_000..<1_020 as Range<UInt16> {
            try rig.callee.send(Rig.packet(sequence: number, timestamp: UInt32(number) * 160, ssrc: 0xBBBB))
        }
        #expect(try rig.wait { rig.caller.received.count == 20 })
        #expect(thief.answers.count(where: isMedia) == drawn)
        rig.server.stop()
    }
}
