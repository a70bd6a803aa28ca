import Primitives

extension STUNAttribute {
    func writeValue(to writer: inout ByteWriter, in transaction: TransactionID) {
        switch self {
        case .username(let name):
            precondition(name.utf8.count <= Self.maximumUsernameSize, "a STUN username has at most 508 bytes")
            writer.write(name)
        case .errorCode(let error):
            writer.write(UInt16(0))
            writer.write(UInt8(error.code / 100))
            writer.write(UInt8(error.code % 100))
            writer.write(error.reason)
        case .unknownAttributes(let types):
            for type in types { writer.write(type.rawValue) }
        case .xorMappedAddress(let address):
            let hidden = address.xored(in: transaction)
            writer.write(UInt8(0))
            writer.write(UInt8(hidden.address.family == .v4 ? 1 : 2))
            writer.write(hidden.port)
            writer.write(hidden.address.bytes)
        case .priority(let priority):
            writer.write(priority)
        case .useCandidate:
            break
        case .iceControlled(let tieBreaker), .iceControlling(let tieBreaker):
            writer.write(tieBreaker)
        case .software(let name):
            precondition(name.utf8.count <= Self.maximumSoftwareSize, "SOFTWARE has at most 763 bytes")
            writer.write(name)
        case .unknown(_, let value):
            writer.write(value)
        }
    }
}
