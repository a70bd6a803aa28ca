package import Primitives

/// An attribute of a STUN message with its decoded value.
package enum STUNAttribute: Hashable, Sendable {
    /// USERNAME (RFC 8489 §14.3).
    case username(String)
    /// ERROR-CODE (RFC 8489 §14.8).
    case errorCode(STUNErrorCode)
    /// UNKNOWN-ATTRIBUTES: the types that a 420 response rejects (RFC 8489 §14.13).
    case unknownAttributes([STUNAttributeType])
    /// XOR-MAPPED-ADDRESS: the source address of a request, as its receiver saw it (RFC 8489 §14.2).
    case xorMappedAddress(SocketAddress)
    /// PRIORITY: the priority that a peer-reflexive candidate learnt from this check would have (RFC 8445 §7.1.1).
    case priority(UInt32)
    /// USE-CANDIDATE: the controlling agent nominates this pair (RFC 8445 §7.1.2).
    case useCandidate
    /// ICE-CONTROLLED: the sender is in the controlled role (RFC 8445 §7.1.3).
    case iceControlled(tieBreaker: UInt64)
    /// ICE-CONTROLLING: the sender is in the controlling role (RFC 8445 §7.1.3).
    case iceControlling(tieBreaker: UInt64)
    /// SOFTWARE: the name and version of the sender's software (RFC 8489 §14.14).
    case software(String)
    /// An attribute of a type that this module does not know, with the bytes of its value.
    case unknown(STUNAttributeType, [UInt8])

    /// The type of the attribute.
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

    /// The most bytes of a username: "fewer than 509 bytes" (RFC 8489 §14.3).
    static let maximumUsernameSize = 508
    /// The most bytes of a software name (RFC 8489 §14.14).
    static let maximumSoftwareSize = 763
}
