import Primitives
import RTP
import SDP

/// The pending feedback for a leg whose peer numbers its packets per transport.
struct TransportFeedbackState: Sendable {
    /// The id of the header extension, one for all m-lines of a BUNDLE group.
    var id: UInt8
    /// The transports on which it is agreed, a bit for each.
    private var transports: UInt64 = 0
    var arrivals = TransportArrivals()
    /// The time of the next feedback; `nil` until the leg has a media path.
    var next: MonotonicTime?
    /// The source heard last. Feedback has to name one source, but concerns all.
    var source = SSRC(0)

    init(id: UInt8) { self.id = id }

    /// Whether the packets of a transport are numbered.
    func counts(_ transport: TransportNumber) -> Bool { transports & (1 << UInt64(transport.rawValue)) != 0 }

    fileprivate mutating func noteArrival(
        _ header: RTPHeader, in packet: Span<UInt8>, over transport: TransportNumber, isDue: inout Bool,
        at now: MonotonicTime
    ) -> UInt16 {
        guard counts(transport) else { return 0 }
        guard let range = header.extensionElement(id, in: packet), range.count == 2 else { return 0 }
        arrivals.packetReceived(
            SequenceNumber(UInt16(packet[range.lowerBound]) << 8 | UInt16(packet[range.lowerBound + 1])), at: now)
        isDue = arrivals.isDue
        source = header.ssrc
        return UInt16(truncatingIfNeeded: range.lowerBound)
    }
}

/// Feedback for congestion control at the sender (draft-holmer-rmcat-transport-wide-cc-extensions-01).
///
/// Each leg has transports of its own, so the sequence numbers of its peer end here. Where a peer numbers packets on
/// several transports, they are one series, as in libwebrtc. The gateway tells the sender by REMB what the path to the
/// receivers carries (`Bridge+Limits`); the sender obeys the lower of the two.
extension Bridge {
    /// Starts feedback to the peer of a leg, which can be sent to from now on.
    mutating func startTransportFeedback(to side: LegIndex, at now: MonotonicTime) {
        guard !isEnded, !self[side].readyTransports.isEmpty, self[side].transportFeedback?.next == nil else { return }
        let next = now + configuration.transportFeedbackInterval
        self[side].transportFeedback?.next = next
    }

    /// Sends all pending feedback to the peer.
    mutating func sendTransportFeedback(to side: LegIndex, at now: MonotonicTime) {
        guard let state = self[side].transportFeedback,
            let sender = self[side].lines.first(where: { $0.carriesMedia && state.counts($0.transport) })?.primary.ssrc
        else { return }
        let media = state.source
        let next = now + configuration.transportFeedbackInterval
        self[side].transportFeedback?.next = next
        while let feedback = self[side].transportFeedback?.arrivals.nextFeedback(sender: sender, media: media) {
            sendFeedback(.transportFeedback(feedback), as: sender, to: side)
        }
    }
}

extension TransportFeedbackState {
    /// The state after another offer/answer exchange; it is kept while the id of the extension stays the same.
    static func after(_ leg: NegotiatedLeg, keeping known: TransportFeedbackState?) -> TransportFeedbackState? {
        let agreed = leg.media.filter { media in
            media.codecs.contains { $0.feedback.contains(Codec.transportFeedback) } && media.transportNumberID != nil
        }
        guard let id = agreed.first?.transportNumberID else { return nil }
        var state = known?.id == id ? known : TransportFeedbackState(id: id)
        state?.transports = agreed.reduce(0) { $0 | (1 << UInt64($1.transport.rawValue)) }
        return state
    }
}

extension NegotiatedMedia {
    fileprivate var transportNumberID: UInt8? {
        extensions.first { $0.uri == HeaderExtension.transportSequenceNumber && $0.direction.receives }?.id
    }
}

extension BridgeLeg {
    /// Takes note of the packet's transport-wide sequence number; returns its position in the packet, 0 if it has none.
    mutating func noteArrival(
        _ header: RTPHeader, in packet: Span<UInt8>, over transport: TransportNumber, isFeedbackDue: inout Bool,
        at now: MonotonicTime
    ) -> UInt16 {
        transportFeedback?.noteArrival(header, in: packet, over: transport, isDue: &isFeedbackDue, at: now) ?? 0
    }
}
