import ICE
import MediaPlane
import Primitives
import SDP
import TestSupport
import Testing

/// Peers that move, restart ICE, fall silent and come back, over networks that lose packets.
@Suite struct RoamingPeerTests {
    private static let usual: [SessionEvent] = [.iceConnected, .dtlsConnected, .mediaReceived]

    private func established(loss: Double, seed: UInt64) -> RoamingPeer {
        print("seed \(seed), loss \(loss)")
        var peer = RoamingPeer(loss: loss, seed: seed)
        peer.run(for: .seconds(5))
        #expect(peer.events == Self.usual)
        peer.forgetGaps()
        return peer
    }

    @Test(arguments: [1, 2, 3] as [UInt64], [0, 0.1, 0.2])
    func `a peer that moves and nominates is followed within a few checks`(seed: UInt64, loss: Double) {
        var peer = established(loss: loss, seed: seed)
        for place in [1, 2, 0, 1] {
            peer.place = place
            peer.run(for: .seconds(8))
            #expect(peer.session.selectedPath == RoamingPeer.paths[place])
        }
        // A check goes out at once and every 200 ms; three of them may be lost.
        #expect(peer.longestGap < .milliseconds(1_500))
        #expect(peer.longestRefusal < .milliseconds(1_500))
        // Three checks in a row may be lost, which is told and passes.
        #expect(peer.events.starts(with: Self.usual) && !hasFailed(peer.events))
        #expect(peer.handshakes == 1)
        peer.run(for: .seconds(40))
        #expect(peer.session.validatedPaths == [RoamingPeer.paths[1]])
        #expect(RoamingPeer.paths.map(peer.isLetIn) == [false, true, false])
    }

    @Test func `a checked path lets media in once DTLS has authenticated the peer, and not before`() {
        var peer = RoamingPeer(loss: 0, seed: 12)
        for _ in 0..<100 where !peer.events.contains(.dtlsConnected) {
            #expect(!peer.isLetIn(from: RoamingPeer.paths[0]) && !peer.events.contains(.mediaReceived))
            peer.run(for: .milliseconds(10))
        }
        #expect(peer.events.contains(.iceConnected) && peer.isLetIn(from: RoamingPeer.paths[0]))
        #expect(!peer.isLetIn(from: RoamingPeer.paths[1]))
    }

    @Test(arguments: [4, 5, 6] as [UInt64])
    func `a peer whose address changes under it is followed although it nominates nothing`(seed: UInt64) {
        var peer = established(loss: 0.05, seed: seed)
        (peer.nominates, peer.checkInterval) = (false, .seconds(5))
        peer.run(for: .seconds(10))
        peer.forgetGaps()
        peer.place = 1
        peer.run(for: .seconds(30))
        #expect(peer.session.selectedPath == RoamingPeer.paths[1])
        // The old path counts until it has been silent for 7 s; the next check over the new one is 5 s away, and may be
        // lost once.
        #expect(peer.longestGap < .seconds(18))
        #expect(peer.longestRefusal < .milliseconds(1_000))
        #expect(!hasFailed(peer.events))
    }

    @Test(arguments: [7, 8, 9] as [UInt64], [0, 0.1, 0.2])
    func `a restart on a live call is not heard`(seed: UInt64, loss: Double) {
        var peer = established(loss: loss, seed: seed)
        for generation in 1...3 {
            let next = RoamingPeer.generation(generation)
            // The peer's offer is answered; the answer takes a while, in which the peer checks as before.
            peer.connect(RoamingPeer.transport(next))
            #expect(
                peer.session.localFragments == [
                    next.gateway.ufrag, RoamingPeer.generation(generation - 1).gateway.ufrag,
                ])
            peer.run(for: .seconds(3))
            #expect(peer.session.selectedPath == RoamingPeer.paths[0])
            peer.parameters = next
            peer.run(for: .seconds(3))
            #expect(peer.session.localFragments == [next.gateway.ufrag])
        }
        #expect(peer.retired == ["gate0", "gate1", "gate2"])
        #expect(peer.longestGap < .milliseconds(400))
        #expect(peer.longestRefusal < .milliseconds(400))
        #expect(peer.events == Self.usual)
        #expect(peer.handshakes == 1)
    }

    @Test(arguments: [10, 11] as [UInt64])
    func `our own restart, which the peer obeys before its answer is here, drops no path`(seed: UInt64) {
        var peer = established(loss: 0.1, seed: seed)
        let next = RoamingPeer.generation(1)
        peer.restart(local: next.gateway, remote: nil)
        peer.run(for: .seconds(1))
        peer.parameters = next
        peer.run(for: .seconds(2))
        peer.connect(RoamingPeer.transport(next))
        peer.run(for: .seconds(10))
        #expect(peer.longestGap < .milliseconds(400))
        #expect(peer.retired == ["gate0"])
        #expect(peer.events == Self.usual)
    }

    @Test(arguments: [12, 13, 14] as [UInt64])
    func `a peer that restarts because its network changed comes back at another place`(seed: UInt64) {
        var peer = established(loss: 0.1, seed: seed)
        let next = RoamingPeer.generation(1)
        peer.isSilent = true
        peer.place = 1
        peer.run(for: .seconds(10))
        #expect(isLost(peer.events))
        peer.connect(RoamingPeer.transport(next))
        peer.parameters = next
        peer.isSilent = false
        peer.run(for: .seconds(3))
        #expect(peer.events.last == .mediaPathRecovered)
        #expect(peer.session.selectedPath == RoamingPeer.paths[1])
        #expect(peer.retired == ["gate0"])
        #expect(peer.handshakes == 1)
    }

    @Test func `a connection that closes loses the path at once; the next check finds it again`() {
        var peer = established(loss: 0, seed: 15)
        peer.place = 2
        peer.run(for: .seconds(60))
        #expect(peer.session.validatedPaths == [RoamingPeer.paths[2]])
        peer.isSilent = true
        peer.closeConnection()
        #expect(isLost(peer.events))
        #expect(peer.session.selectedPath == nil)
        peer.run(for: .seconds(20))
        peer.isSilent = false
        peer.place = 0
        peer.run(for: .seconds(1))
        #expect(peer.events.last == .mediaPathRecovered)
        #expect(peer.session.selectedPath == RoamingPeer.paths[0])
    }

    @Test func `silence is told, and ends the session when consent does`() {
        var peer = established(loss: 0, seed: 16)
        peer.isSilent = true
        peer.run(for: .seconds(15))
        #expect(isLost(peer.events))
        peer.isSilent = false
        peer.run(for: .seconds(5))
        #expect(peer.events.last == .mediaPathRecovered)
        peer.isSilent = true
        peer.run(for: .seconds(31))
        #expect(isLost(peer.events.dropLast()))
        #expect(peer.events.last == .failed(.consentExpired))
        #expect(peer.events.count == Self.usual.count + 4)
        // Over is over: a restart does not bring it back.
        peer.connect(RoamingPeer.transport(RoamingPeer.generation(1)))
        #expect(peer.session.nextDeadline == nil)
    }

    private func isLost(_ events: some BidirectionalCollection<SessionEvent>) -> Bool {
        if case .mediaPathLost? = events.last { true } else { false }
    }

    private func hasFailed(_ events: [SessionEvent]) -> Bool {
        events.contains { if case .failed = $0 { true } else { false } }
    }
}
