/// The ICE and DTLS attributes that hold for an m-line: its own, or those of the session level or its BUNDLE group.
package struct PeerTransport: Equatable, Sendable {
    /// `a=ice-ufrag` and `a=ice-pwd` (RFC 8839 §5.4); `nil` unless there are both.
    package var credentials: ICECredentials?
    /// The values of `a=fingerprint` with a supported hash function (RFC 8122 §5).
    package var fingerprints: [Fingerprint] = []
    /// `a=setup` (RFC 4145 §4); `nil` if it is missing.
    package var setup: SetupRole?
    /// Values of `a=candidate`, not parsed. A lite agent learns addresses from checks (RFC 8445 §7.3).
    package var candidates: [String] = []
    /// Whether there is `a=end-of-candidates` (RFC 8840 §8.2).
    package var hasAllCandidates = false
    /// Whether there is `a=ice-options:trickle` (RFC 8840 §4.1).
    package var tricklesCandidates = false
    /// Whether there is `a=rtcp-mux` (RFC 5761 §5.1.1) or `a=rtcp-mux-only` (RFC 8858 §3).
    package var multiplexesRTCP = false
    /// Whether there is `a=crypto` (RFC 4568). It only serves to tell the peer what is wrong.
    package var offersSDESKeys = false
}

extension PeerTransport {
    /// This transport with missing attributes taken from `other`: from the session level, or from the tagged m-line of
    /// a BUNDLE group.
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
