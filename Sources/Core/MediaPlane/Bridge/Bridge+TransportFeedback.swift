import Primitives
import RTP
import SDP

/// What a leg whose peer numbers its packets per transport is to be told about them.
struct TransportFeedbackState: Sendable {
    /// The id of the header extension, one for all m-lines of a BUNDLE group.
    var id: UInt8
    /// The transports on which it is agreed, a bit for each.
    private var transports: UInt64 = 0
    var arrivals = TransportArrivals()
    /// When the next feedback is sent; `nil` until the leg has a media path.
    var next: MonotonicTime?
    /// The source heard last: feedback names one, and is about all.
    var source = SSRC(0)

    init(id: UInt8) { self.id = id }

    /// Whether the packets of a transport have a number.
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
/// Each leg has transports of its own: what its peer counts ends here. Where a peer counts on several of them, it is one
/// series, as libwebrtc counts. What the way to the receivers carries, the sender is told by REMB (`Bridge+Limits`): it
/// heeds the lower of the two.
extension Bridge {
    /// The leg can be sent to: its peer is told from now on.
    mutating func startTransportFeedback(to side: LegIndex, at now: MonotonicTime) {
        guard !isEnded, !self[side].readyTransports.isEmpty, self[side].transportFeedback?.next == nil else { return }
        let next = now + configuration.transportFeedbackInterval
        self[side].transportFeedback?.next = next
    }

    /// Tells the peer all that it was not told yet.
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
    /// Keeps the state over another offer and answer, while the extension stays what it was.
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
    /// Takes the packet's transport-wide number in; returns where it lies, 0 without one.
    mutating func noteArrival(
        _ header: RTPHeader, in packet: Span<UInt8>, over transport: TransportNumber, isFeedbackDue: inout Bool,
        at now: MonotonicTime
    ) -> UInt16 {
        transportFeedback?.noteArrival(header, in: packet, over: transport, isDue: &isFeedbackDue, at: now) ?? 0
    }
}
