internal import COpenSSL
package import Cryptography
internal import Glibc
package import Primitives

/// One DTLS association over memory: datagrams in, datagrams and a time-out out (RFC 6347).
///
/// Belongs to one thread. A ClientHello that comes in several datagrams is put together before it is answered; whether
/// its sender may be answered at all is for the caller to decide.
@safe
package final class DTLSTransport {
    package enum Role: Sendable {
        case client
        case server
    }

    package enum State: Equatable, Sendable {
        case handshaking
        case established
        /// The peer said good-bye, or `close` was called.
        case closed
        /// OpenSSL's own words.
        case failed(String)
    }

    /// SRTP protection profiles (RFC 5764 §4.1.2, RFC 7714 §14.2).
    package enum Profile: UInt16, Sendable, CaseIterable {
        case aes128CMSHA1_80 = 0x0001
        case aeadAES128GCM = 0x0007

        package var keySize: Int { 16 }
        package var saltSize: Int {
            switch self {
            case .aes128CMSHA1_80: 14
            case .aeadAES128GCM: 12
            }
        }
    }

    /// Master keys and salts of both directions (RFC 5764 §4.2), seen from this side: key followed by salt.
    package struct KeyingMaterial: Equatable, Sendable {
        package var profile: Profile
        /// What this side protects with.
        package var local: Redacted<[UInt8]>
        /// What the peer protects with.
        package var remote: Redacted<[UInt8]>
    }

    /// RFC 6347 §4.1.
    private static let recordHeaderSize = 13

    package let role: Role
    package private(set) var state = State.handshaking
    private let context: DTLSContext
    private let ssl: OpaquePointer
    private let datagrams = DatagramQueue()
    /// How many records in the clear OpenSSL has been shown.
    private var plainRecords: UInt64 = 0

    /// - Parameter mtu: the largest datagram to send; 1,200 bytes pass every path that QUIC passes.
    package init(context: DTLSContext, role: Role, mtu: Int = 1_200) throws(DTLSError) {
        guard let ssl = unsafe SSL_new(context.pointer) else { throw .setup(opensslError()) }
        guard let bio = unsafe datagrams.makeBIO() else {
            unsafe SSL_free(ssl)
            throw .setup(opensslError())
        }
        unsafe self.ssl = ssl
        self.context = context
        self.role = role
        unsafe SSL_set_bio(ssl, bio, bio)
        unsafe copenssl_set_mtu(ssl, mtu)
        // Browsers start at 50 to 100 ms too: ICE has shown that the path works.
        unsafe DTLS_set_timer_cb(ssl) { _, previous in previous == 0 ? 100_000 : min(previous * 2, 3_000_000) }
        switch role {
        case .client: unsafe SSL_set_connect_state(ssl)
        case .server: unsafe SSL_set_accept_state(ssl)
        }
    }

    deinit { unsafe SSL_free(ssl) }

    // MARK: Inputs

    /// A client sends its ClientHello now; a server waits.
    package func start() { if role == .client { advance() } }

    /// Ignores what cannot belong to a handshake: OpenSSL takes an empty datagram for the end of the connection, and
    /// ends the association over a record that anybody can have made up.
    package func receive(_ datagram: Span<UInt8>) {
        guard datagram.count > Self.recordHeaderSize else { return }
        switch state {
        case .handshaking:
            guard Self.canBelongToHandshake(datagram) else { return }
            var bytes = [UInt8](copying: datagram)
            renumberPlainRecords(&bytes)
            datagrams.incoming = bytes
            advance()
        case .established:
            datagrams.incoming = [UInt8](copying: datagram)
            withBuffers { discardApplicationData() }
        case .closed, .failed: return
        }
        datagrams.incoming = nil
    }

    /// To be called when `timeout` has passed: retransmits the last flight.
    package func handleTimeout() {
        guard state == .handshaking else { return }
        ERR_clear_error()
        if unsafe copenssl_dtls_handle_timeout(ssl) < 0 { state = .failed(opensslError()) }
    }

    /// Says good-bye; the datagram is the next one to send.
    package func close() {
        guard state == .established else { return }
        withBuffers { unsafe SSL_shutdown(ssl) }
        state = .closed
    }

    // MARK: Outputs

    /// Whether there has been anything to send; as server, whether a ClientHello was answered.
    package var hasSpoken: Bool { datagrams.hasSent }

    /// What to send next, in order.
    package func nextDatagram() -> [UInt8]? { datagrams.popOutgoing() }

    /// How long until `handleTimeout` has to be called; `nil` if no flight awaits an answer.
    package var timeout: Duration? {
        guard state == .handshaking else { return nil }
        var left = timeval()
        guard unsafe copenssl_dtls_timeout(ssl, &left) == 1 else { return nil }
        return .microseconds(left.tv_sec * 1_000_000 + Int(left.tv_usec))
    }

    /// `nil` before the handshake is through, or if no common SRTP profile was found.
    package var keyingMaterial: KeyingMaterial? {
        guard state == .established, let selected = unsafe SSL_get_selected_srtp_profile(ssl) else { return nil }
        guard let profile = unsafe Profile(rawValue: UInt16(truncatingIfNeeded: selected.pointee.id)) else {
            return nil
        }
        let label = "EXTRACTOR-dtls_srtp"
        let (key, salt) = (profile.keySize, profile.saltSize)
        var bytes = [UInt8](repeating: 0, count: 2 * (key + salt))
        guard unsafe SSL_export_keying_material(ssl, &bytes, bytes.count, label, label.utf8.count, nil, 0, 0) == 1
        else { return nil }
        // RFC 5764 §4.2: client key, server key, client salt, server salt.
        let client = Array(bytes[..<key] + bytes[(2 * key)..<(2 * key + salt)])
        let server = Array(bytes[key..<(2 * key)] + bytes[(2 * key + salt)...])
        return switch role {
        case .client: KeyingMaterial(profile: profile, local: Redacted(client), remote: Redacted(server))
        case .server: KeyingMaterial(profile: profile, local: Redacted(server), remote: Redacted(client))
        }
    }

    /// A digest of the certificate that the peer presented; `nil` before it has.
    package func peerCertificateDigest(_ digest: Digest) -> [UInt8]? {
        guard let certificate = unsafe SSL_get1_peer_certificate(ssl) else { return nil }
        defer { unsafe X509_free(certificate) }
        var der = [UInt8](repeating: 0, count: Int(unsafe i2d_X509(certificate, nil)))
        unsafe der.withUnsafeMutableBufferPointer { buffer in
            var cursor = buffer.baseAddress
            _ = unsafe i2d_X509(certificate, &cursor)
        }
        return digest.hash(der)
    }

    // MARK: Parts

    /// Whether the first record is a plausible one of a handshake: no application data, and no handshake message in the
    /// clear that is shorter than its own header (RFC 6347 §4.2.2).
    private static func canBelongToHandshake(_ datagram: Span<UInt8>) -> Bool {
        let (type, isFirstEpoch) = (datagram[0], datagram[3] == 0 && datagram[4] == 0)
        let length = Int(datagram[11]) << 8 | Int(datagram[12])
        switch type {
        case 20, 21: return true
        case 22: return !isFirstEpoch || length >= 12
        default: return false
        }
    }

    /// Gives each record in the clear the next number, whatever number it came with.
    ///
    /// Nothing protects the numbers of the first epoch, and OpenSSL drops what is more than 63 behind the highest it has seen
    /// (RFC 6347 §4.1.2.6): one forged record with a high number would keep all of the peer's from being read. Handshake
    /// messages have numbers of their own, by which OpenSSL tells repeated ones, so nothing is lost. Later epochs stay as they are.
    private func renumberPlainRecords(_ datagram: inout [UInt8]) {
        var offset = 0
        while datagram.count - offset >= Self.recordHeaderSize {
            if datagram[offset + 3] == 0, datagram[offset + 4] == 0 {
                for index in 0..<6 {
                    datagram[offset + 5 + index] = UInt8(truncatingIfNeeded: plainRecords >> UInt64(40 - 8 * index))
                }
                plainRecords += 1
            }
            offset += Self.recordHeaderSize + Int(datagram[offset + 11]) << 8 + Int(datagram[offset + 12])
        }
    }

    private func advance() {
        ERR_clear_error()
        let result = unsafe SSL_do_handshake(ssl)
        if result == 1 {
            state = .established
            unsafe SSL_free_buffers(ssl)
            return
        }
        switch unsafe SSL_get_error(ssl, result) {
        case SSL_ERROR_WANT_READ, SSL_ERROR_WANT_WRITE: return
        case SSL_ERROR_ZERO_RETURN: state = .closed
        default: state = .failed(opensslError())
        }
    }

    /// Runs `body` with the two buffers for records, of 17 KB each, which an established association does without: OpenSSL
    /// does not give them back by itself, whatever its mode, when it speaks DTLS.
    private func withBuffers(_ body: () -> Void) {
        guard unsafe SSL_alloc_buffers(ssl) == 1 else {
            state = .failed(opensslError())
            return
        }
        body()
        // Refused while part of a datagram has not been read: the next one's turn frees them.
        unsafe SSL_free_buffers(ssl)
    }

    /// After the handshake only alerts and repeated flights are of interest; there is no data channel.
    private func discardApplicationData() {
        var scratch = [UInt8](repeating: 0, count: 2_048)
        ERR_clear_error()
        let result = unsafe SSL_read(ssl, &scratch, Int32(scratch.count))
        guard result <= 0 else { return }
        switch unsafe SSL_get_error(ssl, result) {
        case SSL_ERROR_WANT_READ, SSL_ERROR_WANT_WRITE: return
        case SSL_ERROR_ZERO_RETURN: state = .closed
        default: state = .failed(opensslError())
        }
    }
}
