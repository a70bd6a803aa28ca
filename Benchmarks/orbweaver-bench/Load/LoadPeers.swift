import ArgumentParser
import BenchValues
import Cryptography
import DTLS
import Primitives
import SDP
import Sockets

/// Drives many scripted peers from one thread: checks, handshakes, and a packet of each every 20 ms, evenly spread.
///
/// It looks for packets without ever sleeping, so that nobody who sends to it pays for waking it.
final class LoadPeers {
    /// What happened while media flowed.
    struct Traffic {
        var sent = 0
        var received = 0
        /// From the stamp in the sender's packet to its arrival at the receiver.
        var delay = DelayHistogram()
        /// How late the latest packet was sent; much more than a millisecond means that these peers cannot keep up.
        var worstLateness = Duration.zero

        static func += (total: inout Self, more: Self) {
            total.sent += more.sent
            total.received += more.received
            total.delay += more.delay
            total.worstLateness = max(total.worstLateness, more.worstLateness)
        }
    }

    private static let packetInterval = Duration.milliseconds(20)
    /// RFC 7675 §5.1 has a check every four to six seconds.
    private static let consentInterval = Duration.seconds(5)
    private static let checkInterval = Duration.milliseconds(50)
    private static let patience = Duration.seconds(10)
    private static let burst = 16

    private let context: DTLSContext
    private let socket: PeerSocket
    private var peers: [LoadPeer] = []
    private var timers = DeadlineQueue()
    private var traffic = Traffic()
    private var isChecking = true

    init() throws {
        context = try DTLSContext(certificate: Certificate(commonName: "peer"))
        socket = try PeerSocket()
    }

    /// Packets that the peers' own socket had no room for.
    var lost: Int { socket.lost }

    /// - Parameter voice: `nil`: its packets hold the time instead of sound.
    func add(_ voice: LoadPeer.Voice? = nil) -> LoadPeer {
        let peer = LoadPeer(number: UInt16(peers.count), context: context, voice: voice)
        peers.append(peer)
        return peer
    }

    /// Checks and shakes hands until all of these have keys.
    func connect(_ connecting: [LoadPeer], to gateway: SocketAddress) throws {
        socket.destination = gateway
        let start = MonotonicClock.now
        for peer in connecting { timers.set(start, for: UInt64(peer.number)) }
        while !connecting.allSatisfy(\.isConnected) {
            let now = MonotonicClock.now
            guard now < start + Self.patience else { throw ValidationError("a peer did not connect") }
            try runOnce(at: now)
        }
    }

    /// Lets every peer send for so long, and for a moment more receive.
    ///
    /// - Parameter isChecking: `false`: nobody checks meanwhile. A gateway takes a path for lost after 7 seconds of
    ///   that.
    func stream(for duration: Duration, isChecking: Bool = true) throws -> Traffic {
        self.isChecking = isChecking
        defer { self.isChecking = true }
        traffic = Traffic()
        let start = MonotonicClock.now
        var now = start
        while now < start + duration {
            try sendDue(since: start, at: now)
            try runOnce(at: now)
            now = MonotonicClock.now
        }
        while now < start + duration + .milliseconds(100) {
            try runOnce(at: now)
            now = MonotonicClock.now
        }
        return traffic
    }

    // MARK: One run of the loop

    private func runOnce(at now: MonotonicTime) throws {
        while let number = timers.popDue(at: now) { wake(peers[Int(number)], at: now) }
        socket.flush()
        try socket.receive { number, slot, length in
            guard length > 1, Int(number) < peers.count else { return }
            let peer = peers[Int(number)]
            if slot[0] < 128 {
                try peer.receive(slot.span.extracting(0..<length))
                continueHandshake(of: peer, at: now)
            } else if let arrival = try peer.readPacket(in: &slot, count: length) {
                traffic.received += 1
                guard case .stamped(let time) = arrival else { return }
                traffic.delay.record(nanoseconds: MonotonicClock.now.nanoseconds - time.nanoseconds)
            }
        }
    }

    /// Sends the packets that are due. The peers take turns, and packet n is due n shares of the interval after the
    /// start. A sender that is late sends only a few packets at a time, so that incoming packets are stamped in time.
    private func sendDue(since start: MonotonicTime, at now: MonotonicTime) throws {
        let share = Double(Self.packetInterval.wholeNanoseconds) / Double(peers.count)
        let elapsed = Double((now - start).wholeNanoseconds)
        for _ in 0..<Self.burst where Double(traffic.sent) * share <= elapsed {
            let peer = peers[traffic.sent % peers.count]
            let lateness = Duration.nanoseconds(Int64(elapsed - Double(traffic.sent) * share))
            traffic.worstLateness = max(traffic.worstLateness, lateness)
            try socket.queue(from: peer.number) { try peer.writePacket(into: &$0, at: MonotonicClock.now) }
            traffic.sent += 1
        }
    }

    private func wake(_ peer: LoadPeer, at now: MonotonicTime) {
        if isChecking, let check = peer.check() { socket.queue(check, from: peer.number) }
        if peer.retransmission == .zero { peer.handshakeTimedOut() }
        continueHandshake(of: peer, at: now)
        timers.set(now + (peer.isConnected ? Self.consentInterval : Self.checkInterval), for: UInt64(peer.number))
    }

    private func continueHandshake(of peer: LoadPeer, at now: MonotonicTime) {
        while let datagram = peer.nextHandshakeDatagram() { socket.queue(datagram, from: peer.number) }
    }
}
