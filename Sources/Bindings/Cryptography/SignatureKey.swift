internal import COpenSSL
internal import Primitives

/// A key that verifies signatures of one algorithm: a shared secret, or a public key.
///
/// A key never verifies a signature of another algorithm than its own, whatever a message says about itself.
@safe
package final class SignatureKey: @unchecked Sendable {  // a key is only read once it is made, which init ends
    /// What a signature is made with.
    package enum Algorithm: Hashable, Sendable, CaseIterable {
        /// HMAC with SHA-256 (RFC 2104): a code of 32 bytes.
        case hmacSHA256
        /// RSASSA-PKCS1-v1_5 with SHA-256 (RFC 8017 §8.2): as many bytes as the modulus.
        case rsaSHA256
        /// ECDSA on the curve P-256 with SHA-256: `r` and `s` of 32 bytes each, one after the other (RFC 7518 §3.4).
        case ecdsaP256SHA256
        /// Ed25519 (RFC 8032 §5.1): 64 bytes.
        case ed25519
    }

    @safe
    private enum Material {
        case secret(Redacted<[UInt8]>)
        case publicKey(OpaquePointer)
    }

    /// The algorithm that the key is for.
    package let algorithm: Algorithm
    private let material: Material

    /// The sizes of an RSA modulus in bits that are accepted. RFC 7518 §3.3 asks for 2,048; beyond 8,192 a check takes
    /// milliseconds.
    package static let rsaBits = 2_048...8_192
    /// The least bytes of a shared secret (RFC 7518 §3.2).
    package static let secretSize = 32

    /// Makes a key of a shared secret for ``Algorithm/hmacSHA256``.
    ///
    /// - Throws: `tooShort` if the secret has fewer bytes than ``secretSize``.
    package init(secret: [UInt8]) throws(SignatureKeyError) {
        guard secret.count >= Self.secretSize else { throw .tooShort }
        algorithm = .hmacSHA256
        material = .secret(Redacted(secret))
    }

    /// Makes an RSA key of its numbers, the most significant byte first.
    ///
    /// - Throws: `tooShort` or `tooLong` for a modulus outside of ``rsaBits``; `malformed` if the numbers are no key.
    package convenience init(rsaModulus modulus: [UInt8], exponent: [UInt8]) throws(SignatureKeyError) {
        let key = DER.sequence([DER.unsigned(modulus), DER.unsigned(exponent)])
        try self.init(publicKeyInfo: DER.publicKeyInfo(DER.rsaEncryption, key))
    }

    /// Makes a key of a point on the curve P-256.
    ///
    /// - Parameters:
    ///   - x: the first coordinate, 32 bytes.
    ///   - y: the second coordinate, 32 bytes.
    /// - Throws: `malformed` if a coordinate has another size, or the point is not on the curve.
    package convenience init(p256X x: [UInt8], y: [UInt8]) throws(SignatureKeyError) {
        guard x.count == 32, y.count == 32 else { throw .malformed }
        try self.init(publicKeyInfo: DER.publicKeyInfo(DER.ecP256, [0x04] + x + y))
    }

    /// Makes an Ed25519 key of its 32 bytes.
    ///
    /// - Throws: `malformed` for another size.
    package convenience init(ed25519 bytes: [UInt8]) throws(SignatureKeyError) {
        guard bytes.count == 32 else { throw .malformed }
        try self.init(publicKeyInfo: DER.publicKeyInfo(DER.ed25519, bytes))
    }

    /// Reads a public key in PEM, `-----BEGIN PUBLIC KEY-----` (RFC 7468 §13). Its kind decides the algorithm.
    ///
    /// - Throws: `malformed` if there is none; `unsupported`, `tooShort` or `tooLong` for a key that is not accepted.
    package convenience init(publicKeyPEM text: String) throws(SignatureKeyError) {
        let bytes = Array(text.utf8)
        let key: OpaquePointer? = unsafe bytes.withUnsafeBufferPointer { buffer in
            guard let bio = unsafe BIO_new_mem_buf(buffer.baseAddress, Int32(clamping: buffer.count)) else {
                return nil
            }
            defer { unsafe BIO_free(bio) }
            return unsafe PEM_read_bio_PUBKEY(bio, nil, nil, nil)
        }
        ERR_clear_error()
        guard let key = unsafe key else { throw .malformed }
        unsafe try self.init(taking: key)
    }

    /// Reads a SubjectPublicKeyInfo (RFC 5280 §4.1.2.7) in DER.
    private convenience init(publicKeyInfo der: [UInt8]) throws(SignatureKeyError) {
        let key: OpaquePointer? = unsafe der.withUnsafeBufferPointer { buffer in
            var cursor = buffer.baseAddress
            return unsafe d2i_PUBKEY(nil, &cursor, buffer.count)
        }
        ERR_clear_error()
        guard let key = unsafe key else { throw .malformed }
        unsafe try self.init(taking: key)
    }

    /// Takes over a key of OpenSSL, which is freed if it is not accepted.
    private init(taking key: OpaquePointer) throws(SignatureKeyError) {
        do throws(SignatureKeyError) {
            algorithm = try unsafe Self.algorithm(of: key)
        } catch {
            unsafe EVP_PKEY_free(key)
            throw error
        }
        material = unsafe .publicKey(key)
    }

    deinit {
        if case .publicKey(let key) = material { unsafe EVP_PKEY_free(key) }
    }

    static func algorithm(of key: OpaquePointer) throws(SignatureKeyError) -> Algorithm {
        switch unsafe EVP_PKEY_get_base_id(key) {
        case EVP_PKEY_RSA:
            let bits = unsafe Int(EVP_PKEY_get_bits(key))
            guard bits >= rsaBits.lowerBound else { throw .tooShort }
            guard bits <= rsaBits.upperBound else { throw .tooLong }
            return .rsaSHA256
        case EVP_PKEY_EC:
            var name = [CChar](repeating: 0, count: 64)
            var length = 0
            guard unsafe EVP_PKEY_get_group_name(key, &name, name.count, &length) == 1,
                String(decoding: name.prefix(length).map { UInt8(bitPattern: $0) }, as: UTF8.self) == "prime256v1"
            else { throw .unsupported }
            return .ecdsaP256SHA256
        case EVP_PKEY_ED25519: return .ed25519
        default: throw .unsupported
        }
    }

    /// Whether a signature of a message was made with this key or its private counterpart. What an HMAC is compared
    /// with takes the same time, wherever they differ. A signature of another size is none.
    package func verifies(_ signature: [UInt8], of message: [UInt8]) -> Bool {
        switch material {
        case .secret(let secret):
            return constantTimeEqual(HMAC.sha256(key: secret.value, message.span), signature)
        case .publicKey(let key):
            guard algorithm != .ecdsaP256SHA256 else {
                guard signature.count == 64 else { return false }
                let numbers = [DER.unsigned(Array(signature[..<32])), DER.unsigned(Array(signature[32...]))]
                return unsafe Self.verify(DER.sequence(numbers), of: message, EVP_sha256(), key)
            }
            return unsafe Self.verify(signature, of: message, algorithm == .ed25519 ? nil : EVP_sha256(), key)
        }
    }

    private static func verify(
        _ signature: [UInt8], of message: [UInt8], _ digest: OpaquePointer?, _ key: OpaquePointer
    ) -> Bool {
        guard let context = unsafe EVP_MD_CTX_new() else { preconditionFailure("memory for a digest") }
        defer { unsafe EVP_MD_CTX_free(context) }
        guard unsafe EVP_DigestVerifyInit(context, nil, digest, nil, key) == 1 else {
            preconditionFailure("OpenSSL provides RSA, ECDSA and Ed25519: \(opensslError())")
        }
        let isValid = unsafe EVP_DigestVerify(context, signature, signature.count, message, message.count) == 1
        ERR_clear_error()
        return isValid
    }
}

