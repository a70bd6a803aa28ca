/// Why bytes are not a STUN message. The peer is at fault in every case but `limitAttributes`.
package enum STUNError: Error, Hashable, Sendable {
    /// Shorter than a header, first two bits not zero, or no magic cookie (RFC 8489 §5).
    case malformedHeader
    /// The length field is not a multiple of four or does not end where the datagram ends.
    case malformedLength
    /// The attribute runs past the end, or its value does not have the form its type prescribes.
    case malformedAttribute(STUNAttributeType)
    /// FINGERPRINT is not the last attribute (RFC 8489 §14.7).
    case malformedOrder
    /// More attributes than `STUNMessage.maximumAttributeCount`.
    case limitAttributes
}
