import ICE
import MediaPlane
import Primitives
import SDP
import STUN
import TestSupport
import Testing

/// A peer that sends no checks and comes from another address.
@Suite struct RebindingTests {
    private struct Authentication: MessageAuthentication {
        func hmacSHA1(key: [UInt8], _ message: Span<UInt8>) -> [UInt8] {
            SHA1.hmac(key: key, [UInt8](copying: message))
        }
    }

    private static let local = ICECredentials(ufrag: "gate", password: "password of the gateway")
    private static let remote = ICECredentials(ufrag: "peer", password: "password of the peer!!")
    private static let certificate = [UInt8](repeating: 9, count: 32)
    private static let (old, new, third) = (path(1_000), path(2_000), path(3_000))

    private var clock = VirtualClock()
    private var session = PeerSession(local: local)
    /// When something came over the old path.
    private var lastArrival = MonotonicTime.zero

    private static func path(_ port: UInt16, _ transport: Path.Transport = .udp, local: UInt16 = 0) -> Path {
        Path(
            local: SocketIndex(local), remote: SocketAddress(IPAddress(v4: 0xC000_0201), port: port),
            transport: transport)
    }

    init() throws {
        _ = session.connect(
            NegotiatedTransport(
                local: Self.local, remote: Self.remote,
                remoteFingerprints: [Fingerprint(.sha256, digest: Self.certificate)], role: .server),
            at: clock.now)
        _ = try check(over: Self.old)
        _ = session.handshakeCompleted { _ in Self.certificate }
        session.prove(Self.old, by: 0)
        // Long enough without a check: its media has kept it alive.
        for _ in 0..<10 { hearOld(after: .seconds(1)) }
    }

    private mutating func check(over path: Path) throws -> [SessionAction] {
        let bytes = STUNMessage(
            .request, .binding, TransactionID(high: 1, low: 1),
            [.username("gate:peer"), .iceControlling(tieBreaker: 1)]
        ).encoded(password: Self.local.password.value, authentication: Authentication())
        return session.receive(
            try STUNMessage(parsing: bytes.span), raw: bytes.span, over: path, at: clock.now,
            authentication: Authentication())
    }

    private mutating func hearOld(after duration: Duration) {
        clock.advance(by: duration)
        lastArrival = clock.now
        #expect(session.heard(over: Self.old, at: clock.now) == [])
    }

    /// A packet of 100 bytes from an address that nobody has checked; `nil` if it is not even tried.
    private mutating func hear(over path: Path, after duration: Duration) -> [SessionAction]? {
        clock.advance(by: duration)
        guard session.mayHaveMoved(to: path, lastArrival: lastArrival, at: clock.now) else { return nil }
        return session.heardElsewhere(100, over: path, lastArrival: lastArrival, at: clock.now)
    }

    private mutating func follow() {
        #expect(hear(over: Self.new, after: .milliseconds(500)) == [])
        #expect(hear(over: Self.new, after: .milliseconds(400)) == [])
        #expect(hear(over: Self.new, after: .milliseconds(100)) == [.pathValidated(Self.new)])
    }

