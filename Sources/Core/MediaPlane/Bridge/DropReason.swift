/// Why an RTP packet is not forwarded. Each reason has a counter; none is worth a log line.
package enum DropReason: Int, Error, Hashable, Sendable, CaseIterable {
    /// No RTP packet (RFC 3550 §A.1).
    case malformed
    /// The leg it came in on has not been negotiated yet.
    case notConfigured
    /// The MID names no m-line (RFC 9143 §9.2).
    case unknownMID
    /// The m-line has no such payload type, or the SSRC is not of that kind.
    case unknownPayloadType
    /// Neither MID nor SSRC nor payload type says which m-line it belongs to (RFC 9143 §9.2).
    case unknownSource
    /// The m-line is rejected, inactive, or one-way in the other direction.
    case directionForbids
    /// The other leg has no such m-line.
    case noCounterpart
    /// The other peer has no media path yet.
    case peerNotReady
    /// The call is over.
    case ended
    /// The first packet after a jump of the sequence number; a second one is believed (RFC 3550 §A.1).
    case astray
    /// Older than the first packet of its source that was forwarded, or than a retransmission of it.
    case tooOld
    /// Of a source that another one has just replaced.
    case superseded
    /// A retransmission for a peer that takes none, of nothing or of what that peer has been sent already.
    case noRetransmission
    /// A retransmission of a packet that was never forwarded.
    case staleRetransmission
}

/// Why RTCP is not acted on.
package enum ControlDropReason: Int, Error, Hashable, Sendable, CaseIterable {
    /// No RTCP compound (RFC 3550 §A.2).
    case malformed
    /// A report or feedback about an SSRC that nobody sends.
    case unknownSource
    /// Feedback to a source that has not been heard yet.
    case noSource
    /// The other peer did not negotiate this feedback (RFC 4585 §4.2).
    case notNegotiated
    /// A key frame was asked for only just now; more NACKs or estimates than anybody has a use for.
    case rateLimited
    /// A NACK of packets from before the present source, or of more than fit.
    case untranslatable
    /// The other peer has no media path yet.
    case peerNotReady
    /// APP, XR and the like; transport-wide feedback of a peer whose packets the gateway does not number.
    case ignored
}

/// A counter per reason.
package struct Tally<Reason: CaseIterable & RawRepresentable<Int> & Sendable>: Equatable, Sendable {
    private var counts = [UInt64](repeating: 0, count: Reason.allCases.count)

    package init() {}

    package subscript(reason: Reason) -> UInt64 { counts[reason.rawValue] }

    package var total: UInt64 { counts.reduce(0, &+) }

    mutating func count(_ reason: Reason, times: Int = 1) { counts[reason.rawValue] &+= UInt64(times) }
}
