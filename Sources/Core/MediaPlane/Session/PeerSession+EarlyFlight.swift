import ICE
package import Primitives

/// A handshake that the peer begins before its description is known: peers do when they set their answer, which is then
/// still on its way.
extension PeerSession {
    /// What becomes of a record that no handshake takes.
    package enum EarlyRecord: Equatable, Sendable {
        /// Kept until the description comes.
        case kept
        /// It is none of a ClientHello.
        case refused(HandshakeRecord.Refusal)
        /// The description is known, or no check has come over the path.
        case unwanted
    }

    /// A record came over `path`, and there is no handshake to show it to.
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

    /// To be called once with `startHandshake`: what is to be shown to the handshake at once, if it is a server's, and
    /// what it came over.
    ///
    /// Flights of other devices, which were offered the same parameters, are gone: their paths were forgotten with the
    /// description.
    package mutating func takeEarlyFlight() -> (path: Path, datagrams: [[UInt8]])? { earlyFlights.take() }

    /// A handshake over this path was another's: what was kept from there was its beginning.
    package mutating func dropEarlyFlight(over path: Path) { earlyFlights.forget(path) }
}
