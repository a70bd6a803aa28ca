import ArgumentParser
import BenchValues
import Cryptography
import DTLS
import Primitives
import SDP
import SRTP
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
        /// Whether these peers kept up.
        var generator = GeneratorState()

        static func += (total: inout Self, more: Self) {
            total.sent += more.sent
            total.received += more.received
            total.delay += more.delay
            total.generator += more.generator
        }
    }

    private static let packetInterval = Duration.milliseconds(20)
    /// RFC 7675 §5.1 has a check every four to six seconds.
    private static let consentInterval = Duration.seconds(5)
    private static let checkInterval = Duration.milliseconds(50)
    private static let firstMediaInterval = Duration.milliseconds(5)
    private static let patience = Duration.seconds(10)
    private static let burst = 16
    /// How late peers that talk meanwhile may be before they are let send.
    private static let talkInterval = Duration.milliseconds(1)
    /// What they did not send in a longer time is left out.
    private static let longestSilence = Duration.milliseconds(100)

    private let context: DTLSContext
    private let socket: PeerSocket
    private var peers: [LoadPeer] = []
    /// Those that send in a stream.
    private var senders: [LoadPeer] = []
    private var timers = DeadlineQueue()
    private var traffic = Traffic()
    private var isChecking = true
    /// Peers that are connected send their packets while others connect, too (``talk``).
    var talkMeanwhile = false
    /// When their next packet is due; `nil`: they have sent none.
    private var nextTalk: MonotonicTime?
    /// Who of the senders is the next.
    private var turn = 0

    init() throws {
        context = try DTLSContext(certificate: Certificate(commonName: "peer"))
        socket = try PeerSocket()
    }

    /// What the handshakes of all peers so far have agreed on.
    var profiles: Set<SRTPSession.Profile> { Set(peers.compactMap(\.profile)) }

    /// - Parameter voice: `nil`: its packets hold the time instead of sound.
    func add(_ voice: LoadPeer.Voice? = nil) -> LoadPeer {
        let peer = LoadPeer(
            number: UInt16(peers.count), at: socket.address(of: UInt16(peers.count)), context: context, voice: voice)
        peers.append(peer)
        return peer
    }

    /// Checks and shakes hands with one server until all of these have keys.
    func connect(_ connecting: [LoadPeer], to gateway: SocketAddress) throws {
        for peer in connecting { peer.destination = gateway }
        try connect(connecting)
    }

    /// Checks and shakes hands, each with its own destination, until all of these have keys.
    func connect(_ connecting: [LoadPeer]) throws {
        let start = MonotonicClock.now
        for peer in connecting { timers.set(start, for: UInt64(peer.number)) }
        while !connecting.allSatisfy(\.isConnected) {
            let now = MonotonicClock.now
            guard now < start + Self.patience else { throw ValidationError("a peer did not connect") }
            try runOnce(at: now)
            if let due = nextTalk, now > due + Self.talkInterval { try talk() }
        }
    }

    /// Lets connected peers send what is due since they last did so, and then for so long, if they talk meanwhile
    /// (``talkMeanwhile``). So a server carries the calls that stand while further ones are asked for. Nothing of it is
    /// counted.
    func talk(for duration: Duration = .zero) throws {
        guard talkMeanwhile else { return }
        senders = peers.filter { $0.isConnected && !$0.isRetired }
        let entry = MonotonicClock.now
        let start = max(nextTalk ?? entry, entry - Self.longestSilence)
        var (now, sent) = (entry, 0)
        while !senders.isEmpty {
            sent = try sendDue(after: sent, since: start, at: now)
            try runOnce(at: now)
            now = MonotonicClock.now
            let isDue = Double(sent) * share <= Double((now - start).wholeNanoseconds)
            if now >= entry + duration, !isDue || now > entry + duration + Self.longestSilence { break }
        }
        guard !senders.isEmpty else { return }
        turn = (turn + sent) % senders.count
        nextTalk = start + .nanoseconds(Int64(Double(sent) * share))
    }

    /// Lets a peer check, and start its handshake if it may, for so long.
    func check(_ peer: LoadPeer, for duration: Duration) throws {
        let start = MonotonicClock.now
        timers.set(start, for: UInt64(peer.number))
        var now = start
        while now < start + duration {
            try runOnce(at: now)
            now = MonotonicClock.now
        }
    }

    /// Lets connected peers send every few milliseconds until each of them has got a packet.
    func awaitMedia(at talking: [LoadPeer]) throws {
        let start = MonotonicClock.now
        var next = start
        while !talking.allSatisfy({ $0.received > 0 }) {
            let now = MonotonicClock.now
            guard now < start + Self.patience else { throw ValidationError("a peer got no media") }
            if now >= next {
                for peer in talking { try send(from: peer) }
                next = now + Self.firstMediaInterval
            }
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
        senders = peers.filter { !$0.isRetired }
        (traffic, turn) = (Traffic(), 0)
        let (unsent, dropped) = (socket.unsent, try socket.dropped())
        let start = MonotonicClock.now
        var now = start
        while now < start + duration {
            traffic.sent = try sendDue(after: traffic.sent, since: start, at: now)
            try runOnce(at: now)
            now = MonotonicClock.now
        }
        while now < start + duration + .milliseconds(100) {
            try runOnce(at: now)
            now = MonotonicClock.now
        }
        traffic.generator.unsent = socket.unsent - unsent
        traffic.generator.dropped = try socket.dropped() - dropped
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
                if let answer = try peer.receive(slot.span.extracting(0..<length)) { send(answer, from: peer) }
                continueHandshake(of: peer, at: now)
            } else {
                // What cannot be authenticated, or comes twice, is no arrival.
                guard let arrival = try? peer.readPacket(in: &slot, count: length) else { return }
                traffic.received += 1
                guard case .stamped(let time) = arrival else { return }
                traffic.delay.record(nanoseconds: MonotonicClock.now.nanoseconds - time.nanoseconds)
            }
        }
    }

    /// Sends the packets that are due, of which so many have been sent before. The peers take turns, and packet n is
    /// due n shares of the interval after the start. A sender that is late sends only a few packets at a time, so that
    /// incoming packets are stamped in time.
    ///
    /// - Returns: how many have been sent then.
    private func sendDue(after count: Int, since start: MonotonicTime, at now: MonotonicTime) throws -> Int {
        let (share, elapsed) = (self.share, Double((now - start).wholeNanoseconds))
        var sent = count
        for _ in 0..<Self.burst where Double(sent) * share <= elapsed {
            let peer = senders[(turn + sent) % senders.count]
            traffic.generator.lateness.record(nanoseconds: UInt64(max(0, elapsed - Double(sent) * share)))
            try send(from: peer)
            sent += 1
        }
        return sent
    }

    /// The time between a packet of one peer and that of the next one, in nanoseconds.
    private var share: Double { Double(Self.packetInterval.wholeNanoseconds) / Double(senders.count) }

    private func send(from peer: LoadPeer) throws {
        try socket.queue(from: peer.number, to: peer.destination) {
            try peer.writePacket(into: &$0, at: MonotonicClock.now)
        }
    }

    private func send(_ packet: [UInt8], from peer: LoadPeer) {
        socket.queue(packet, from: peer.number, to: peer.destination)
    }

    private func wake(_ peer: LoadPeer, at now: MonotonicTime) {
        guard !peer.isRetired else { return }
        if isChecking, let check = peer.check() { send(check, from: peer) }
        for datagram in peer.unansweredFlight { send(datagram, from: peer) }
        if peer.retransmission == .zero { peer.handshakeTimedOut() }
        continueHandshake(of: peer, at: now)
        timers.set(now + (peer.isConnected ? Self.consentInterval : Self.checkInterval), for: UInt64(peer.number))
    }

    private func continueHandshake(of peer: LoadPeer, at now: MonotonicTime) {
        while let datagram = peer.nextHandshakeDatagram() { send(datagram, from: peer) }
    }
}
