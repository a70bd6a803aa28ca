internal import CSRTP

/// Why a packet was not protected or not accepted, or a session could not be made.
package enum SRTPError: Error, Hashable, Sendable {
    /// The authentication tag does not match: the packet is forged, damaged, or protected with another key (RFC 3711
    /// §3.3).
    case authenticationFailed
    /// The packet has been received before, or is too old to be checked (RFC 3711 §3.3.2).
    case replayed
    /// The packet has no valid RTP or RTCP header, or its size is inconsistent.
    case malformed
    /// The buffer has no room for the trailer, or is shorter than the packet.
    case noRoom
    /// The key has protected as many packets as it may (RFC 3711 §9.2).
    case keyExpired
    /// The key does not have the size of the profile.
    case badKey
    /// libsrtp2 could not be initialised.
    case unavailable
    /// Another failure; the value is libsrtp2's status number.
    case failed(UInt32)

    init(_ status: srtp_err_status_t) {
        self =
            switch status {
            case srtp_err_status_auth_fail: .authenticationFailed
            case srtp_err_status_replay_fail, srtp_err_status_replay_old: .replayed
            case srtp_err_status_parse_err, srtp_err_status_bad_param: .malformed
            case srtp_err_status_key_expired: .keyExpired
            default: .failed(status.rawValue)
            }
    }
}
