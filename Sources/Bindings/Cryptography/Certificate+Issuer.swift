internal import COpenSSL

extension Certificate {
    /// Whether a certificate names itself as its issuer; `nil`: the bytes are no certificate in DER.
    package static func isSelfIssued(der: [UInt8]) -> Bool? {
        unsafe der.withUnsafeBufferPointer { bytes in
            var cursor = bytes.baseAddress
            guard let certificate = unsafe d2i_X509(nil, &cursor, bytes.count) else {
                ERR_clear_error()
                return nil
            }
            defer { unsafe X509_free(certificate) }
            return unsafe X509_NAME_cmp(
                X509_get_subject_name(certificate), X509_get_issuer_name(certificate)) == 0
        }
    }
}
