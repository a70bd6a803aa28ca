internal import COpenSSL

/// AES (FIPS 197) in the modes of operation (NIST SP 800-38A) of callMe tokens. Neither mode authenticates: an attacker
/// without the key can make ciphertexts that decrypt to some text.
package enum BlockCipher: String, Hashable, Sendable, CaseIterable {
    // The names are those of `openssl enc`.
    /// AES with a key of 16 bytes in electronic codebook mode (SP 800-38A §6.1). It needs no initialization vector.
    case aes128ECB = "aes-128-ecb"
    /// AES with a key of 32 bytes in cipher block chaining mode (SP 800-38A §6.2), from an initialization vector.
    case aes256CBC = "aes-256-cbc"

    /// Bytes of a block, and of an initialization vector.
    package static let blockSize = 16

    /// Bytes of a key.
    package var keySize: Int {
        switch self {
        case .aes128ECB: 16
        case .aes256CBC: 32
        }
    }

    /// Whether the mode uses an initialization vector.
    package var needsInitializationVector: Bool {
        switch self {
        case .aes128ECB: false
        case .aes256CBC: true
        }
    }

    /// Decrypts a text, and removes its padding (PKCS #7, RFC 5652 §6.3). Returns `nil` if the length or the padding is
    /// not valid.
    ///
    /// - Parameters:
    ///   - ciphertext: Whole blocks.
    ///   - key: ``keySize`` bytes; another size traps.
    ///   - initializationVector: ``blockSize`` bytes, or none if the mode needs none; another size traps.
    package func decrypt(_ ciphertext: [UInt8], key: [UInt8], initializationVector: [UInt8] = []) -> [UInt8]? {
        precondition(key.count == keySize, "a key of the cipher's size")
        precondition(
            initializationVector.count == (needsInitializationVector ? Self.blockSize : 0),
            "a vector where one is needed")
        guard let context = unsafe EVP_CIPHER_CTX_new() else { preconditionFailure("memory for a cipher") }
        defer { unsafe EVP_CIPHER_CTX_free(context) }
        guard unsafe EVP_DecryptInit_ex(context, algorithm, nil, key, initializationVector) == 1 else {
            preconditionFailure("OpenSSL provides AES")
        }
        var text = [UInt8](repeating: 0, count: ciphertext.count + Self.blockSize)
        var (count, rest) = (Int32(0), Int32(0))
        guard unsafe EVP_DecryptUpdate(context, &text, &count, ciphertext, Int32(ciphertext.count)) == 1 else {
            return nil
        }
        let isPadded = unsafe text.withUnsafeMutableBufferPointer { buffer in
            unsafe EVP_DecryptFinal_ex(context, buffer.baseAddress.map { unsafe $0 + Int(count) }, &rest) == 1
        }
        guard isPadded else {
            ERR_clear_error()
            return nil
        }
        return Array(text[..<Int(count + rest)])
    }

    private var algorithm: OpaquePointer {
        switch self {
        case .aes128ECB: unsafe EVP_aes_128_ecb()
        case .aes256CBC: unsafe EVP_aes_256_cbc()
        }
    }
}
