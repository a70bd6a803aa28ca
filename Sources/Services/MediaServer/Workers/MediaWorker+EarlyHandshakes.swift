internal import DTLS
internal import MediaPlane
internal import Observability
internal import Primitives
internal import SDP

/// Handshakes that peers begin before their descriptions are known.
extension MediaWorker {
    /// Keeps a ClientHello until the leg's description comes; why it is not kept, if so.
    func keep(_ datagram: Span<UInt8>, over path: Path, for leg: MediaLeg) -> PacketDropReason? {
        switch leg.session.keep(datagram, over: path) {
        case .kept: nil
        case .refused: .malformed
        case .unwanted: .notConnected
        }
    }

    /// A handshake over the path is through: what others have kept from there was its beginning.
    func forgetEarlyFlights(over path: Path) {
        guard paths.holding(of: path)?.isContested == true else { return }
        for leg in legsHere(of: paths.claims(on: path)) { leg.session.dropEarlyFlight(over: path) }
    }

    /// The description is there, and its peer may have shaken hands already, over a path that others claim as well:
    /// with the association of another leg, which has been left to one without a description. Returns whether there is
    /// nothing to be begun.
    func takeAssociation(
        for leg: MediaLeg, as role: DTLSRole, _ transport: inout PacketTransport, at now: MonotonicTime
    ) -> Bool {
        for path in leg.session.validatedPaths {
            for holder in legsHere(of: paths.claims(on: path)) where holder === leg || holder.session.awaitsDescription
            {
                guard let dtls = holder.dtls, holder.handshakeOrigin == path, dtls.role == .init(role),
                    dtls.state == .established,
                    leg.session.awaits(digest: { dtls.peerCertificateDigest(.init($0)) })
                else { continue }
                if holder !== leg {
                    bequeathHandshake(of: leg)
                    give(dtls, of: holder, over: path, to: leg)
                }
                _ = leg.session.takeEarlyFlight()
                protect(leg, dtls, over: path, &transport, at: now)
                return true
            }
        }
        // Under way: what the peer presents is judged when it is through.
        if let dtls = leg.dtls, dtls.state == .handshaking, dtls.role == .init(role), leg.handshakeOrigin != nil {
            _ = leg.session.takeEarlyFlight()
            return true
        }
        bequeathHandshake(of: leg)
        return false
    }

    /// The description is there: what its peer has said already is judged like everything after it.
    func showEarlyFlight(
        of leg: MediaLeg, _ dtls: DTLSTransport, _ transport: inout PacketTransport, at now: MonotonicTime
    ) {
        guard let flight = leg.session.takeEarlyFlight(), dtls.role == .server else { return }
        // Somebody who claims the path has answered the same already, and its peer would take another answer for
        // nonsense. Whose that handshake is, the certificate says.
        guard !isShakingHands(asServerOver: flight.path, besides: leg) else { return }
        (leg.handshakeOrigin, leg.handshakePath) = (flight.path, flight.path)
        for datagram in flight.datagrams where dtls.state == .handshaking {
            dtls.receive(datagram.span)
            continueHandshake(of: leg, dtls, over: flight.path, &transport, at: now)
        }
    }
}
