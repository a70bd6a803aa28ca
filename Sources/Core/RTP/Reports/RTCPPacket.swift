package import Primitives

/// One packet out of an RTCP compound.
package enum RTCPPacket: Hashable, Sendable {
    case senderReport(SenderReport)
    case receiverReport(ReceiverReport)
    case sourceDescription(SourceDescription)
    case goodbye(Goodbye)
    case genericNACK(GenericNACK)
    case pictureLossIndication(PictureLossIndication)
    case fullIntraRequest(FullIntraRequest)
    case estimatedMaximumBitrate(EstimatedMaximumBitrate)
    case transportFeedback(TransportFeedback)
    /// APP, XR and whatever else the gateway has no use for.
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
    /// Parses what follows the four-byte header of a packet, padding cut off.
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

    /// Appends the packet, header included. `.other` has kept no body and writes nothing.
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
    /// Writes an RTCP packet: the common header, then what `body` writes, which must fill whole 32-bit words.
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
