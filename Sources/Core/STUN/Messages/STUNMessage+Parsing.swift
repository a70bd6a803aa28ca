import Primitives

extension STUNMessage {
    /// Parses a datagram with one message. Integrity and fingerprint are located, but not checked.
    ///
    /// - Throws: If the bytes are not a STUN message, or have too many attributes.
    package init(parsing bytes: Span<UInt8>) throws(STUNError) {
        var reader = ByteReader(bytes)
        guard let bits = reader.readUInt16(), let (messageClass, method) = STUNMessageType.split(bits),
            let length = reader.readUInt16(),
            let cookie = reader.readUInt32(), cookie == Self.magicCookie,
            let high = reader.readUInt32(), let low = reader.readUInt64()
        else { throw .malformedHeader }
        guard Int(length) == reader.remaining, length % 4 == 0 else { throw .malformedLength }

        self.init(messageClass, method, TransactionID(high: high, low: low))
        while reader.remaining > 0 {
            guard protection.fingerprint == nil else { throw .malformedOrder }
            try parseAttribute(&reader)
        }
    }

    private mutating func parseAttribute(_ reader: inout ByteReader) throws(STUNError) {
        let start = reader.offset
        // The header length is a multiple of four, and so is every attribute, so four bytes are left here.
        guard let bits = reader.readUInt16(), let length = reader.readUInt16() else { throw .malformedLength }
        let type = STUNAttributeType(bits)
        guard let value = reader.readSpan(Int(length)), reader.skip(Self.padding(after: value.count)) else {
            throw .malformedAttribute(type)
        }
        switch type {
        case .fingerprint:
            guard value.count == Self.fingerprintSize else { throw .malformedAttribute(type) }
            protection.fingerprint = start
        case .messageIntegritySHA256 where protection.integritySHA256 == nil:
            // The value may be truncated to a multiple of four bytes, but not below sixteen (RFC 8489 §14.6).
            guard (16...32).contains(value.count), value.count % 4 == 0 else { throw .malformedAttribute(type) }
            protection.integritySHA256 = start
        case _ where protection.integrity != nil || protection.integritySHA256 != nil:
            break
        case .messageIntegrity:
            guard value.count == Self.integritySize else { throw .malformedAttribute(type) }
            protection.integrity = start
        default:
            guard attributes.count < Self.maximumAttributeCount else { throw .limitAttributes }
            attributes.append(try STUNAttribute(parsing: value, as: type, in: transactionID))
        }
    }

    /// The bytes of padding after a value. Values are padded to 32 bits; the padding has no meaning (RFC 8489 §14).
    static func padding(after count: Int) -> Int { (4 - count % 4) % 4 }
}

/// Why bytes are not a STUN message. In every case but `limitAttributes`, the sender is at fault.
package enum STUNError: Error, Hashable, Sendable {
    /// The message is shorter than a header, its first two bits are not zero, or it has no magic cookie (RFC 8489 §5).
    case malformedHeader
    /// The length field is not a multiple of four, or does not match the length of the datagram.
    case malformedLength
    /// The attribute of this type exceeds the message, or its value does not have the form that the type requires.
    case malformedAttribute(STUNAttributeType)
    /// FINGERPRINT is not the last attribute (RFC 8489 §14.7).
    case malformedOrder
    /// The message has more attributes than `STUNMessage.maximumAttributeCount`.
    case limitAttributes
}
