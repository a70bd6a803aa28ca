import Primitives

extension STUNMessage {
    /// The bytes of the message without integrity.
    ///
    /// - Parameter fingerprint: Whether FINGERPRINT is appended.
    package func encoded(fingerprint: Bool) -> [UInt8] {
        var writer = writeAttributes()
        if fingerprint { Self.appendFingerprint(to: &writer) }
        return writer.bytes
    }

    /// The bytes of the message with MESSAGE-INTEGRITY under the short-term `password` (RFC 8489 §9.1.1) and
    /// FINGERPRINT.
    package func encoded(password: String, authentication: some MessageAuthentication) -> [UInt8] {
        var writer = writeAttributes()
        appendIntegrity(to: &writer, key: Array(password.utf8), authentication: authentication)
        Self.appendFingerprint(to: &writer)
        return writer.bytes
    }

    private func writeAttributes() -> ByteWriter {
        var writer = ByteWriter()
        writer.write(STUNMessageType.join(messageClass, method))
        writer.write(UInt16(0))
        writer.write(Self.magicCookie)
        writer.write(transactionID.high)
        writer.write(transactionID.low)
        for attribute in attributes {
            writer.write(attribute.type.rawValue)
            let lengthOffset = writer.count
            writer.write(UInt16(0))
            attribute.writeValue(to: &writer, in: transactionID)
            let length = writer.count - lengthOffset - 2
            precondition(length <= UInt16.max, "a STUN attribute holds at most 65,535 bytes")
            writer.overwrite(UInt16(length), at: lengthOffset)
            writer.writeZeros(Self.padding(after: length))
        }
        Self.setLength(of: &writer)
        return writer
    }

    // Integrity and fingerprint are computed over a header whose length includes their own attribute
    // (RFC 8489 §14.5, §14.7).

    private func appendIntegrity(to writer: inout ByteWriter, key: [UInt8], authentication: some MessageAuthentication)
    {
        Self.setLength(of: &writer, expecting: 4 + Self.integritySize)
        let tag = authentication.hmacSHA1(key: key, writer.bytes.span)
        precondition(tag.count == Self.integritySize, "an HMAC-SHA1 has twenty bytes")
        writer.write(STUNAttributeType.messageIntegrity.rawValue)
        writer.write(UInt16(Self.integritySize))
        writer.write(tag)
    }

    private static func appendFingerprint(to writer: inout ByteWriter) {
        setLength(of: &writer, expecting: 4 + fingerprintSize)
        let checksum = CRC32.checksum(of: writer.bytes.span) ^ fingerprintMask
        writer.write(STUNAttributeType.fingerprint.rawValue)
        writer.write(UInt16(fingerprintSize))
        writer.write(checksum)
    }

    private static func setLength(of writer: inout ByteWriter, expecting more: Int = 0) {
        let length = writer.count - headerSize + more
        precondition(length <= UInt16.max, "a STUN message holds at most 65,535 bytes of attributes")
        writer.overwrite(UInt16(length), at: 2)
    }
}
