import Primitives

extension STUNAttribute {
    init(parsing value: Span<UInt8>, as type: STUNAttributeType, in transaction: TransactionID) throws(STUNError) {
        guard let attribute = Self.parse(value, as: type, in: transaction) else { throw .malformedAttribute(type) }
        self = attribute
    }

    /// `nil` if the value does not have the form that `type` requires.
    private static func parse(_ value: Span<UInt8>, as type: STUNAttributeType, in transaction: TransactionID) -> Self?
    {
        var reader = ByteReader(value)
        switch type {
        case .username:
            return text(value, upTo: maximumUsernameSize).map { .username($0) }
        case .errorCode:
            return parseErrorCode(&reader).map { .errorCode($0) }
        case .unknownAttributes:
            guard value.count % 2 == 0 else { return nil }
            var types: [STUNAttributeType] = []
            while let bits = reader.readUInt16() { types.append(STUNAttributeType(bits)) }
            return .unknownAttributes(types)
        case .xorMappedAddress:
            return parseXorAddress(&reader, in: transaction).map { .xorMappedAddress($0) }
        case .priority:
            guard value.count == 4 else { return nil }
            return reader.readUInt32().map { .priority($0) }
        case .useCandidate:
            return value.isEmpty ? .useCandidate : nil
        case .iceControlled:
            guard value.count == 8 else { return nil }
            return reader.readUInt64().map { .iceControlled(tieBreaker: $0) }
        case .iceControlling:
            guard value.count == 8 else { return nil }
            return reader.readUInt64().map { .iceControlling(tieBreaker: $0) }
        case .software:
            // The name is for people only, so a name that is not UTF-8 is no reason to refuse the message.
            return text(value, upTo: maximumSoftwareSize).map { .software($0) }
                ?? .unknown(type, [UInt8](copying: value))
        default:
            return .unknown(type, [UInt8](copying: value))
        }
    }

    private static func text(_ value: Span<UInt8>, upTo limit: Int) -> String? {
        guard value.count <= limit else { return nil }
        return String(validating: [UInt8](copying: value), as: UTF8.self)
    }

    /// Reads 21 reserved bits, the hundreds in 3 bits, the rest in 8 bits and the reason phrase (RFC 8489 §14.8).
    private static func parseErrorCode(_ reader: inout ByteReader) -> STUNErrorCode? {
        guard let bits = reader.readUInt32(), let text = reader.readSpan(reader.remaining),
            let reason = Self.text(text, upTo: STUNErrorCode.maximumReasonSize)
        else { return nil }
        let (hundreds, units) = (Int(bits >> 8 & 0b111), Int(bits & 0xFF))
        guard units < 100 else { return nil }
        return STUNErrorCode(hundreds * 100 + units, reason: reason)
    }

    /// Reads an address. The port is XORed with the upper half of the magic cookie, the address with cookie and
    /// transaction ID (RFC 8489 §14.2).
    private static func parseXorAddress(_ reader: inout ByteReader, in transaction: TransactionID) -> SocketAddress? {
        guard reader.skip(1), let family = reader.readUInt8(), let port = reader.readUInt16() else { return nil }
        let address: IPAddress
        switch (family, reader.remaining) {
        case (1, 4):
            guard let bits = reader.readUInt32() else { return nil }
            address = IPAddress(v4: bits)
        case (2, 16):
            guard let high = reader.readUInt64(), let low = reader.readUInt64() else { return nil }
            address = IPAddress(v6: high, low)
        default:
            return nil
        }
        return SocketAddress(address, port: port).xored(in: transaction)
    }
}

extension SocketAddress {
    /// The address XORed with magic cookie and transaction ID; a second application restores it (RFC 8489 §14.2).
    func xored(in transaction: TransactionID) -> SocketAddress {
        let cookie = STUNMessage.magicCookie
        let mask = UInt64(cookie) << 32 | UInt64(transaction.high)
        let hidden =
            switch address.family {
            case .v4: IPAddress(v4: UInt32(truncatingIfNeeded: address.low) ^ cookie)
            case .v6: IPAddress(v6: address.high ^ mask, address.low ^ transaction.low)
            }
        return SocketAddress(hidden, port: port ^ UInt16(cookie >> 16))
    }
}
