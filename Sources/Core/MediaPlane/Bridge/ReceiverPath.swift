import Primitives
import RTP
import SDP

/// What is known about the path to the peer of a leg: the peer's own estimate, and that of the gateway. The gateway
/// uses the peer's feedback on single packets, or its receiver reports if there is no such feedback.
///
/// If the leg's m-lines are on several transports, their packets have one series of transport-wide sequence numbers, as
/// in libwebrtc.
struct ReceiverPath: Sendable {
    /// The age at which the peer's estimates and feedback expire. libwebrtc sends them once a second.
    private static let patience = Duration.seconds(10)

    private var estimate = BandwidthEstimate()
    private var reportedLoss = ReportedLoss()
    private var lastFeedback: MonotonicTime?
    /// The peer's own estimate (REMB).
    private var reported: (bitsPerSecond: UInt64, moment: MonotonicTime)?

    /// Counts a packet sent to the peer, with a transport-wide sequence number or without.
    mutating func packetSent(octets count: Int) { reportedLoss.packetSent(octets: count) }

    /// Replaces the transport-wide sequence number of the packet's sender by the next one of this path, or erases it if
    /// this peer takes none.
    ///
    /// - Parameters:
    ///   - header: The header of the packet.
    ///   - data: The position of the sender's number.
    ///   - id: The id under which this peer takes numbers on the m-line; 0 if it does not.
    ///   - packet: A buffer that starts with the packet.
    ///   - count: The length of the packet in bytes.
    ///   - now: The time.
    mutating func number(
        _ header: RTPHeader, at data: Int, as id: UInt8, in packet: inout MutableSpan<UInt8>, _ count: Int,
        at now: MonotonicTime
    ) {
        guard id != 0, header.takesElement(id) else { return header.eraseElement(at: data, count: 2, in: &packet) }
        header.replaceElement(at: data, by: id, estimate.packetSent(octets: count, at: now).rawValue, in: &packet)
    }

    /// Gives a retransmission a new transport-wide sequence number, if the packet had one.
    mutating func renumber(_ header: RTPHeader, as id: UInt8, in packet: inout [UInt8], at now: MonotonicTime) {
        guard id != 0, let element = header.extensionElement(id, in: packet.span), element.count == 2 else { return }
        let count = packet.count
        var span = packet.mutableSpan
        number(header, at: element.lowerBound, as: id, in: &span, count, at: now)
    }

    mutating func feedbackReceived(_ feedback: TransportFeedback, roundTrip: Duration?, at now: MonotonicTime) {
        estimate.feedbackReceived(feedback, roundTrip: roundTrip, at: now)
        lastFeedback = now
    }

    /// Takes a report about the gateway's streams: how many of the packets sent to the peer were lost, and how many
    /// arrived.
    mutating func reportReceived(lost: Int, arrived: Int, at now: MonotonicTime) {
        reportedLoss.reportReceived(lost: lost, arrived: arrived, at: now)
    }

    mutating func reportReceived(_ bitsPerSecond: UInt64, at now: MonotonicTime) { reported = (bitsPerSecond, now) }

    /// What the path carries in bit/s; `nil` if neither the peer nor the gateway has an estimate.
    func limit(at now: MonotonicTime) -> UInt64? {
        let said = reported.flatMap { now - $0.moment <= Self.patience ? $0.bitsPerSecond : nil }
        let found = hasFeedback(at: now) ? estimate.bitsPerSecond : reportedLoss.bitsPerSecond
        return [said, found].compactMap(\.self).min()
    }

    private func hasFeedback(at now: MonotonicTime) -> Bool {
        lastFeedback.map { now - $0 <= Self.patience } ?? false
    }
}

extension NegotiatedMedia {
    /// The id of the transport-wide sequence number in packets to the peer; 0 if the peer gives no feedback on them.
    var outgoingNumberID: UInt8 {
        guard !isRejected, codecs.contains(where: { $0.feedback.contains(Codec.transportFeedback) }) else { return 0 }
        return extensions.first { $0.uri == HeaderExtension.transportSequenceNumber && $0.direction.sends }?.id ?? 0
    }
}
