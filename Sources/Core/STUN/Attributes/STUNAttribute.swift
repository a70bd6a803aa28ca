package import Primitives

/// An attribute with its value decoded.
package enum STUNAttribute: Hashable, Sendable {
    /// RFC 8489 §14.3.
    case username(String)
    /// RFC 8489 §14.8.
    case errorCode(STUNErrorCode)
    /// The types that a 420 complains about (RFC 8489 §14.13).
    case unknownAttributes([STUNAttributeType])
    /// The source address of a request, as its receiver saw it (RFC 8489 §14.2).
    case xorMappedAddress(SocketAddress)
    /// The priority a peer-reflexive candidate learnt from this check would have (RFC 8445 §7.1.1).
    case priority(UInt32)
    /// The controlling agent nominates this pair (RFC 8445 §7.1.2).
    case useCandidate
    /// RFC 8445 §7.1.3.
    case iceControlled(tieBreaker: UInt64)
    /// RFC 8445 §7.1.3.
    case iceControlling(tieBreaker: UInt64)
    /// RFC 8489 §14.14.
    case software(String)
    /// A type this module does not know, with its bytes.
    case unknown(STUNAttributeType, [UInt8])

    package var type: STUNAttributeType {
        switch self {
        case .username: .username
        case .errorCode: .errorCode
        case .unknownAttributes: .unknownAttributes
        case .xorMappedAddress: .xorMappedAddress
        case .priority: .priority
        case .useCandidate: .useCandidate
        case .iceControlled: .iceControlled
        case .iceControlling: .iceControlling
        case .software: .software
        case .unknown(let type, _): type
        }
    }

    /// "Fewer than 509 bytes" (RFC 8489 §14.3).
    static let maximumUsernameSize = 508
    /// RFC 8489 §14.14.
    static let maximumSoftwareSize = 763
}
