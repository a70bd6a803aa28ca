internal import DTLS
internal import MediaPlane
internal import Observability
internal import Primitives
internal import SDP

/// Handshakes that peers start before their descriptions are known.
extension MediaWorker {
    /// Keeps a ClientHello until the description of the leg is known. Returns why it is not kept; `nil` if it is.
    func keep(_ datagram: Span<UInt8>, over path: Path, for leg: MediaLeg) -> PacketDropReason? {
        switch leg.session.keep(datagram, over: path) {
        case .kept: nil
        case .refused: .malformed
        case .unwanted: .notConnected
        }
    }

    /// Drops the flights that other legs have kept from a path, because the handshake that they started has finished.
    func forgetEarlyFlights(over path: Path) {
        guard paths.holding(of: path)?.isContested == true else { return }
        for leg in legsHere(of: paths.claims(on: path)) { leg.session.dropEarlyFlight(over: path) }
    }

    /// Looks for an association that the leg's peer has established before its description was known, over a path that
    /// other legs claim as well. Such an association was made for another leg, or left to one without a description.
    /// Returns whether no handshake needs to be started.
    func takeAssociation(
        for leg: MediaLeg, as role: DTLSRole, _ context: inout WorkerContext
    ) -> Bool {
        for path in leg.session.validatedPaths {
            for holder in legsHere(of: paths.claims(on: path)) where holder === leg || holder.session.awaitsDescription
            {
                guard let dtls = holder.dtls, holder.handshakeOrigin == path, dtls.role == .init(role),
                    dtls.state == .established,
                    leg.session.awaits(digest: { dtls.peerCertificateDigest(.init($0)) })
                else { continue }
                if holder !== leg {
                    reassignHandshake(of: leg)
                    give(dtls, of: holder, over: path, to: leg)
                }
                _ = leg.session.takeEarlyFlight()
                protect(leg, dtls, over: path, &context)
                return true
            }
        }
        // The handshake is under way. The certificate of the peer is checked when it has finished.
        if let dtls = leg.dtls, dtls.state == .handshaking, dtls.role == .init(role), leg.handshakeOrigin != nil {
            _ = leg.session.takeEarlyFlight()
            return true
        }
        reassignHandshake(of: leg)
        return false
    }

    /// Gives the flights that were kept to the association, because the description of the leg is known now. They are
    /// checked like later ones.
    func showEarlyFlight(
        of leg: MediaLeg, _ dtls: DTLSTransport, _ context: inout WorkerContext
    ) {
        guard let flight = leg.session.takeEarlyFlight(), dtls.role == .server else { return }
        // Another leg that claims the path has answered the same ClientHello already, and the peer would reject a
        // second answer. The certificate will show to which leg that handshake belongs.
        guard !isShakingHands(asServerOver: flight.path, besides: leg) else { return }
        (leg.handshakeOrigin, leg.handshakePath) = (flight.path, flight.path)
        for datagram in flight.datagrams where dtls.state == .handshaking {
            dtls.receive(datagram.span)
            continueHandshake(of: leg, dtls, over: flight.path, &context)
        }
    }
}
