internal import COpenSSL
package import Cryptography
internal import Primitives

/// The settings that all handshakes of a process share: certificate, ciphers and SRTP profiles.
@safe
package final class DTLSContext: @unchecked Sendable {  // an SSL_CTX is thread-safe once configured, which init ends
    let pointer: OpaquePointer
    /// The certificate that both clients and servers of this context present.
    package let certificate: Certificate

    /// DTLS 1.2 with ephemeral ECDH and authenticated encryption only (RFC 8827 §6.5). The peer must present a
    /// certificate. Any certificate is accepted here, because it is checked against the fingerprint of the peer's
    /// description (RFC 5763 §5).
    ///
    /// - Throws: `setup` if OpenSSL refuses a setting.
    package init(certificate: Certificate) throws(DTLSError) {
        // The key of each certificate is decoded by what handshakes need, and not by all that OpenSSL has.
        guard let context = unsafe SSL_CTX_new_ex(copenssl_handshake_library(), nil, DTLS_method()) else {
            throw .setup(opensslError())
        }
        unsafe pointer = context
        self.certificate = certificate
        guard unsafe copenssl_set_versions(context, DTLS1_2_VERSION, DTLS1_2_VERSION) == 1,
            unsafe SSL_CTX_set_cipher_list(context, Self.ciphers) == 1,
            unsafe copenssl_set_groups(context, Self.groups) == 1,
            unsafe SSL_CTX_set_tlsext_use_srtp(context, Self.profiles) == 0,  // 0 is success here
            unsafe Self.install(certificate, in: context)
        else { throw .setup(opensslError()) }
        unsafe SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT) { _, _ in 1 }
        unsafe SSL_CTX_set_options(context, Self.options)
        unsafe copenssl_set_session_cache_mode(context, SSL_SESS_CACHE_OFF)
    }

    deinit { unsafe SSL_CTX_free(pointer) }

    private static let ciphers = [
        "ECDHE-ECDSA-AES128-GCM-SHA256", "ECDHE-RSA-AES128-GCM-SHA256", "ECDHE-ECDSA-CHACHA20-POLY1305",
        "ECDHE-RSA-CHACHA20-POLY1305", "ECDHE-ECDSA-AES256-GCM-SHA384", "ECDHE-RSA-AES256-GCM-SHA384",
    ].joined(separator: ":")

    /// Curves for the key exchange, in the gateway's order of preference.
    private static let groups = "X25519:P-256:P-384"

    /// The transport sets the size of datagrams, and the BIO is not asked for it. There are no tickets, because
    /// sessions are not resumed, and neither renegotiation nor compression (RFC 9325 §3.3, §3.5). As server, the
    /// gateway chooses by its own order of ciphers.
    private static let options =
        copenssl_no_query_mtu | copenssl_no_ticket | copenssl_no_renegotiation | copenssl_no_compression
        | copenssl_cipher_server_preference

    /// In the gateway's order of preference, which decides if the gateway is the server.
    private static let profiles = "SRTP_AEAD_AES_128_GCM:SRTP_AES128_CM_SHA1_80"

    private static func install(_ certificate: Certificate, in context: OpaquePointer) -> Bool {
        unsafe certificate.der.withUnsafeBufferPointer { der in
            guard unsafe SSL_CTX_use_certificate_ASN1(context, Int32(der.count), der.baseAddress) == 1 else {
                return false
            }
            // The BIO reads the text without copying it.
            return unsafe certificate.privateKeyPEM.value.withCString { pem in
                guard let bio = unsafe BIO_new_mem_buf(pem, -1) else { return false }
                defer { unsafe BIO_free(bio) }
                guard let key = unsafe PEM_read_bio_PrivateKey(bio, nil, nil, nil) else { return false }
                defer { unsafe EVP_PKEY_free(key) }
                return unsafe SSL_CTX_use_PrivateKey(context, key) == 1
            }
        }
    }
}

/// Why a DTLS context or association could not be made.
package enum DTLSError: Error, Equatable {
    /// OpenSSL refused a setting; the text is its reason.
    case setup(String)
}

/// The newest entry of OpenSSL's error queue as text; empties the queue.
func opensslError() -> String {
    let code = ERR_peek_last_error()
    ERR_clear_error()
    guard code != 0, let reason = unsafe ERR_reason_error_string(code) else { return "unknown reason" }
    return unsafe String(cString: reason)
}
