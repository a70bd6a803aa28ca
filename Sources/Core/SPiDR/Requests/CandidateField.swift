package import CallControl

/// A candidate as clients write it: `RTCIceCandidateInit` (W3C WebRTC §4.8.1.1, spidr-wire §8.10).
package struct CandidateField: Codable, Hashable, Sendable {
    /// The candidate line, `candidate:…` (RFC 8839 §5.1).
    package var candidate: String
    /// The `a=mid` of the m-line that the candidate belongs to. `nil`: not said.
    package var sdpMid: String?
    /// The index of that m-line in the description, from 0. `nil`: not said.
    package var sdpMLineIndex: Int?
    /// The `a=ice-ufrag` of the candidate's ICE generation. `nil`: not said.
    package var usernameFragment: String?

    /// Makes the field of a candidate on its way to the other party.
    package init(_ line: TrickledLine) {
        candidate = line.candidate
        sdpMid = line.mid
        sdpMLineIndex = line.mediaIndex
        usernameFragment = line.usernameFragment
    }

    /// The length of its three texts together, in bytes of UTF-8.
    var bytes: Int { candidate.utf8.count + (sdpMid?.utf8.count ?? 0) + (usernameFragment?.utf8.count ?? 0) }

    /// The candidate in the form of call handling.
    package var line: TrickledLine {
        TrickledLine(candidate: candidate, mid: sdpMid, mediaIndex: sdpMLineIndex, usernameFragment: usernameFragment)
    }
}
