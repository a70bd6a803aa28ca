import Primitives

/// The digest that STUN needs and Core does not implement. Conformances are beside a cryptographic library.
package protocol MessageAuthentication: Sendable {
    /// The HMAC-SHA1 of a message (RFC 2104), twenty bytes.
    func hmacSHA1(key: [UInt8], _ message: Span<UInt8>) -> [UInt8]
}

extension STUNMessage {
    static let integritySize = 20
    static let fingerprintSize = 4
    /// The text `STUN`. XORed with it, the value differs from a CRC-32 that the application itself may send
    /// (RFC 8489 §14.7).
    static let fingerprintMask: UInt32 = 0x5354_554E

    /// Whether the message has MESSAGE-INTEGRITY, made with `key` (RFC 8489 §14.5).
    ///
    /// - Parameters:
    ///   - bytes: The bytes that this message was parsed from.
    ///   - key: For short-term credentials, the bytes of the password (RFC 8489 §9.1.1).
    ///   - authentication: Computes the HMAC.
    package func hasValidIntegrity(in bytes: Span<UInt8>, key: [UInt8], authentication: some MessageAuthentication)
        -> Bool
    {
        guard let offset = protection.integrity else { return false }
        let end = offset + 4 + Self.integritySize
        guard end <= bytes.count else { return false }
        // The HMAC covers a header whose length ends with this attribute.
        var covered = ByteWriter(reserving: offset)
        covered.write(bytes.extracting(..<offset))
        covered.overwrite(UInt16(end - Self.headerSize), at: 2)
        let expected = authentication.hmacSHA1(key: key, covered.bytes.span)
        let received = bytes.extracting((offset + 4)..<end)
        guard expected.count == received.count else { return false }
        // All bytes are compared, so that the duration does not show how many were right.
        var difference: UInt8 = 0
        for index in received.indices { difference |= received[index] ^ expected[index] }
        return difference == 0
    }

    /// Whether the message has a FINGERPRINT and it is right (RFC 8489 §14.7).
    package func hasValidFingerprint(in bytes: Span<UInt8>) -> Bool {
        guard let offset = protection.fingerprint, offset + 4 + Self.fingerprintSize <= bytes.count else {
            return false
        }
        var reader = ByteReader(bytes.extracting((offset + 4)...))
        return reader.readUInt32() == CRC32.checksum(of: bytes.extracting(..<offset)) ^ Self.fingerprintMask
    }
}
