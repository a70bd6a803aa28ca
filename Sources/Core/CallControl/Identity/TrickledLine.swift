/// A candidate as a client sends it by Trickle ICE (RFC 8838; spidr-wire §8.10).
package struct TrickledLine: Hashable, Sendable, Codable {
    /// The value of `a=candidate`, with or without the name `candidate:`.
    package var candidate: String
    /// The identification (`a=mid`) of the m-line that it belongs to; `nil`: not stated.
    package var mid: String?
    /// The index of that m-line, from 0; `nil`: not stated.
    package var mediaIndex: Int?
    /// The `ufrag` of the ICE session that it belongs to; `nil`: not stated.
    package var usernameFragment: String?

    /// Makes a candidate of its parts; each parameter is the property of that name.
    package init(candidate: String, mid: String? = nil, mediaIndex: Int? = nil, usernameFragment: String? = nil) {
        self.candidate = candidate
        self.mid = mid
        self.mediaIndex = mediaIndex
        self.usernameFragment = usernameFragment
    }
}
