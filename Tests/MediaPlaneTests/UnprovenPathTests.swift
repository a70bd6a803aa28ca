import ICE
import MediaPlane
import Primitives
import SDP
import STUN
import TestSupport
import Testing

/// Where a session sends, and how much, to addresses that anybody can have written on a check.
@Suite struct UnprovenPathTests {
    private struct Authentication: MessageAuthentication {
        func hmacSHA1(key: [UInt8], _ message: Span<UInt8>) -> [UInt8] {
            SHA1.hmac(key: key, [UInt8](copying: message))
        }
    }

    private static let local = ICECredentials(ufrag: "gate", password: "password of the gateway")
    private static let remote = ICECredentials(ufrag: "peer", password: "password of the peer!!")
    private static let certificate = [UInt8](repeating: 9, count: 32)
    private static let (first, second) = (path(1_000), path(2_000))

    private var clock = VirtualClock()

    private static func path(_ port: UInt16, _ transport: Path.Transport = .udp) -> Path {
        Path(local: SocketIndex(0), remote: SocketAddress(IPAddress(v4: 0xC000_0201), port: port), transport: transport)
    }

    private func check(_ session: inout PeerSession, over path: Path) throws -> Int {
        let bytes = STUNMessage(
            .request, .binding, TransactionID(high: 1, low: 1),
            [.username("gate:peer"), .iceControlling(tieBreaker: 1), .useCandidate]
        ).encoded(password: Self.local.password.value, authentication: Authentication())
        let actions = session.receive(
            try STUNMessage(parsing: bytes.span), raw: bytes.span, over: path, at: clock.now,
            authentication: Authentication())
        #expect(!actions.contains { if case .refused = $0 { true } else { false } })
        return bytes.count
    }

    private func connected() throws -> (PeerSession, checkSize: Int) {
        var session = PeerSession(local: Self.local)
        _ = session.connect(
            NegotiatedTransport(
                local: Self.local, remote: Self.remote,
                remoteFingerprints: [Fingerprint(.sha256, digest: Self.certificate)], role: .server),
            at: clock.now)
        let size = try check(&session, over: Self.first)
        return (session, size)
    }

    private func established() throws -> (PeerSession, checkSize: Int) {
        var (session, size) = try connected()
        #expect(session.handshakeCompleted { _ in Self.certificate } == [.event(.dtlsConnected)])
        session.prove(Self.first, by: 0)
        return (session, size)
    }

    @Test mutating func `a checked address gets three times what came from it, checks and records, and then nothing`()
        throws
    {
        var (session, size) = try connected()
        #expect(session.destination == Self.first && session.isOnTrial)
        #expect(session.maySend(bytes: 3 * size - 1, over: Self.first) == true)
        #expect(session.maySend(bytes: 2, over: Self.first) == false)
        #expect(session.maySend(bytes: 1, over: Self.first) == true)
        #expect(session.maySend(bytes: 1, over: Self.first) == false)
        session.handshakeReceived(bytes: 200, over: Self.first)
        #expect(session.maySend(bytes: 600, over: Self.first) == true)
        #expect(session.maySend(bytes: 1, over: Self.first) == false)
        #expect(session.maySend(bytes: 1, over: Self.second) == false, "nothing came from there")
        session.prove(Self.first, by: 0)
        #expect(!session.isOnTrial)
        #expect(session.maySend(bytes: 1_000_000, over: Self.first) == true)
    }

    @Test
    mutating func `media stays where it is until something authenticated comes from the address that was nominated`()
        throws
    {
        var (session, _) = try established()
        _ = try check(&session, over: Self.second)
        #expect(session.selectedPath == Self.second)
        #expect(session.destination == Self.first && !session.isOnTrial)
        session.prove(Self.second, by: 0)
        #expect(session.destination == Self.second && !session.isOnTrial)
        // Both are proven now; the peer may go back and forth.
        _ = try check(&session, over: Self.first)
        #expect(session.destination == Self.first)
    }

    @Test mutating func `a proof over a path that was not chosen moves nothing`() throws {
        var (session, _) = try established()
        session.prove(Self.second, by: 0)
        #expect(session.destination == Self.first, "without a check it is no path")
        _ = try check(&session, over: Self.second)
        _ = try check(&session, over: Self.first)
        session.prove(Self.second, by: 0)
        #expect(session.destination == Self.first && session.selectedPath == Self.first)
    }

    @Test mutating func `when the proven path is gone the new one gets little until it is proven`() throws {
        var (session, size) = try established()
        for _ in 0..<31 {
            clock.advance(by: .seconds(1))
            _ = try check(&session, over: Self.second)
            _ = session.timeout(at: clock.now)
        }
        #expect(session.validatedPaths == [Self.second])
        #expect(session.destination == Self.second && session.isOnTrial)
        #expect(session.maySend(bytes: 3 * 31 * size, over: Self.second) == true)
        #expect(session.maySend(bytes: 1, over: Self.second) == false)
        session.prove(Self.second, by: 0)
        #expect(!session.isOnTrial)
    }

    @Test mutating func `a forgotten proof does not count when the path comes back`() throws {
        var (session, _) = try established()
        for _ in 0..<31 {
            clock.advance(by: .seconds(1))
            _ = try check(&session, over: Self.second)
            _ = session.timeout(at: clock.now)
        }
        session.prove(Self.second, by: 0)
        _ = try check(&session, over: Self.first)
        #expect(session.destination == Self.second)
    }

    @Test mutating func `nobody forges a connection: media follows a check over TCP at once`() throws {
        var (session, _) = try established()
        let connection = Self.path(3_000, .tcp(ConnectionID(place: 1, generation: 1)))
        _ = try check(&session, over: connection)
        #expect(session.destination == connection && !session.isOnTrial)
        _ = session.pathClosed(connection, at: clock.now)
        #expect(session.destination == Self.first && !session.isOnTrial)
    }
}
