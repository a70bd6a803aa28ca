/// What a datagram on a BUNDLE port is, by its first bytes (RFC 7983 §7, RFC 5761 §4).
///
///     first byte    0…3   16…19  20…63  64…79         128…191
///                   STUN  ZRTP   DTLS   TURN channel  RTP, or RTCP if the second byte is 192…223
package enum DatagramKind: Equatable, Sendable {
    case stun
    case dtls
    /// ChannelData of a TURN server (RFC 8656 §12): the gateway is no TURN client.
    case turnChannel
    case rtp
    case rtcp
    /// ZRTP, QUIC, nothing at all or nothing known: dropped.
    case other

    package init(of datagram: Span<UInt8>) {
        guard !datagram.isEmpty else {
            self = .other
            return
        }
        switch datagram[0] {
        case 0...3: self = .stun
        case 20...63: self = .dtls
        case 64...79: self = .turnChannel
        // RTP payload types 64…95 are left unused under rtcp-mux, so that with the marker bit they are RTCP's 192…223.
        case 128...191 where datagram.count >= 2: self = 192...223 ~= datagram[1] ? .rtcp : .rtp
        default: self = .other
        }
    }
}
