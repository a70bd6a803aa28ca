/// Why bytes are not an RTP or RTCP packet. The sender is at fault in every case but `limit…`, which is a limit of the
/// gateway.
package enum RTPError: Error, Hashable, Sendable {
    /// Fewer bytes than the headers claim or need.
    case malformedLength
    /// The version field is not 2 (RFC 3550 §5.1, §6.4.1).
    case malformedVersion
    /// The padding count is 0, larger than the packet or, in RTCP, no multiple of four (RFC 3550 §5.1, §6.4.1).
    case malformedPadding
    /// An RTCP packet whose body contradicts its header; carries the packet type.
    case malformedBody(UInt8)
    /// More RTCP packets in one datagram than `RTCPCompound.maximumPackets`.
    case limitPackets
}
