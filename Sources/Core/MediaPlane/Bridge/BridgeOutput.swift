import Primitives
package import RTP
package import SDP

/// What a bridge wants done.
package enum BridgeOutput: Equatable, Sendable {
    /// An RTCP compound for the peer on this side, to be protected and sent.
    case transmitControl([UInt8], to: LegIndex, over: TransportNumber)
    /// An RTP packet that the peer on this side has missed, to be protected and sent.
    case transmitMedia([UInt8], to: LegIndex, over: TransportNumber)
    /// What is decoded and made here has changed by itself: see `audio(of:)`.
    case audioChanged
}

/// What came of a packet that was handed to `Bridge.receive`.
package enum Reception: Sendable {
    case media(Arrival)
    case drop(DropReason)
}

/// A packet that is of use to somebody, and how it came.
package struct Arrival: Sendable {
    package var header: RTPHeader
    package let leg: LegIndex
    /// The m-line it belongs to.
    package let line: Int
    let format: PayloadFormat
    /// For a retransmission: the stream that its source repairs.
    let repairs: SSRC?
    let position: ReceptionStatistics.Position
    /// A key frame begins with it.
    let beginsKeyFrame: Bool
    /// How many legs it goes to; `Bridge.forward` is called for each.
    package let receiverCount: Int
    /// The gateway itself listens.
    package let isDecoded: Bool

    /// Ticks per second of its timestamps.
    package var clockRate: UInt32 { format.clockRate }
    /// Where its transport-wide sequence number lies, which counts on this leg only; 0 without one.
    let transportNumber: UInt16
    /// Its source began anew, or is another one than before: what is known of the stream is of no use any more.
    package let isRestart: Bool
}

/// What to do with a packet that was handed to `Bridge.forward`.
package enum Forwarding: Equatable, Sendable {
    /// The packet now fits this leg and has so many bytes: protect it and send it there, over this transport.
    case forward(to: LegIndex, over: TransportNumber, count: Int)
    case drop(DropReason)
}

/// Why a bridge wants to be called.
package enum BridgeDeadline: Hashable, Sendable {
    /// The next sender and receiver reports to this leg are due (RFC 3550 §6.3).
    case reports(to: LegIndex)
    /// This leg is told which of its packets came, and when.
    case transportFeedback(to: LegIndex)
}
