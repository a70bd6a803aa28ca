internal import CallControl
package import Cryptography
import Primitives
package import Registration

/// A realm of callMe tokens: its name, which guests give in the query `tokenrealm`, and the key that the makers of
/// tokens share with the gateway (spidr-wire §2).
package struct CallMeRealm: Equatable, Sendable {
    /// The value of the query `tokenrealm`.
    package let name: String
    private let cipher: BlockCipher
    private let key: Redacted<[UInt8]>
    /// The vector of all tokens. `nil`: each token begins with its own, or the cipher needs none.
    private let initializationVector: [UInt8]?

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
        self.cipher = cipher
        self.key = Redacted(key)
        self.initializationVector = initializationVector
    }

    /// Decrypts a token. `nil` if it is not a token of this realm.
    ///
    /// - Parameters:
    ///   - token: the token in hexadecimal digits of either case.
    ///   - defaultDomain: completes an address without a domain.
    package func read(_ token: String, defaultDomain: String) -> CallMeToken? {
        guard token.utf8.count <= Self.maximumLength, var bytes = [UInt8](hexadecimal: token) else { return nil }
        var vector: [UInt8] = []
        if let initializationVector {
            vector = initializationVector
        } else if cipher.needsInitializationVector {
            guard bytes.count > BlockCipher.blockSize else { return nil }
            vector = Array(bytes.prefix(BlockCipher.blockSize))
            bytes.removeFirst(BlockCipher.blockSize)
        }
        return cipher.decrypt(bytes, key: key.value, initializationVector: vector)
            .flatMap { CallMeToken(parsing: $0, defaultDomain: defaultDomain) }
    }
}
