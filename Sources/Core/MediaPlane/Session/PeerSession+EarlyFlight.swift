import ICE
package import Primitives

/// A handshake that the peer starts before its description is known. Peers start it when they set their answer, which
/// is then still on its way to the gateway.
extension PeerSession {
    /// What becomes of a record for which there is no handshake yet.
    package enum EarlyRecord: Equatable, Sendable {
        /// It is kept until the description comes.
        case kept
        /// It is not part of a ClientHello.
        case refused(HandshakeRecord.Refusal)
        /// It is dropped: the description is known already, or no check has come over the path.
        case unwanted
    }

    /// Keeps a DTLS datagram that came over `path` while there is no handshake.
    package mutating func keep(_ datagram: Span<UInt8>, over path: Path) -> EarlyRecord {
        guard case .awaitingDescription = phase, ice.accepts(path) else { return .unwanted }
        do {
            try earlyFlights.add(datagram, over: path)
        } catch {
            return .refused(error)
        }
        proofs.received(datagram.count, over: path)
        return .kept
    }

    /// Takes out the kept flight that came last, with its path; `nil` if there is none. It is called once, at
    /// `startHandshake`. If the gateway is the server, the datagrams go to the handshake at once.
    ///
    /// Flights of other devices that were offered the same parameters are gone, because their paths were forgotten with
    /// the description.
    package mutating func takeEarlyFlight() -> (path: Path, datagrams: [[UInt8]])? { earlyFlights.take() }

    /// Drops the flight that came over `path`, because the handshake over that path was another peer's.
    package mutating func dropEarlyFlight(over path: Path) { earlyFlights.forget(path) }
}
