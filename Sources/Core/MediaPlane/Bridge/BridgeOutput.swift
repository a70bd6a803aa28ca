/// What a bridge wants done.
package enum BridgeOutput: Equatable, Sendable {
    /// An RTCP compound for the peer on this side, to be protected and sent.
    case transmitControl([UInt8], to: BridgeSide)
}

/// What to do with a packet that was handed to `Bridge.forward`.
package enum Forwarding: Equatable, Sendable {
    /// The header now fits the other leg: protect the packet and send it there, in the same length.
    case forward
    case drop(DropReason)
}

/// Why a bridge wants to be called.
package enum BridgeDeadline: Hashable, Sendable {
    /// The next sender and receiver reports to this side are due (RFC 3550 §6.3).
    case reports(to: BridgeSide)
}
