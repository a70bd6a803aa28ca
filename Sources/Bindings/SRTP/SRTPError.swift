internal import CSRTP

package enum SRTPError: Error, Hashable, Sendable {
    /// The tag does not match: forged, damaged, or protected with another key (RFC 3711 §3.3).
    case authenticationFailed
    /// Seen before, or too old to tell (RFC 3711 §3.3.2).
    case replayed
    /// No RTP or RTCP header, or a size that does not add up.
    case malformed
    /// The buffer cannot take what would be added.
    case noRoom
    /// The key has been used for as many packets as it may be (RFC 3711 §9.2).
    case keyExpired
    /// Wrong size for the profile.
    case badKey
    /// libsrtp2 did not start.
    case unavailable
    /// Something else; libsrtp2's status number.
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
