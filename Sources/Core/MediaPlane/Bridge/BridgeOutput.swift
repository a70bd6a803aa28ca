import Primitives
package import RTP
package import SDP

/// What the owner of a bridge has to do.
package enum BridgeOutput: Equatable, Sendable {
    /// Protect this RTCP compound packet and send it to the peer of this leg.
    case transmitControl([UInt8], to: LegIndex, over: TransportNumber)
    /// Protect this RTP packet, which the peer of this leg has missed, and send it.
    case transmitMedia([UInt8], to: LegIndex, over: TransportNumber)
    /// Read `audio(of:)` of all legs again: what the owner has to decode and generate has changed without a command.
    case audioChanged
}

/// The result of `Bridge.receive`.
package enum Reception: Sendable {
    /// The packet is relayed, decoded or both.
    case media(Arrival)
    /// The packet is dropped for this reason.
    case drop(DropReason)
}

/// A packet that is relayed or decoded, and how it came.
package struct Arrival: Sendable {
    /// The header as it came.
    package var header: RTPHeader
    /// The leg whose peer sent it.
    package let leg: LegIndex
    /// The index of the m-line that it belongs to.
    package let line: Int
    let format: PayloadFormat
    /// For a retransmission: the stream that its source repairs; `nil` if that is not known.
    let repairs: SSRC?
    let position: ReceptionStatistics.Position
    /// Whether a key frame starts with this packet.
    let startsKeyFrame: Bool
    /// The number of m-lines that get the packet; `Bridge.relay` is called for each.
    package let receiverCount: Int
    /// Whether the gateway decodes the packet.
    package let isDecoded: Bool

    /// The RTP clock rate of the packet in hertz.
    package var clockRate: UInt32 { format.clockRate }
    /// The position of its transport-wide sequence number, which is valid on this leg only; 0 if it has none.
    let transportNumber: UInt16
    /// Whether its source has restarted or is another one than before, so that its former state is void.
    package let isRestart: Bool

    /// Whether the packet is a telephone event (RFC 4733).
    package var isTelephoneEvent: Bool { format.isTelephoneEvent }
    /// Whether the packet has to do with the DTMF digits of its sender: it is a telephone event, or those of its source
    /// before it are void. Other packets need not be looked at.
    package var concernsDigits: Bool { format.isTelephoneEvent || isRestart }
}

/// The result of `Bridge.relay`.
package enum Relaying: Equatable, Sendable {
    /// The packet is rewritten for this leg and has `count` bytes: protect it and send it over this transport.
    case relay(to: LegIndex, over: TransportNumber, count: Int)
    /// The packet is dropped for this reason.
    case drop(DropReason)
}

/// The reason of a bridge's deadline.
package enum BridgeDeadline: Hashable, Sendable {
    /// The next sender and receiver reports to this leg are due (RFC 3550 §6.3).
    case reports(to: LegIndex)
    /// The next transport-wide feedback to this leg is due: which of its packets came, and when.
    case transportFeedback(to: LegIndex)
}
