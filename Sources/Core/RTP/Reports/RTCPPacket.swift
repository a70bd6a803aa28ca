package import Primitives

/// One packet of an RTCP compound packet.
package enum RTCPPacket: Hashable, Sendable {
    /// SR (RFC 3550 §6.4.1).
    case senderReport(SenderReport)
    /// RR (RFC 3550 §6.4.2).
    case receiverReport(ReceiverReport)
    /// SDES (RFC 3550 §6.5).
    case sourceDescription(SourceDescription)
    /// BYE (RFC 3550 §6.6).
    case goodbye(Goodbye)
    /// Generic NACK (RFC 4585 §6.2.1).
    case genericNACK(GenericNACK)
    /// PLI (RFC 4585 §6.3.1).
    case pictureLossIndication(PictureLossIndication)
    /// FIR (RFC 5104 §4.3.1).
    case fullIntraRequest(FullIntraRequest)
    /// REMB (draft-alvestrand-rmcat-remb-03 §2.2).
    case estimatedMaximumBitrate(EstimatedMaximumBitrate)
    /// Transport-wide feedback (draft-holmer-rmcat-transport-wide-cc-extensions-01 §3.1).
    case transportFeedback(TransportFeedback)
    /// APP, XR and all other packets that the gateway does not use; their body is not kept.
    case other(type: UInt8, format: UInt8)
}

/// RTCP packet types (RFC 3550 §12.1, RFC 4585 §6.1).
enum RTCPType {
    static let senderReport: UInt8 = 200
    static let receiverReport: UInt8 = 201
    static let sourceDescription: UInt8 = 202
    static let goodbye: UInt8 = 203
    static let transportFeedback: UInt8 = 205
    static let payloadFeedback: UInt8 = 206
}

/// Feedback message types (RFC 4585 §6.2, §6.3; RFC 5104 §4.3).
enum FeedbackFormat {
    static let genericNACK: UInt8 = 1
    static let pictureLossIndication: UInt8 = 1
    static let fullIntraRequest: UInt8 = 4
    static let application: UInt8 = 15
    /// Among transport feedback (draft-holmer-rmcat-transport-wide-cc-extensions-01 §3.1).
    static let transportWide: UInt8 = 15
}

extension RTCPPacket {
    /// Parses the body of a packet, which is what follows the four-byte header, without padding.
    init(type: UInt8, format: UInt8, body: Span<UInt8>) throws(RTPError) {
        var reader = ByteReader(body)
        let parsed: Self? =
            switch (type, format) {
            case (RTCPType.senderReport, _):
                SenderReport(reading: &reader, blocks: Int(format)).map(Self.senderReport)
            case (RTCPType.receiverReport, _):
                ReceiverReport(reading: &reader, blocks: Int(format)).map(Self.receiverReport)
            case (RTCPType.sourceDescription, _):
                SourceDescription(reading: &reader, chunks: Int(format)).map(Self.sourceDescription)
            case (RTCPType.goodbye, _):
                Goodbye(reading: &reader, sources: Int(format)).map(Self.goodbye)
            case (RTCPType.transportFeedback, FeedbackFormat.genericNACK):
                GenericNACK(reading: &reader).map(Self.genericNACK)
            case (RTCPType.transportFeedback, FeedbackFormat.transportWide):
                TransportFeedback(reading: &reader).map(Self.transportFeedback)
            case (RTCPType.payloadFeedback, FeedbackFormat.pictureLossIndication):
                PictureLossIndication(reading: &reader).map(Self.pictureLossIndication)
            case (RTCPType.payloadFeedback, FeedbackFormat.fullIntraRequest):
                FullIntraRequest(reading: &reader).map(Self.fullIntraRequest)
            case (RTCPType.payloadFeedback, FeedbackFormat.application) where EstimatedMaximumBitrate.isNamed(in: body):
                EstimatedMaximumBitrate(reading: &reader).map(Self.estimatedMaximumBitrate)
            case (_, _):
                .other(type: type, format: format)
            }
        guard let parsed else { throw .malformedBody(type) }
        self = parsed
    }

    /// Appends the packet, header included. Nothing is written for `.other`, whose body was not kept.
    package func write(to writer: inout ByteWriter) {
        switch self {
        case .senderReport(let report): report.write(to: &writer)
        case .receiverReport(let report): report.write(to: &writer)
        case .sourceDescription(let description): description.write(to: &writer)
        case .goodbye(let goodbye): goodbye.write(to: &writer)
        case .genericNACK(let nack): nack.write(to: &writer)
        case .pictureLossIndication(let indication): indication.write(to: &writer)
        case .fullIntraRequest(let request): request.write(to: &writer)
        case .estimatedMaximumBitrate(let estimate): estimate.write(to: &writer)
        case .transportFeedback(let feedback): feedback.write(to: &writer)
        case .other: break
        }
    }
}

extension ByteWriter {
    /// Writes an RTCP packet: the common header, then the output of `body`, which must be whole 32-bit words.
    mutating func writeRTCP(type: UInt8, format: Int, _ body: (inout ByteWriter) -> Void) {
        let start = count
        write(0x80 | UInt8(truncatingIfNeeded: format & 0x1F))
        write(type)
        write(UInt16(0))
        body(&self)
        precondition((count - start).isMultiple(of: 4), "RTCP packets are whole words (RFC 3550 §6.4.1)")
        overwrite(UInt16(truncatingIfNeeded: (count - start) / 4 - 1), at: start + 2)
    }
}
