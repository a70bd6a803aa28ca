internal import COpenSSL
package import Cryptography
internal import Glibc
package import Primitives

/// One DTLS association in memory: datagrams in, datagrams and a timeout out (RFC 6347).
///
/// It belongs to one thread. A ClientHello in several datagrams is reassembled before it is answered. The caller
/// decides whether its sender may be answered at all.
@safe
package final class DTLSTransport {
    /// The role in the handshake: the client sends the ClientHello.
    package enum Role: Sendable {
        /// The side that sends the ClientHello.
        case client
        /// The side that waits for a ClientHello.
        case server
    }

    /// The state of the association.
    package enum State: Equatable, Sendable {
        /// The handshake has not finished; for a client, also before `start`.
        case handshaking
        /// The handshake has finished.
        case established
        /// The peer has sent a closing alert, or `close` was called.
        case closed
        /// The association has failed; the text is OpenSSL's reason.
        case failed(String)
    }

    /// An SRTP protection profile, with its number in `use_srtp` (RFC 5764 §4.1.2, RFC 7714 §14.2).
    package enum Profile: UInt16, Sendable, CaseIterable {
        /// AES-128 in counter mode with an HMAC-SHA1 tag of 80 bits.
        case aes128CMSHA1_80 = 0x0001
        /// AES-128 in Galois/counter mode.
        case aeadAES128GCM = 0x0007

        /// Bytes of the master key.
        package var keySize: Int { 16 }
        /// Bytes of the master salt.
        package var saltSize: Int {
            switch self {
            case .aes128CMSHA1_80: 14
            case .aeadAES128GCM: 12
            }
        }
    }

    /// The SRTP master keys and salts of both directions (RFC 5764 §4.2), as this side uses them: each is the key
    /// followed by the salt.
    package struct KeyingMaterial: Equatable, Sendable {
        /// The profile that the handshake has agreed on.
        package var profile: Profile
        /// The key with which this side protects.
        package var local: Redacted<[UInt8]>
        /// The key with which the peer protects.
        package var remote: Redacted<[UInt8]>
    }

    /// Bytes of a record header (RFC 6347 §4.1).
    private static let recordHeaderSize = 13

    /// The role of this side.
    package let role: Role
    /// The state of the association, which receiving, timeouts and `close` change.
    package private(set) var state = State.handshaking
    private let context: DTLSContext
    private let ssl: OpaquePointer
    private let datagrams = DatagramQueue()
    /// The number of unencrypted records that OpenSSL has been given.
    private var plainRecords: UInt64 = 0

    /// Makes an association that has not started.
    ///
    /// - Parameter mtu: The largest datagram to be sent. 1,200 bytes, the default, pass every path that QUIC can use.
    /// - Throws: `DTLSError.setup` if OpenSSL has no memory.
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
        // Browsers start with 50 to 100 ms, too: ICE has shown that the path works.
        unsafe DTLS_set_timer_cb(ssl) { _, previous in previous == 0 ? 100_000 : min(previous * 2, 3_000_000) }
        switch role {
        case .client: unsafe SSL_set_connect_state(ssl)
        case .server: unsafe SSL_set_accept_state(ssl)
        }
    }

    deinit { unsafe SSL_free(ssl) }

    // MARK: Inputs

    /// Starts the handshake: a client makes its ClientHello, and a server waits.
    package func start() { if role == .client { advance() } }

    /// Takes a datagram of the peer.
    ///
    /// A datagram that cannot belong to a handshake is ignored. OpenSSL treats an empty datagram as the end of the
    /// connection, and a record that any attacker can forge would end the association.
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

    /// Repeats the last flight. It is called when `timeout` has passed.
    package func handleTimeout() {
        guard state == .handshaking else { return }
        ERR_clear_error()
        if unsafe copenssl_dtls_handle_timeout(ssl) < 0 { state = .failed(opensslError()) }
    }

    /// Closes an established association; the closing alert is the next datagram to be sent.
    package func close() {
        guard state == .established else { return }
        withBuffers { unsafe SSL_shutdown(ssl) }
        state = .closed
    }

    // MARK: Outputs

    /// Whether any datagram has been made; for a server, whether a ClientHello was answered.
    package var hasSpoken: Bool { datagrams.hasSent }

    /// The next datagram to be sent, in order; `nil` if there is none.
    package func nextDatagram() -> [UInt8]? { datagrams.popOutgoing() }

    /// The time until `handleTimeout` has to be called; `nil` if no flight awaits an answer.
    package var timeout: Duration? {
        guard state == .handshaking else { return nil }
        var left = timeval()
        guard unsafe copenssl_dtls_timeout(ssl, &left) == 1 else { return nil }
        return .microseconds(left.tv_sec * 1_000_000 + Int(left.tv_usec))
    }

    /// The SRTP keys; `nil` before the handshake has finished, or if it agreed on no SRTP profile.
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
        // The order of the exported keys (RFC 5764 §4.2): client key, server key, client salt, server salt.
        let client = Array(bytes[..<key] + bytes[(2 * key)..<(2 * key + salt)])
        let server = Array(bytes[key..<(2 * key)] + bytes[(2 * key + salt)...])
        return switch role {
        case .client: KeyingMaterial(profile: profile, local: Redacted(client), remote: Redacted(server))
        case .server: KeyingMaterial(profile: profile, local: Redacted(server), remote: Redacted(client))
        }
    }

    /// The digest of the peer's certificate; `nil` before the peer has presented it.
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

    /// Whether the first record may be one of a handshake: it is no application data, and no unencrypted handshake
    /// message that is shorter than its own header (RFC 6347 §4.2.2).
    private static func canBelongToHandshake(_ datagram: Span<UInt8>) -> Bool {
        let (type, isFirstEpoch) = (datagram[0], datagram[3] == 0 && datagram[4] == 0)
        let length = Int(datagram[11]) << 8 | Int(datagram[12])
        switch type {
        case 20, 21: return true
        case 22: return !isFirstEpoch || length >= 12
        default: return false
        }
    }

    /// Gives each unencrypted record the next number, whatever its own number is.
    ///
    /// The record numbers of the first epoch are not protected, and OpenSSL drops records that are more than 63 behind
    /// the highest number it has seen (RFC 6347 §4.1.2.6). A single forged record with a high number would therefore
    /// block all records of the peer. Nothing is lost, because OpenSSL recognises repeated handshake messages by their
    /// own numbers. Records of later epochs are not changed.
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

    /// Runs `body` with both record buffers, of 17 KB each, which an established association does not keep. OpenSSL
    /// does not release them by itself for DTLS, whatever its mode is.
    private func withBuffers(_ body: () -> Void) {
        guard unsafe SSL_alloc_buffers(ssl) == 1 else {
            state = .failed(opensslError())
            return
        }
        body()
        // OpenSSL refuses while a part of a datagram has not been read; the call for the next datagram then frees the
        // buffers.
        unsafe SSL_free_buffers(ssl)
    }

    /// After the handshake only alerts and repeated flights matter; there is no data channel.
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
