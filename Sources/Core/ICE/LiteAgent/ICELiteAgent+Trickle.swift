extension ICELiteAgent {
    /// Candidates that one set of the peer's parameters may bring.
    package static let maximumTrickledCount = 128

    /// The peer has told a candidate (RFC 8838). It is examined and forgotten: see `TrickleVerdict.noted`.
    package mutating func trickled(_ trickled: TrickledCandidate) -> TrickleVerdict {
        guard case .candidate(let candidate) = trickled else { return .noted }
        if let ufrag = candidate.ufrag, let remote, ufrag != remote.ufrag { return .stale(ufrag: ufrag) }
        guard trickledCount < Self.maximumTrickledCount else { return .limitReached }
        trickledCount += 1
        return .noted
    }
}
