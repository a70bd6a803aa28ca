import Primitives
import RTP
import SDP

/// What is known of the way to the peer of a leg: what the peer says it carries, and what the gateway works out itself.
///
/// Where the leg's m-lines are on several transports, their packets are one series of transport-wide numbers, as
/// libwebrtc counts.
struct ReceiverPath: Sendable {
    /// A peer that has said nothing for so long says nothing any more. libwebrtc says it once a second.
    private static let patience = Duration.seconds(10)

    private var estimate = BandwidthEstimate()
    /// REMB.
    private var reported: (bitsPerSecond: UInt64, moment: MonotonicTime)?

    /// Writes the next transport-wide number over that of the packet's sender, or nothing if this peer takes none.
    ///
    /// - Parameters:
    ///   - data: Where the sender's number lies.
    ///   - id: Under which this peer takes numbers on the m-line; 0 if it does not.
    ///   - count: The length of the packet.
    mutating func number(
        _ header: RTPHeader, at data: Int, as id: UInt8, in packet: inout MutableSpan<UInt8>, _ count: Int,
        at now: MonotonicTime
    ) {
        guard id != 0, header.takesElement(id) else { return header.eraseElement(at: data, count: 2, in: &packet) }
        header.replaceElement(at: data, by: id, estimate.packetSent(octets: count, at: now).rawValue, in: &packet)
    }

    /// Numbers a packet that is sent again anew, if it had a number.
    mutating func renumber(_ header: RTPHeader, as id: UInt8, in packet: inout [UInt8], at now: MonotonicTime) {
        guard id != 0, let element = header.extensionElement(id, in: packet.span), element.count == 2 else { return }
        let count = packet.count
        var span = packet.mutableSpan
        number(header, at: element.lowerBound, as: id, in: &span, count, at: now)
    }

    mutating func feedbackReceived(_ feedback: TransportFeedback, roundTrip: Duration?, at now: MonotonicTime) {
        estimate.feedbackReceived(feedback, roundTrip: roundTrip, at: now)
    }

    mutating func reportReceived(_ bitsPerSecond: UInt64, at now: MonotonicTime) { reported = (bitsPerSecond, now) }

    /// What the way carries, in bits per second, as far as anybody has found out; `nil` if nobody has.
    func limit(at now: MonotonicTime) -> UInt64? {
        let said = reported.flatMap { now - $0.moment <= Self.patience ? $0.bitsPerSecond : nil }
        return [said, estimate.bitsPerSecond].compactMap(\.self).min()
    }
}

extension NegotiatedMedia {
    /// The id of the transport-wide number in packets to the peer; 0 if the peer says nothing of them.
    var outgoingNumberID: UInt8 {
        guard !isRejected, codecs.contains(where: { $0.feedback.contains(Codec.transportFeedback) }) else { return 0 }
        return extensions.first { $0.uri == HeaderExtension.transportSequenceNumber && $0.direction.sends }?.id ?? 0
    }
}
