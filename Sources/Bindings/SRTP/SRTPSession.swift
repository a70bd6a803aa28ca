internal import CSRTP
package import Primitives

/// Protection of one direction of a leg (RFC 3711, RFC 7714), in place, for any number of SSRCs.
///
/// Belongs to one thread. Keys, replay windows and rollover counters are libsrtp2's, which keeps a context for each SSRC, in a list that it
/// looks through for every packet: inbound, one for each SSRC of which a packet has been authenticated, RTP or RTCP. Whoever uses a session
/// bounds their number, by what it hands in and by `forget`.
@safe
package final class SRTPSession {
    package enum Profile: Sendable, CaseIterable {
        case aes128CMSHA1_80
        case aeadAES128GCM

        /// What `protect` may add at the end of an RTP packet, or `protectControl` of an RTCP packet, in bytes.
        package static let maximumTrailer = 16 + 4 + 4
    }

    package enum Direction: Sendable {
        /// Unprotects what the peer sent.
        case inbound
        /// Protects what goes to the peer.
        case outbound
    }

    private let session: srtp_t
    private let direction: Direction

    /// - Parameters:
    ///   - key: master key followed by master salt: 30 bytes for AES-CM, 28 for GCM.
    ///   - ciphers: which implementation the process uses; the first session decides.
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
        // A packet that is repeated without rtx goes out with the same bytes under the same number, which tells nobody anything new. Other
        // bytes under the same number would give away both packets, and with GCM the key (RFC 7714 §8.1): the bridge numbers each packet.
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

    /// Frees what is kept about a source that is heard no more. If it is heard again, it begins anew: with rollover counter 0, and without
    /// a memory of the packets that came before. For the inbound direction only: an outbound source would repeat its numbers.
    package func forget(_ source: SSRC) {
        precondition(direction == .inbound, "an outbound source keeps its numbers")
        // A source that libsrtp2 does not have needs no forgetting.
        _ = unsafe srtp_remove_stream(session, source.rawValue.bigEndian)
    }

    /// Protects the RTP packet in the first `count` bytes; returns its new size.
    package func protect(_ buffer: inout MutableSpan<UInt8>, count: Int) throws(SRTPError) -> Int {
        guard count + Profile.maximumTrailer <= buffer.count else { throw .noRoom }
        return try unsafe apply(&buffer, count) { session, bytes, size in unsafe srtp_protect(session, bytes, &size) }
    }

    /// Checks and decrypts the SRTP packet in the first `count` bytes; returns its new size.
    package func unprotect(_ buffer: inout MutableSpan<UInt8>, count: Int) throws(SRTPError) -> Int {
        guard count <= buffer.count else { throw .noRoom }
        return try unsafe apply(&buffer, count) { session, bytes, size in unsafe srtp_unprotect(session, bytes, &size) }
    }

    package func protectControl(_ buffer: inout MutableSpan<UInt8>, count: Int) throws(SRTPError) -> Int {
        guard count + Profile.maximumTrailer <= buffer.count else { throw .noRoom }
        return try unsafe apply(&buffer, count) { session, bytes, size in
            unsafe srtp_protect_rtcp(session, bytes, &size)
        }
    }

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
