import Primitives
import RTP
import SDP

/// What the relay needs to know about a payload type.
struct PayloadFormat: Equatable, Sendable {
    var payloadType: PayloadType
    /// The RTP clock rate in hertz.
    var clockRate: UInt32
    /// Whether it is media: not retransmissions, telephone-events, comfort noise and the like.
    var carriesMedia: Bool
    /// Whether it is `telephone-event` (RFC 4733).
    var isTelephoneEvent: Bool
    /// Whether it is `rtx` (RFC 4588).
    var isRetransmission: Bool
    /// For a retransmission: the payload type that it repeats (`apt`, RFC 4588 §8.1).
    var repairs: PayloadType?
    /// How key frames are recognised; `nil` for formats without pictures.
    var pictures: PictureFormat?

    /// Makes a format; `nil` if the clock rate is out of range.
    init?(_ codec: Codec) {
        guard let rate = UInt32(exactly: codec.clockRate), rate > 0 else { return nil }
        payloadType = codec.payloadType
        clockRate = rate
        carriesMedia = codec.carriesMedia
        isTelephoneEvent = codec.isTelephoneEvent
        isRetransmission = codec.name.lowercased() == "rtx"
        repairs = isRetransmission ? codec.repairedPayloadType : nil
        pictures = PictureFormat(encodingName: codec.name)
    }
}

/// The RTCP feedback that a peer accepts on an m-line (RFC 4585 §4.2, RFC 5104 §7.1).
struct FeedbackSupport: OptionSet, Sendable {
    let rawValue: UInt8

    static let nack = FeedbackSupport(rawValue: 1)
    static let pictureLossIndication = FeedbackSupport(rawValue: 2)
    static let fullIntraRequest = FeedbackSupport(rawValue: 4)
    static let estimatedMaximumBitrate = FeedbackSupport(rawValue: 8)

    init(rawValue: UInt8) { self.rawValue = rawValue }

    init(_ codecs: [Codec]) {
        self = []
        for feedback in codecs.flatMap(\.feedback) {
            switch feedback {
            case "nack": insert(.nack)
            case "nack pli": insert(.pictureLossIndication)
            case "ccm fir": insert(.fullIntraRequest)
            case "goog-remb": insert(.estimatedMaximumBitrate)
            default: break
            }
        }
    }
}
