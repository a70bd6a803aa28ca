internal import DTLS
internal import MediaPlane
internal import Observability
internal import Primitives

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

    /// The description is there: what its peer has said already is judged like everything after it.
    func showEarlyFlight(of leg: MediaLeg, _ dtls: DTLSTransport, _ transport: inout PacketTransport, at now: MonotonicTime) {
        guard let flight = leg.session.takeEarlyFlight(), dtls.role == .server else { return }
        // Somebody who claims the path has answered the same already, and its peer would take another answer for nonsense. Whose that
        // handshake is, the certificate says.
        guard !isShakingHands(asServerOver: flight.path, besides: leg) else { return }
        (leg.handshakeOrigin, leg.handshakePath) = (flight.path, flight.path)
        for datagram in flight.datagrams where dtls.state == .handshaking {
            dtls.receive(datagram.span)
            continueHandshake(of: leg, dtls, over: flight.path, &transport, at: now)
        }
    }
}
