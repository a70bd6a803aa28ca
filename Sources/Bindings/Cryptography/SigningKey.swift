internal import COpenSSL

/// A private key that signs: RSA with SHA-256, ECDSA on P-256 with SHA-256, or Ed25519, as the key is.
@safe
package final class SigningKey: @unchecked Sendable {  // a key is only read once it is made, which init ends
    private let key: OpaquePointer
    /// What it signs with; never HMAC.
    package let algorithm: SignatureKey.Algorithm

    /// Reads a private key in PEM, `-----BEGIN PRIVATE KEY-----` (RFC 7468 §10). Its kind decides the algorithm.
    ///
    /// - Throws: `malformed` if there is none, or it has a password; `unsupported` for a key of another kind;
    ///   `tooShort` or `tooLong` for an RSA key outside of ``SignatureKey/rsaBits``.
    package init(privateKeyPEM text: String) throws(SigningKeyError) {
        let bytes = Array(text.utf8)
        let key: OpaquePointer? = unsafe bytes.withUnsafeBufferPointer { buffer in
            guard let bio = unsafe BIO_new_mem_buf(buffer.baseAddress, Int32(clamping: buffer.count)) else {
                return nil
            }
            defer { unsafe BIO_free(bio) }
            // Without a function of ours OpenSSL asks on the terminal for the password of a key that has one.
            return unsafe PEM_read_bio_PrivateKey(bio, nil, { _, _, _, _ in -1 }, nil)
        }
        ERR_clear_error()
        guard let key = unsafe key else { throw .malformed }
        do throws(SignatureKeyError) {
            algorithm = try unsafe SignatureKey.algorithm(of: key)
        } catch {
            unsafe EVP_PKEY_free(key)
            throw SigningKeyError(error)
        }
        unsafe self.key = key
    }

    deinit { unsafe EVP_PKEY_free(key) }

    /// Signs a message. The signature has the form that ``SignatureKey/verifies(_:of:)`` takes, which is that of JSON
    /// Web Signatures (RFC 7518 §3).
    package func signature(of message: [UInt8]) -> [UInt8] {
        guard let context = unsafe EVP_MD_CTX_new() else { preconditionFailure("memory for a digest") }
        defer { unsafe EVP_MD_CTX_free(context) }
        let digest = unsafe algorithm == .ed25519 ? nil : EVP_sha256()
        guard unsafe EVP_DigestSignInit(context, nil, digest, nil, key) == 1 else {
            preconditionFailure("OpenSSL provides RSA, ECDSA and Ed25519: \(opensslError())")
        }
        var size = 0
        unsafe EVP_DigestSign(context, nil, &size, message, message.count)
        var signature = [UInt8](repeating: 0, count: size)
        guard unsafe EVP_DigestSign(context, &signature, &size, message, message.count) == 1 else {
            preconditionFailure("a key that was accepted signs: \(opensslError())")
        }
        signature.removeLast(signature.count - size)
        return algorithm == .ecdsaP256SHA256 ? Self.numbers(of: signature) : signature
    }

    /// The two numbers of an ECDSA signature in DER (RFC 3279 §2.2.3), 32 bytes each.
    private static func numbers(of der: [UInt8]) -> [UInt8] {
        var numbers: [UInt8] = []
        // A SEQUENCE, whose length has one byte: it is at most 72.
        var rest = der.dropFirst(2)
        for _ in 0..<2 {
            let length = Int(rest[rest.startIndex + 1])
            let digits = rest.dropFirst(2).prefix(length).drop { $0 == 0 }
            numbers += [UInt8](repeating: 0, count: 32 - digits.count) + digits
            rest = rest.dropFirst(2 + length)
        }
        return numbers
    }
}

/// Why a private key is not accepted.
package enum SigningKeyError: Error, Equatable, CustomStringConvertible {
    /// It cannot be read as a private key, or it is protected by a password.
    case malformed
    /// It is of another kind than RSA, EC on the curve P-256 and Ed25519.
    case unsupported
    /// It is too short to be secure, or so long that it is slow.
    case unsuitableLength

    /// The error of the checks that private and public keys have in common.
    init(_ error: SignatureKeyError) {
        self =
            switch error {
            case .malformed: .malformed
            case .unsupported: .unsupported
            case .tooShort, .tooLong: .unsuitableLength
            }
    }

    /// What is wrong with the key, for the operator.
    package var description: String {
        switch self {
        case .malformed: "has no private key in PEM without a password"
        case .unsupported: "has a key that is neither RSA, EC on P-256 nor Ed25519"
        case .unsuitableLength: "has an RSA key that has not 2048 to 8192 bits"
        }
    }
}
