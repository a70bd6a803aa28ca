internal import CSRTP
package import Primitives

/// Protection of one direction of a leg (RFC 3711, RFC 7714), in place, for any number of SSRCs.
///
/// It belongs to one thread. Keys, replay windows and rollover counters are kept by libsrtp2. libsrtp2 has a context
/// per SSRC, in a list that it searches for every packet; inbound, it makes one for each SSRC of which an RTP or RTCP
/// packet has been authenticated. The user of a session bounds their number, by the packets it passes in and by
/// `forget`.
@safe
package final class SRTPSession {
    /// An SRTP protection profile.
    package enum Profile: Sendable, CaseIterable {
        /// AES in counter mode with an HMAC-SHA1 tag of 80 bits (RFC 3711).
        case aes128CMSHA1_80
        /// AES in Galois/counter mode (RFC 7714).
        case aeadAES128GCM

        /// The most bytes that `protect` adds to an RTP packet, or `protectControl` to an RTCP packet.
        package static let maximumTrailer = 16 + 4 + 4
    }

    /// The direction of the packets of a session.
    package enum Direction: Sendable {
        /// Unprotects what the peer sent.
        case inbound
        /// Protects what goes to the peer.
        case outbound
    }

    private let session: srtp_t
    private let direction: Direction

    /// Makes a session.
    ///
    /// - Parameters:
    ///   - profile: The protection profile.
    ///   - key: The master key followed by the master salt: 30 bytes for AES-CM, 28 for GCM.
    ///   - direction: The direction of the packets.
    /// - Throws: `unavailable` if libsrtp2 could not be initialised, `badKey` if the key has another size, or the
    ///   status of libsrtp2.
    package init(profile: Profile, key: [UInt8], direction: Direction) throws(SRTPError) {
        guard SRTPLibrary.isReady else { throw .unavailable }
        var policy = unsafe srtp_policy_t()
        let id =
            switch profile {
            case .aes128CMSHA1_80: srtp_profile_aes128_cm_sha1_80
            case .aeadAES128GCM: srtp_profile_aead_aes_128_gcm
            }
        guard unsafe srtp_crypto_policy_set_from_profile_for_rtp(&policy.rtp, id) == srtp_err_status_ok,
            unsafe srtp_crypto_policy_set_from_profile_for_rtcp(&policy.rtcp, id) == srtp_err_status_ok,
            unsafe key.count == Int(policy.rtp.cipher_key_len)
        else { throw .badKey }
        unsafe policy.ssrc.type =
            switch direction {
            case .inbound: ssrc_any_inbound
            case .outbound: ssrc_any_outbound
            }
        unsafe policy.window_size = 1_024
        // A packet that is repeated without rtx has the same bytes and the same number, which reveals nothing new.
        // Other bytes with the same number would reveal both packets, and with GCM the key (RFC 7714 §8.1). The bridge
        // therefore gives each packet its own number.
        unsafe policy.allow_repeat_tx = 1
        var created: srtp_t?
        var key = key
        let status = unsafe key.withUnsafeMutableBufferPointer { bytes in
            unsafe policy.key = bytes.baseAddress
            return unsafe srtp_create(&created, &policy)
        }
        guard status == srtp_err_status_ok, let created = unsafe created else { throw SRTPError(status) }
        unsafe session = created
        self.direction = direction
    }

    deinit { unsafe srtp_dealloc(session) }

    /// Frees the state of a source that is not received any more. If the source is received again, it starts with
    /// rollover counter 0 and an empty replay window. This is for the inbound direction only and traps otherwise,
    /// because an outbound source would repeat its numbers.
    package func forget(_ source: SSRC) {
        precondition(direction == .inbound, "an outbound source keeps its numbers")
        // A source unknown to libsrtp2 has no state to free.
        _ = unsafe srtp_remove_stream(session, source.rawValue.bigEndian)
    }

    /// Protects the RTP packet in the first `count` bytes. Returns its new size.
    ///
    /// - Throws: `SRTPError.noRoom` if `buffer` has less than `maximumTrailer` bytes behind the packet, or the error
    ///   for the status of libsrtp2.
    package func protect(_ buffer: inout MutableSpan<UInt8>, count: Int) throws(SRTPError) -> Int {
        guard count + Profile.maximumTrailer <= buffer.count else { throw .noRoom }
        return try unsafe apply(&buffer, count) { session, bytes, size in unsafe srtp_protect(session, bytes, &size) }
    }

    /// Authenticates and decrypts the SRTP packet in the first `count` bytes. Returns its new size.
    ///
    /// - Throws: `SRTPError.authenticationFailed`, `replayed`, `noRoom` if `count` is more than `buffer` has, or the
    ///   error for another status of libsrtp2.
    package func unprotect(_ buffer: inout MutableSpan<UInt8>, count: Int) throws(SRTPError) -> Int {
        guard count <= buffer.count else { throw .noRoom }
        return try unsafe apply(&buffer, count) { session, bytes, size in unsafe srtp_unprotect(session, bytes, &size) }
    }

    /// Protects the RTCP packet in the first `count` bytes. Returns its new size.
    ///
    /// - Throws: `SRTPError`, as `protect` does.
    package func protectControl(_ buffer: inout MutableSpan<UInt8>, count: Int) throws(SRTPError) -> Int {
        guard count + Profile.maximumTrailer <= buffer.count else { throw .noRoom }
        return try unsafe apply(&buffer, count) { session, bytes, size in
            unsafe srtp_protect_rtcp(session, bytes, &size)
        }
    }

    /// Authenticates and decrypts the SRTCP packet in the first `count` bytes. Returns its new size.
    ///
    /// - Throws: `SRTPError`, as `unprotect` does.
    package func unprotectControl(_ buffer: inout MutableSpan<UInt8>, count: Int) throws(SRTPError) -> Int {
        guard count <= buffer.count else { throw .noRoom }
        return try unsafe apply(&buffer, count) { session, bytes, size in
            unsafe srtp_unprotect_rtcp(session, bytes, &size)
        }
    }

    @unsafe
    @inline(__always)
    private func apply(
        _ buffer: inout MutableSpan<UInt8>, _ count: Int,
        _ operation: (srtp_t, UnsafeMutableRawPointer, inout Int32) -> srtp_err_status_t
    ) throws(SRTPError) -> Int {
        guard count >= 0 else { throw .malformed }
        var size = Int32(truncatingIfNeeded: count)
        let status = unsafe buffer.withUnsafeMutableBufferPointer { bytes in
            guard let base = bytes.baseAddress else { return srtp_err_status_bad_param }
            return unsafe operation(session, UnsafeMutableRawPointer(base), &size)
        }
        guard status == srtp_err_status_ok else { throw SRTPError(status) }
        return Int(size)
    }
}
