/// The transport attributes of an m-line, its own or those of its BUNDLE group.
package struct PeerTransport: Equatable, Sendable {
    package var credentials: ICECredentials?
    package var fingerprints: [Fingerprint] = []
    package var setup: SetupRole?
    /// Values of `a=candidate`, unread: a lite agent learns addresses from checks (RFC 8445 §7.3).
    package var candidates: [String] = []
    /// `a=end-of-candidates` (RFC 8840 §8.2)
    package var hasAllCandidates = false
    /// `a=ice-options:trickle` (RFC 8840 §4.1)
    package var tricklesCandidates = false
    /// `a=rtcp-mux` (RFC 5761 §5.1.1) or `a=rtcp-mux-only` (RFC 8858 §3)
    package var multiplexesRTCP = false
    /// `a=crypto` (RFC 4568), only to tell the peer what is wrong.
    package var offersSDESKeys = false
}

extension PeerTransport {
    /// This transport, with what it lacks taken from `other`: the session level, or the tagged m-line of a BUNDLE group.
    func filled(from other: PeerTransport) -> PeerTransport {
        var filled = self
        filled.credentials = credentials ?? other.credentials
        if fingerprints.isEmpty { filled.fingerprints = other.fingerprints }
        filled.setup = setup ?? other.setup
        if candidates.isEmpty { filled.candidates = other.candidates }
        filled.hasAllCandidates = hasAllCandidates || other.hasAllCandidates
        filled.tricklesCandidates = tricklesCandidates || other.tricklesCandidates
        filled.multiplexesRTCP = multiplexesRTCP || other.multiplexesRTCP
        return filled
    }
}
