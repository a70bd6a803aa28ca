/// The protocol of a datagram on a BUNDLE port, by its first bytes (RFC 7983 §7, RFC 5761 §4).
///
///     first byte    0…3   16…19  20…63  64…79         128…191
///                   STUN  ZRTP   DTLS   TURN channel  RTP, or RTCP if the second byte is 192…223
package enum DatagramKind: Equatable, Sendable {
    /// A STUN message, that is an ICE check.
    case stun
    /// DTLS records.
    case dtls
    /// ChannelData of a TURN server (RFC 8656 §12). The gateway is no TURN client.
    case turnChannel
    /// An RTP or SRTP packet.
    case rtp
    /// An RTCP or SRTCP packet.
    case rtcp
    /// ZRTP, QUIC, an empty or an unknown datagram; it is dropped.
    case other

    /// Classifies a datagram; its protocol is not checked further.
    package init(of datagram: Span<UInt8>) {
        guard !datagram.isEmpty else {
            self = .other
            return
        }
        switch datagram[0] {
        case 0...3: self = .stun
        case 20...63: self = .dtls
        case 64...79: self = .turnChannel
        // RTP payload types 64…95 are not used with rtcp-mux, because with the marker bit they equal RTCP's packet
        // types 192…223.
        case 128...191 where datagram.count >= 2: self = 192...223 ~= datagram[1] ? .rtcp : .rtp
        default: self = .other
        }
    }
}
