internal import CallControl
package import Cryptography
import Primitives
package import Registration

/// A realm of callMe tokens: its name, which guests give in the query `tokenrealm`, and the key that the makers of
/// tokens share with the gateway (spidr-wire §2).
package struct CallMeRealm: Equatable, Sendable {
    /// The value of the query `tokenrealm`.
    package let name: String
    private let secret: Secret

    private enum Secret: Equatable {
        /// Tokens are encrypted. The vector is that of all tokens; `nil`: each token starts with its own, or the cipher
        /// needs none.
        case cipher(BlockCipher, key: Redacted<[UInt8]>, initializationVector: [UInt8]?)
        /// Tokens are signed with HMAC-SHA-256.
        case signature(key: Redacted<[UInt8]>)
    }

    /// What a token says.
    package enum Token: Equatable, Sendable {
        /// An encrypted token, which says an address and a time.
        case encrypted(CallMeToken)
        /// A signed token.
        case signed(SignedCallMeToken)
    }

    /// The least bytes of a key for signatures (RFC 7518 §3.2).
    package static let signatureKeySize = SignatureKey.secretSize

    /// The longest token that is decrypted, in hexadecimal digits. It has room for an address of the greatest length, a
    /// time, a vector and the padding.
    private static let maximumLength = 1_024

    /// Makes a realm. `nil` if the name is empty, if the key or the vector does not have the size that the cipher
    /// needs, or if a vector is given that the cipher does not use.
    package init?(_ name: String, _ cipher: BlockCipher, key: [UInt8], initializationVector: [UInt8]? = nil) {
        guard !name.isEmpty, key.count == cipher.keySize else { return nil }
        if let initializationVector {
            guard cipher.needsInitializationVector, initializationVector.count == BlockCipher.blockSize else {
                return nil
            }
        }
        self.name = name
        secret = .cipher(cipher, key: Redacted(key), initializationVector: initializationVector)
    }

    /// Makes a realm whose tokens are signed. `nil` if the name is empty, or the key shorter than
    /// ``signatureKeySize``.
    package init?(_ name: String, signatureKey key: [UInt8]) {
        guard !name.isEmpty, key.count >= Self.signatureKeySize else { return nil }
        self.name = name
        secret = .signature(key: Redacted(key))
    }

    /// Reads a token. `nil` if it is not a token of this realm.
    ///
    /// - Parameters:
    ///   - token: an encrypted token in hexadecimal digits of either case, or a signed one in the compact form of a
    ///     JSON Web Token.
    ///   - defaultDomain: completes an address without a domain.
    package func read(_ token: String, defaultDomain: String) -> Token? {
        switch secret {
        case .cipher(let cipher, let key, let vector):
            Self.decrypt(token, cipher, key.value, vector)
                .flatMap { CallMeToken(parsing: $0, defaultDomain: defaultDomain) }.map { .encrypted($0) }
        case .signature(let key):
            Self.claims(of: token, key.value)
                .flatMap { SignedCallMeToken($0, defaultDomain: defaultDomain) }.map { .signed($0) }
        }
    }

    /// The claims of a token that the key has signed.
    private static func claims(of token: String, _ key: [UInt8]) -> [String: StrictJSON]? {
        // No key is chosen by `kid`: a realm has one.
        guard let token = try? BearerToken(parsing: token), let key = try? SignatureKey(secret: key) else { return nil }
        return try? token.claims(provenBy: key)
    }

    private static func decrypt(
        _ token: String, _ cipher: BlockCipher, _ key: [UInt8], _ initializationVector: [UInt8]?
    ) -> [UInt8]? {
        guard token.utf8.count <= maximumLength, var bytes = [UInt8](hexadecimal: token) else { return nil }
        var vector: [UInt8] = []
        if let initializationVector {
            vector = initializationVector
        } else if cipher.needsInitializationVector {
            guard bytes.count > BlockCipher.blockSize else { return nil }
            vector = Array(bytes.prefix(BlockCipher.blockSize))
            bytes.removeFirst(BlockCipher.blockSize)
        }
        return cipher.decrypt(bytes, key: key, initializationVector: vector)
    }
}