/// Why a key is not accepted.
package enum SignatureKeyError: Error, Equatable, CustomStringConvertible {
    /// It cannot be read as a key of its kind.
    case malformed
    /// It is of another kind than RSA, EC on the curve P-256 and Ed25519.
    case unsupported
    /// It is too short to be secure.
    case tooShort
    /// It is so long that each check would take milliseconds.
    case tooLong

    /// What is wrong with the key, for the operator.
    package var description: String {
        switch self {
        case .malformed: "is no public key"
        case .unsupported: "is neither RSA, EC on P-256 nor Ed25519"
        case .tooShort: "is too short: RSA needs 2048 bits, a secret 32 bytes"
        case .tooLong: "is too long: RSA may have 8192 bits"
        }
    }
}

/// The few forms of DER (ITU-T X.690 §8, §10) that keys and signatures are handed to OpenSSL in.
private enum DER {
    /// AlgorithmIdentifier of RSA keys (RFC 8017 appendix A.1).
    static let rsaEncryption: [UInt8] = [
        0x30, 0x0D, 0x06, 0x09, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x01, 0x05, 0x00,
    ]
    /// AlgorithmIdentifier of keys on P-256 (RFC 5480 §2.1.1).
    static let ecP256: [UInt8] = [
        0x30, 0x13, 0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01, 0x06, 0x08, 0x2A, 0x86, 0x48, 0xCE, 0x3D,
        0x03, 0x01, 0x07,
    ]
    /// AlgorithmIdentifier of Ed25519 keys (RFC 8410 §3).
    static let ed25519: [UInt8] = [0x30, 0x05, 0x06, 0x03, 0x2B, 0x65, 0x70]

    static func publicKeyInfo(_ algorithm: [UInt8], _ key: [UInt8]) -> [UInt8] {
        sequence([algorithm, element(0x03, [0x00] + key)])
    }

    static func sequence(_ elements: [[UInt8]]) -> [UInt8] { element(0x30, Array(elements.joined())) }

    /// An INTEGER that is not negative: without leading zeros, but with one where the first bit would be a sign.
    static func unsigned(_ bytes: [UInt8]) -> [UInt8] {
        let digits = Array(bytes.drop { $0 == 0 })
        let needsZero = digits.first.map { $0 & 0x80 != 0 } ?? true
        return element(0x02, (needsZero ? [0x00] : []) + digits)
    }

    private static func element(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
        guard content.count >= 0x80 else { return [tag, UInt8(content.count)] + content }
        var length: [UInt8] = []
        var rest = content.count
        while rest > 0 {
            length.insert(UInt8(rest & 0xFF), at: 0)
            rest >>= 8
        }
        return [tag, 0x80 | UInt8(length.count)] + length + content
    }
}
