/// What a peer sends after its description, one at a time (RFC 8838): a candidate, or the end of candidates.
package enum TrickledCandidate: Hashable, Sendable {
    /// A further candidate.
    case candidate(Candidate)
    /// There are no further candidates.
    case endOfCandidates

    /// Reads `candidate:…` with or without `a=`. `end-of-candidates` (RFC 8840 §8.2) and the empty text, which browsers
    /// send, mean the end.
    ///
    /// - Throws: If the text is no candidate.
    package init(parsing line: some StringProtocol) throws(CandidateError) {
        let text = line.hasPrefix("a=") ? String(line.dropFirst(2)) : String(line)
        if text.isEmpty || text == "end-of-candidates" {
            self = .endOfCandidates
        } else {
            self = .candidate(try Candidate(parsing: text))
        }
    }
}

/// What becomes of a trickled candidate.
package enum TrickleVerdict: Hashable, Sendable {
    /// It is well-formed and belongs to this session. It has no effect, because a lite agent checks no pairs and learns
    /// addresses from checks.
    case noted
    /// It belongs to ICE parameters that the peer does not use, or not any more.
    case stale(ufrag: String)
    /// The peer has trickled more than `ICELiteAgent.maximumTrickledCount` candidates since the parameters were agreed.
    case limitReached
}
