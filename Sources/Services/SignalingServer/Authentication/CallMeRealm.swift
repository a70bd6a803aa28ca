package import CallControl
package import Cryptography
import Primitives

/// Those who may make callMe tokens: a name for the query `tokenrealm`, and the key they share with the gateway (spidr-wire §2).
package struct CallMeRealm: Equatable, Sendable {
    package let name: String
    private let cipher: BlockCipher
    private let key: Redacted<[UInt8]>
    /// `nil`: each token begins with its own.
    private let initializationVector: [UInt8]?

    /// The longest token that is looked at, in digits: an address of the greatest length, a time, a vector and the padding.
    private static let maximumLength = 1_024

    /// `nil` if key or vector have not the cipher's size, or there is a vector that the cipher has no use for.
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

    /// What a token of this realm says; `nil` if it is none.
    ///
    /// - Parameter token: hexadecimal digits.
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

extension [UInt8] {
    /// Two digits for each byte, in either case; `nil` if the text is anything else.
    package init?(hexadecimal text: String) {
        let digits = text.utf8.compactMap { Character(UnicodeScalar($0)).hexDigitValue.map(UInt8.init) }
        guard digits.count == text.utf8.count, digits.count.isMultiple(of: 2) else { return nil }
        self = stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
    }
}
