import ICE
import MediaPlane
import Primitives
import SDP
import STUN
import TestSupport
import Testing

/// What the session makes of its agent's actions, beside what the simulations show.
@Suite struct PeerSessionTests {
    private struct Authentication: MessageAuthentication {
        func hmacSHA1(key: [UInt8], _ message: Span<UInt8>) -> [UInt8] {
            SHA1.hmac(key: key, [UInt8](copying: message))
        }
    }

    private static let local = ICECredentials(ufrag: "gate", password: "password of the gateway")
    private static let remote = ICECredentials(ufrag: "peer", password: "password of the peer!!")
    private static let certificate = [UInt8](repeating: 9, count: 32)
    private static let path = Path(
        local: SocketIndex(0), remote: SocketAddress(IPAddress(v4: 0xC000_0201), port: 1_000),
        transport: .tcp(ConnectionID(place: 3, generation: 1)))

    private var clock = VirtualClock()

    private static func transport(local: ICECredentials = local, remote: ICECredentials = remote) -> NegotiatedTransport
    {
        NegotiatedTransport(
            local: local, remote: remote, remoteFingerprints: [Fingerprint(.sha256, digest: certificate)], role: .server
        )
    }

    private func check(_ session: inout PeerSession) throws -> [SessionAction] {
        let bytes = STUNMessage(
            .request, .binding, TransactionID(high: 1, low: 1),
            [.username("gate:peer"), .iceControlling(tieBreaker: 1), .useCandidate]
        ).encoded(password: Self.local.password.value, authentication: Authentication())
        return session.receive(
            try STUNMessage(parsing: bytes.span), raw: bytes.span, over: Self.path, at: clock.now,
            authentication: Authentication())
    }

    private func established() throws -> PeerSession {
        var session = PeerSession(local: Self.local)
        _ = session.connect(Self.transport(), at: clock.now)
        #expect(try check(&session).contains(.startHandshake(.server)))
        #expect(session.handshakeCompleted { _ in Self.certificate } == [.event(.dtlsConnected)])
        return session
    }

    @Test func `the same description again changes nothing`() throws {
        var session = try established()
        #expect(session.connect(Self.transport(), at: clock.now) == [])
        #expect(session.localFragments == ["gate"])
        #expect(session.isEstablished)
    }

    @Test func `other parameters of both sides restart ICE; the same command again does not`() throws {
        var session = try established()
        let (local, remote) = (
            ICECredentials(ufrag: "GATE", password: "another password"),
            ICECredentials(ufrag: "PEER", password: "yet another")
        )
        #expect(session.connect(Self.transport(local: local, remote: remote), at: clock.now) == [])
        #expect(session.restart(local: local, remote: remote, at: clock.now) == [])
        #expect(session.localFragments == ["GATE", "gate"])
        #expect(session.selectedPath == Self.path && session.validatedPaths == [Self.path] && session.isEstablished)
    }

    @Test func `a peer may take the credentials of another m-line than the first one that was offered`() throws {
        var session = PeerSession(local: ICECredentials(ufrag: "first", password: "password that nobody takes"))
        #expect(session.connect(Self.transport(), at: clock.now).contains(.fragmentRetired("first")))
        #expect(session.localFragments == ["gate"])
        #expect(try check(&session).contains(.startHandshake(.server)))
    }

    @Test func `before the session is established a lost path is nobody's concern`() throws {
        var session = PeerSession(local: Self.local)
        _ = session.connect(Self.transport(), at: clock.now)
        _ = try check(&session)
        #expect(session.pathClosed(Self.path, at: clock.now) == [.pathForgotten(Self.path)])
        let actions = try check(&session)
        #expect(!actions.contains(.event(.mediaPathRecovered)) && actions.contains(.pathValidated(Self.path)))
    }

    @Test func `afterwards it is`() throws {
        var session = try established()
        #expect(
            session.pathClosed(Self.path, at: clock.now) == [
                .pathForgotten(Self.path), .event(.mediaPathLost(after: .zero)),
            ])
        #expect(try check(&session).contains(.event(.mediaPathRecovered)))
    }

    @Test mutating func `a peer that is heard and sends no checks neither loses its path nor its call`() throws {
        var session = try established()
        for _ in 0..<100 {
            clock.advance(by: .seconds(6))
            #expect(session.timeout(at: clock.now) == [])
            #expect(session.heard(over: Self.path, at: clock.now) == [])
        }
        clock.advance(by: .seconds(7))
        #expect(session.timeout(at: clock.now) == [.event(.mediaPathLost(after: .seconds(7)))])
        #expect(session.heard(over: Self.path, at: clock.now) == [.event(.mediaPathRecovered)])
        clock.advance(by: .seconds(30))
        #expect(session.timeout(at: clock.now).contains(.event(.failed(.consentExpired))))
        #expect(session.heard(over: Self.path, at: clock.now) == [])
    }

    @Test func `a failed session hears of nothing`() throws {
        var session = try established()
        _ = session.timeout(at: clock.now + .seconds(31))
        #expect(session.phase == .failed(.consentExpired))
        #expect(session.restart(local: Self.remote, remote: Self.local, at: clock.now) == [])
        #expect(session.pathClosed(Self.path, at: clock.now) == [])
    }
}
