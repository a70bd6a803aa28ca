import ICE
import MediaPlane
import Primitives
import SDP
import STUN
import TestSupport

/// One session of the gateway and its peer, in virtual time: the peer checks and sends from one of several paths, each
/// with a lossy network of its own, while the gateway sends it a packet every 20 ms. DTLS is played by the clock, as in
/// `SimulatedCall`.
struct RoamingPeer {
    enum Packet {
        case check([UInt8])
        case media
    }

    typealias Parameters = (gateway: ICECredentials, peer: ICECredentials)

    static let first = generation(0)
    static let paths = [
        Path(local: SocketIndex(0), remote: SocketAddress(IPAddress(v4: 0xC000_0201), port: 1_000)),
        Path(local: SocketIndex(0), remote: SocketAddress(IPAddress(v4: 0xC633_6407), port: 2_000)),
        Path(
            local: SocketIndex(0), remote: SocketAddress(IPAddress(v4: 0xC000_0201), port: 3_000),
            transport: .tcp(ConnectionID(place: 0, generation: 0))),
    ]

    private(set) var clock = VirtualClock()
    private(set) var session: PeerSession
    private var gate = MediaGate()
    private(set) var events: [SessionEvent] = []
    private(set) var retired: [String] = []
    private(set) var handshakes = 0
    /// The longest the peer heard nothing, and the longest nothing of it was let in, since `forgetGaps`.
    private(set) var longestGap = Duration.zero
    private(set) var longestRefusal = Duration.zero
    private var lastHeard: MonotonicTime
    private var lastAdmitted: MonotonicTime
    private var handshakeEnd: MonotonicTime?
    private var toGateway: [VirtualNetwork<Packet>]
    private var toPeer: [VirtualNetwork<Packet>]
    private var nextCheck: MonotonicTime
    private var answersAwaited = true
    private var random: SeededRandomSource
    private var steps = 0

    /// Where the peer is: what is sent to any other path is lost.
    var place = 0 {
        didSet { (nextCheck, answersAwaited) = (clock.now, true) }
    }
    var nominates = true
    var isSilent = false
    /// Both sides' parameters as the peer knows them.
    var parameters: Parameters = Self.first {
        didSet { (nextCheck, answersAwaited) = (clock.now, true) }
    }
    var checkInterval = Duration.milliseconds(2_500)

    init(loss: Double, seed: UInt64) {
        random = SeededRandomSource(seed: seed)
        let conditions = VirtualNetwork<Packet>.Conditions(
            loss: loss, latency: .milliseconds(30), jitter: .milliseconds(20))
        toGateway = Self.paths.indices.map { VirtualNetwork(conditions, seed: seed &+ UInt64($0)) }
        toPeer = Self.paths.indices.map { VirtualNetwork(conditions, seed: seed &+ 100 &+ UInt64($0)) }
        (nextCheck, lastHeard, lastAdmitted) = (clock.now, clock.now, clock.now)
        session = PeerSession(local: Self.first.gateway)
        perform(session.connect(Self.transport(Self.first), at: clock.now))
    }

    static func generation(_ generation: Int) -> Parameters {
        (
            ICECredentials(ufrag: "gate\(generation)", password: "password \(generation) of the gateway"),
            ICECredentials(ufrag: "peer\(generation)", password: "password \(generation) of the peer")
        )
    }

    static func transport(_ parameters: Parameters) -> NegotiatedTransport {
        NegotiatedTransport(
            local: parameters.gateway, remote: parameters.peer,
            remoteFingerprints: [Fingerprint(.sha256, digest: SimulatedCall.certificate)], role: .server)
    }

    /// Lets time pass, 10 ms a step.
    mutating func run(for duration: Duration) {
        let end = clock.now + duration
        while clock.now < end {
            step()
            clock.advance(by: .milliseconds(10))
        }
    }

    mutating func forgetGaps() {
        (longestGap, longestRefusal) = (.zero, .zero)
        (lastHeard, lastAdmitted) = (clock.now, clock.now)
    }

    /// What signalling tells the session.
    mutating func restart(local: ICECredentials, remote: ICECredentials?) {
        perform(session.restart(local: local, remote: remote, at: clock.now))
    }
    mutating func connect(_ transport: NegotiatedTransport) { perform(session.connect(transport, at: clock.now)) }
    mutating func closeConnection() { perform(session.pathClosed(Self.paths[2], at: clock.now)) }

    private mutating func step() {
        let now = clock.now
        steps += 1
        if !isSilent { send(at: now) }
        for index in Self.paths.indices {
            for packet in toGateway[index].receive(at: now) { arrive(packet, over: Self.paths[index], at: now) }
            for packet in toPeer[index].receive(at: now) where index == place { hear(packet, at: now) }
        }
        if let deadline = session.nextDeadline, deadline.time <= now { perform(session.timeout(at: now)) }
        if let end = handshakeEnd, end <= now {
            handshakeEnd = nil
            perform(session.handshakeCompleted { _ in SimulatedCall.certificate })
        }
        if steps % 2 == 0, session.isEstablished, let path = session.selectedPath,
            let index = Self.paths.firstIndex(of: path)
        {
            toPeer[index].send(.media, at: now)
        }
        longestGap = max(longestGap, now - lastHeard)
        longestRefusal = max(longestRefusal, now - lastAdmitted)
    }

    private mutating func send(at now: MonotonicTime) {
        if now >= nextCheck {
            nextCheck = now + (answersAwaited ? .milliseconds(200) : checkInterval)
            toGateway[place].send(.check(check()), at: now)
        }
        if steps % 2 == 1 { toGateway[place].send(.media, at: now) }
    }

    private mutating func check() -> [UInt8] {
        let username = "\(parameters.gateway.ufrag):\(parameters.peer.ufrag)"
        return STUNMessage(
            .request, .binding, TransactionID(using: &random),
            [.username(username), .priority(1), .iceControlling(tieBreaker: 1)] + (nominates ? [.useCandidate] : [])
        ).encoded(password: parameters.gateway.password.value, authentication: TestAuthentication())
    }

    private mutating func arrive(_ packet: Packet, over path: Path, at now: MonotonicTime) {
        switch packet {
        case .media:
            guard isLetIn(from: path) else { return }
            lastAdmitted = now
            perform(session.mediaReceived())
        case .check(let bytes):
            guard let message = try? STUNMessage(parsing: bytes.span) else { return }
            let actions = session.receive(
                message, raw: bytes.span, over: path, at: now, authentication: TestAuthentication())
            gate.checked(path, by: .a, actions)
            perform(actions)
        }
    }

    /// Whether media from this path is the session's.
    func isLetIn(from path: Path) -> Bool { gate.leg(for: path, among: [.a: session]) == .a }

    private mutating func hear(_ packet: Packet, at now: MonotonicTime) {
        switch packet {
        case .media: lastHeard = now
        case .check(let answer):
            guard let message = try? STUNMessage(parsing: answer.span), message.messageClass == .success, answersAwaited
            else { return }
            (answersAwaited, nextCheck) = (false, now + checkInterval)
        }
    }

    private mutating func perform(_ actions: [SessionAction]) {
        for action in actions {
            gate.follow(action, of: .a)
            switch action {
            case .event(let event): events.append(event)
            case .fragmentRetired(let fragment): retired.append(fragment)
            case .startHandshake:
                handshakes += 1
                handshakeEnd = clock.now + .milliseconds(80)
            case .transmit(let bytes, let path):
                if let index = Self.paths.firstIndex(of: path) { toPeer[index].send(.check(bytes), at: clock.now) }
            case .pathValidated, .pathForgotten, .refused: break
            }
        }
    }
}
