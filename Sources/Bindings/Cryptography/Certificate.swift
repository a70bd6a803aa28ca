internal import COpenSSL
package import Primitives

/// A self-signed ECDSA P-256 certificate with its key: the DTLS identity of the gateway, and the TLS certificate of
/// `--dev`.
@safe
package final class Certificate: Sendable {
    /// The certificate as PEM text.
    package let certificatePEM: String
    /// The private key as PEM text (PKCS #8).
    package let privateKeyPEM: Redacted<String>
    /// The certificate in DER, as DTLS sends it.
    package let der: [UInt8]

    /// Makes a key and a certificate.
    ///
    /// - Parameters:
    ///   - commonName: The name that tools show; it has no other effect.
    ///   - alternativeNames: Names such as `DNS:localhost` and `IP:127.0.0.1`, for TLS clients that check them; none
    ///     unless given.
    ///   - validityInDays: The days from now to the end of validity; 365 unless given. The validity starts one day ago,
    ///     so that clocks may differ.
    /// - Throws: `CertificateError.failed` if OpenSSL refuses.
    package init(commonName: String, alternativeNames: [String] = [], validityInDays: Int = 365)
        throws(CertificateError)
    {
        guard let key = unsafe copenssl_generate_ec("P-256"), let x509 = unsafe X509_new() else {
            throw .failed(opensslError())
        }
        defer {
            unsafe EVP_PKEY_free(key)
            unsafe X509_free(x509)
        }
        var random = SecureRandomSource()
        unsafe X509_set_version(x509, 2)
        unsafe ASN1_INTEGER_set_uint64(X509_get_serialNumber(x509), random.next() >> 1)
        unsafe X509_gmtime_adj(X509_getm_notBefore(x509), -86_400)
        unsafe X509_gmtime_adj(X509_getm_notAfter(x509), validityInDays * 86_400)
        let name = unsafe X509_get_subject_name(x509)
        unsafe X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_UTF8, commonName, -1, -1, 0)
        unsafe X509_set_issuer_name(x509, name)
        unsafe X509_set_pubkey(x509, key)
        if !alternativeNames.isEmpty {
            guard
                let extension509 = unsafe X509V3_EXT_conf_nid(
                    nil, nil, NID_subject_alt_name, alternativeNames.joined(separator: ","))
            else {
                throw .failed(opensslError())
            }
            unsafe X509_add_ext(x509, extension509, -1)
            unsafe X509_EXTENSION_free(extension509)
        }
        guard unsafe X509_sign(x509, key, EVP_sha256()) > 0 else { throw .failed(opensslError()) }

        let size = unsafe i2d_X509(x509, nil)
        var der = [UInt8](repeating: 0, count: Int(size))
        unsafe der.withUnsafeMutableBufferPointer { buffer in
            var cursor = buffer.baseAddress
            _ = unsafe i2d_X509(x509, &cursor)
        }
        self.der = der
        certificatePEM = unsafe pem { bio in unsafe PEM_write_bio_X509(bio, x509) }
        privateKeyPEM = unsafe Redacted(
            pem { bio in unsafe PEM_write_bio_PKCS8PrivateKey(bio, key, nil, nil, 0, nil, nil) })
    }

    /// The digest of the certificate in DER, as in `a=fingerprint` (RFC 8122 §5).
    package func fingerprint(_ digest: Digest) -> [UInt8] { digest.hash(der) }
}

/// Why a certificate could not be made.
package enum CertificateError: Error, Equatable {
    /// OpenSSL refused; the text is its reason.
    case failed(String)
}

/// Collects the output of a PEM writer.
private func pem(_ write: (OpaquePointer?) -> Int32) -> String {
    guard let bio = unsafe BIO_new(BIO_s_mem()) else { preconditionFailure("memory for a PEM text") }
    defer { unsafe BIO_free(bio) }
    precondition(unsafe write(bio) == 1, "a fresh certificate and key can be written")
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 1024)
    while true {
        let count = unsafe BIO_read(bio, &chunk, Int32(chunk.count))
        guard count > 0 else { return String(decoding: bytes, as: UTF8.self) }
        bytes += chunk[..<Int(count)]
    }
}

/// The newest entry of OpenSSL's error queue as text; empties the queue.
func opensslError() -> String {
    var text = [CChar](repeating: 0, count: 256)
    unsafe ERR_error_string_n(ERR_peek_last_error(), &text, text.count)
    ERR_clear_error()
    return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
}
