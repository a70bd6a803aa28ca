/// What a peer sends after its description, one at a time (RFC 8838): a candidate, or word that there are no more.
package enum TrickledCandidate: Hashable, Sendable {
    case candidate(Candidate)
    case endOfCandidates

    /// `candidate:…` with or without `a=`; `end-of-candidates` (RFC 8840 §8.2) or nothing, as browsers have it, is the end.
    package init(parsing line: some StringProtocol) throws(CandidateError) {
        let text = line.hasPrefix("a=") ? String(line.dropFirst(2)) : String(line)
        if text.isEmpty || text == "end-of-candidates" {
            self = .endOfCandidates
        } else {
            self = .candidate(try Candidate(parsing: text))
        }
    }
}

/// What a trickled candidate comes to.
package enum TrickleVerdict: Hashable, Sendable {
    /// Well-formed and this session's. Nothing follows: a lite agent checks no pairs, and learns addresses from checks.
    case noted
    /// It names parameters that the peer does not use, or no longer.
    case stale(ufrag: String)
    /// More than `ICELiteAgent.maximumTrickledCount` since the parameters were agreed.
    case limitReached
}
