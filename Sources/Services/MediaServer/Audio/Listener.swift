internal import Audio
internal import MediaPlane
internal import Primitives
internal import RTP
internal import SDP

/// One leg whose audio the gateway decodes.
final class Listener {
    private let formats: [AudioFormat]
    private let events: [PayloadType]
    /// Comfort noise, by the rate that it counts in.
    private let noises: [(payloadType: PayloadType, clockRate: Int)]
    /// Keys are listened for in the audio: the peer cannot tell them otherwise.
    private let listensForKeys: Bool
    let isMixed: Bool
    /// Of the codec that the peer uses; made with its first packet.
    private(set) var receiver: (any AudioReceiver)?
    private var payloadType: PayloadType?
    /// Of the last key: all packets of an event have the timestamp of its beginning (RFC 4733 §2.5.1.2).
    private var lastKey: RTPTimestamp?

    /// Goes on with `former` if the codecs are the same; `nil` if the leg is not to be listened to.
    ///
    /// - Parameter detectsInbandKeys: whether keys may be listened for at all.
    init?(keeping former: Listener?, for state: AudioState, detectsInbandKeys: Bool) {
        guard state.isDecoded else { return nil }
        formats = state.codecs.compactMap { AudioFormat($0) }
        noises = state.codecs.filter { $0.isNamed("CN") }.map { ($0.payloadType, $0.clockRate) }
        events = state.codecs.filter { $0.isNamed("telephone-event") }.map(\.payloadType)
        listensForKeys = detectsInbandKeys && events.isEmpty
        isMixed = state.source == .mix
        if let former, former.formats == formats, former.listensForKeys == listensForKeys { (receiver, payloadType, lastKey) = (former.receiver, former.payloadType, former.lastKey) }
    }

    /// Takes a packet of the peer; returns the key that it is the first word of, whatever packets of it are lost or doubled.
    func receive(_ arrival: Arrival, _ payload: Span<UInt8>, at now: MonotonicTime) -> Character? {
        let header = arrival.header
        if events.contains(header.payloadType) { return key(payload, header.timestamp) }
        takeAudio(header, payload, isRestart: arrival.isRestart, at: now)
        return nil
    }

    private func key(_ payload: Span<UInt8>, _ timestamp: RTPTimestamp) -> Character? {
        guard let digit = TelephoneEvent(parsing: payload)?.digit, lastKey.map(timestamp.isNewer) ?? true else { return nil }
        lastKey = timestamp
        return digit
    }

    private func takeAudio(_ header: RTPHeader, _ payload: Span<UInt8>, isRestart: Bool, at now: MonotonicTime) {
        if let noise = noises.first(where: { $0.payloadType == header.payloadType }) {
            return takeNoise(header, payload, noise.clockRate, isRestart: isRestart, at: now)
        }
        if payloadType != header.payloadType {
            guard let format = formats.first(where: { $0.payloadType == header.payloadType }) else { return }
            begin(format)
        } else if isRestart {
            receiver?.restart()
        }
        receiver?.insert(payload, number: header.sequenceNumber, timestamp: header.timestamp, at: now)
    }

    /// Noise belongs to the codec that the peer uses; before there is one, to the first that counts like it.
    private func takeNoise(_ header: RTPHeader, _ payload: Span<UInt8>, _ clockRate: Int, isRestart: Bool, at now: MonotonicTime) {
        let usual = formats.first { payloadType == nil ? $0.clockRate == clockRate : $0.payloadType == payloadType }
        guard let usual, usual.clockRate == clockRate else { return }
        if payloadType == nil { begin(usual) } else if isRestart { receiver?.restart() }
        receiver?.insertNoise(payload, number: header.sequenceNumber, timestamp: header.timestamp, at: now)
    }

    private func begin(_ format: AudioFormat) {
        payloadType = format.payloadType
        receiver = format.makeReceiver(listensForKeys: listensForKeys)
    }
}