    @Test mutating func `it is followed with the third packet in a second without any from where it was`() {
        #expect(hear(over: Self.new, after: .milliseconds(249)) == nil, "too early to be tried")
        #expect(hear(over: Self.new, after: .milliseconds(1)) == [])
        for _ in 0..<37 { #expect(hear(over: Self.new, after: .milliseconds(20)) == []) }
        #expect(session.destination == Self.old)
        #expect(hear(over: Self.new, after: .milliseconds(20)) == [.pathValidated(Self.new)])
        #expect(session.destination == Self.new && session.selectedPath == Self.new && session.isOnTrial)
    }

    @Test mutating func `a packet from where it was begins the count anew, and so does one from yet another place`() {
        for _ in 0..<10 {
            #expect(hear(over: Self.new, after: .milliseconds(900)) == [])
            #expect(hear(over: Self.new, after: .milliseconds(50)) == [])
            hearOld(after: .milliseconds(40))
        }
        #expect(hear(over: Self.new, after: .seconds(1)) == [])
        #expect(hear(over: Self.new, after: .seconds(1)) == [])
        #expect(hear(over: Self.third, after: .milliseconds(20)) == [])
        #expect(hear(over: Self.new, after: .milliseconds(20)) == [])
        #expect(session.destination == Self.old)
    }

    @Test mutating func `what is repeated from where it was is reason enough to stay`() {
        // Somebody is faster than the peer, whose own packets are repetitions then: the worker says that something
        // came.
        for _ in 0..<200 {
            clock.advance(by: .milliseconds(20))
            lastArrival = clock.now
            #expect(hear(over: Self.new, after: .milliseconds(1)) == nil)
        }
    }

    @Test mutating func `a peer that sends checks is followed by them alone`() throws {
        _ = try check(over: Self.old)
        for _ in 0..<69 { #expect(hear(over: Self.new, after: .milliseconds(100)) == nil) }
        #expect(hear(over: Self.new, after: .milliseconds(100)) == [])
    }

    @Test(arguments: [
        path(2_000, .tcp(ConnectionID(place: 1, generation: 1))), path(2_000, local: 1), path(1_000),
    ])
    mutating func `no path but a new one over UDP to the same socket is tried`(_ path: Path) {
        #expect(hear(over: path, after: .seconds(2)) == nil)
    }

    @Test mutating func `it gets three times what came from there, until a report answers one that went there`() {
        follow()
        let moment = clock.now
        #expect(session.maySend(bytes: 900, over: Self.new) == true)
        #expect(session.maySend(bytes: 1, over: Self.new) == false)
        #expect(session.prove(Self.new, by: 100) == false)
        #expect(session.maySend(bytes: 300, over: Self.new) == true)
        #expect(session.maySend(bytes: 1, over: Self.new) == false)
        session.reportAnswered(sentAt: moment, over: Self.new)
        session.reportAnswered(sentAt: moment + .seconds(1), over: Self.old)
        #expect(session.isOnTrial && session.awaitsAnswer, "neither names one that went there and comes from there")
        session.reportAnswered(sentAt: moment + .seconds(1), over: Self.new)
        #expect(!session.isOnTrial && !session.awaitsAnswer && session.destination == Self.new)
        #expect(session.prove(Self.new, by: 100) == true)
    }

    @Test mutating func `anything from where it was takes media back, unless a report has answered`() {
        follow()
        #expect(session.arrived(over: Self.new) == [])
        #expect(session.arrived(over: Self.third) == [])
        #expect(session.arrived(over: Self.old) == [.pathForgotten(Self.new)])
        #expect(session.destination == Self.old && !session.isOnTrial && session.validatedPaths == [Self.old])
        lastArrival = clock.now
        follow()
        session.reportAnswered(sentAt: clock.now + .seconds(1), over: Self.new)
        #expect(session.arrived(over: Self.old) == [])
        #expect(session.destination == Self.new)
    }

    @Test mutating func `a check over the path is as good as an answer`() throws {
        follow()
        _ = try check(over: Self.new)
        #expect(!session.isOnTrial && session.destination == Self.new)
    }

    @Test mutating func `it lives on there, goes back, and ends like any other`() {
        follow()
        for _ in 0..<40 {
            clock.advance(by: .seconds(1))
            #expect(session.heard(over: Self.new, at: clock.now) == [])
            _ = session.timeout(at: clock.now)
        }
        #expect(session.validatedPaths == [Self.new])
        lastArrival = clock.now
        #expect(hear(over: Self.old, after: .milliseconds(500)) == [])
        #expect(hear(over: Self.old, after: .milliseconds(400)) == [])
        #expect(hear(over: Self.old, after: .milliseconds(100)) == [.pathValidated(Self.old)])
        clock.advance(by: .seconds(30))
        #expect(session.timeout(at: clock.now).contains(.event(.failed(.consentExpired))))
        #expect(hear(over: Self.third, after: .seconds(1)) == nil)
    }

    @Test mutating func `a lost path is found again`() {
        clock.advance(by: .seconds(8))
        #expect(session.timeout(at: clock.now).contains(.event(.mediaPathLost(after: .seconds(8)))))
        #expect(hear(over: Self.new, after: .zero) == [])
        #expect(hear(over: Self.new, after: .zero) == [])
        #expect(hear(over: Self.new, after: .zero) == [.pathValidated(Self.new), .event(.mediaPathRecovered)])
    }
}
