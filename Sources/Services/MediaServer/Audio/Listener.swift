internal import Audio
internal import MediaPlane
internal import Primitives
internal import RTP
internal import SDP

/// One leg whose audio the gateway decodes.
final class Listener {
    private let formats: [AudioFormat]
    private let events: [Codec]
    let isMixed: Bool
    /// Of the codec that the peer uses; made with its first packet.
    private(set) var receiver: (any AudioReceiver)?
    private var payloadType: PayloadType?

    /// Goes on with `former` if the codecs are the same; `nil` if the leg is not to be listened to.
    init?(keeping former: Listener?, for state: AudioState) {
        guard state.isDecoded else { return nil }
        formats = state.codecs.compactMap(AudioFormat.init)
        events = state.codecs.filter { $0.isNamed("telephone-event") }
        isMixed = state.source == .mix
        if let former, former.formats == formats { (receiver, payloadType) = (former.receiver, former.payloadType) }
    }

    func receive(_ arrival: Arrival, _ payload: Span<UInt8>, at now: MonotonicTime) {
        let header = arrival.header
        if payloadType != header.payloadType {
            guard let format = formats.first(where: { $0.payloadType == header.payloadType }) else { return }
            payloadType = header.payloadType
            receiver = format.makeReceiver()
        } else if arrival.isRestart {
            receiver?.restart()
        }
        receiver?.insert(payload, number: header.sequenceNumber, timestamp: header.timestamp, at: now)
    }
}
