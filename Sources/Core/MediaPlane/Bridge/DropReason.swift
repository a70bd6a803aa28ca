/// Why an RTP packet is not relayed. Each reason has a counter; none is logged.
package enum DropReason: Int, Error, Hashable, Sendable, CaseIterable {
    /// The datagram is no RTP packet (RFC 3550 §A.1).
    case malformed
    /// The leg that it came on is not negotiated yet.
    case notConfigured
    /// The MID names no m-line (RFC 9143 §9.2).
    case unknownMID
    /// The m-line of the sender or of the receiver has no such payload type, or the payload type does not fit the SSRC:
    /// one is for retransmissions, the other is not.
    case unknownPayloadType
    /// Neither MID nor SSRC nor payload type shows the m-line that it belongs to (RFC 9143 §9.2).
    case unknownSource
    /// The m-line is rejected, inactive, or one-way in the other direction.
    case directionForbids
    /// No leg that hears or sees this one has such an m-line.
    case noCounterpart
    /// The other peer has no media path yet.
    case peerNotReady
    /// The call is over.
    case ended
    /// It is the first packet after a jump of the sequence number. A second one is accepted (RFC 3550 §A.1).
    case sequenceJump
    /// It is older than the first relayed packet of its source, or its retransmission came before it.
    case tooOld
    /// Another source has just replaced its source.
    case superseded
    /// It is a retransmission for a peer without retransmission format, and it repeats nothing, or a packet that the
    /// peer has been sent already.
    case noRetransmission
    /// It is a retransmission of a packet that was never relayed.
    case staleRetransmission
}

/// Why an RTCP packet has no effect.
package enum ControlDropReason: Int, Error, Hashable, Sendable, CaseIterable {
    /// The datagram is no RTCP compound packet (RFC 3550 §A.2).
    case malformed
    /// The report or feedback is about an unknown SSRC.
    case unknownSource
    /// The feedback is for a source that has not been heard yet.
    case noSource
    /// The other peer did not negotiate this feedback (RFC 4585 §4.2).
    case notNegotiated
    /// A key frame was requested just now, or there are more NACKs or estimates than useful.
    case rateLimited
    /// The NACK is about packets from before the present source, or has more entries than fit.
    case untranslatable
    /// The other peer has no media path yet.
    case peerNotReady
    /// The gateway does not use the packet: APP, XR and the like, or transport-wide feedback of a peer whose packets
    /// have no numbers.
    case ignored
}

/// A counter per reason.
package struct Tally<Reason: CaseIterable & RawRepresentable<Int> & Sendable>: Equatable, Sendable {
    private var counts = [UInt64](repeating: 0, count: Reason.allCases.count)

    /// Makes counters that are all 0.
    package init() {}

    /// The counter of a reason.
    package subscript(reason: Reason) -> UInt64 { counts[reason.rawValue] }

    /// The sum of all counters.
    package var total: UInt64 { counts.reduce(0, &+) }

    mutating func count(_ reason: Reason, times: Int = 1) { counts[reason.rawValue] &+= UInt64(times) }
}
