internal import Audio
internal import MediaPlane
internal import Primitives
internal import RTP
internal import SDP

/// Receives and decodes the audio of one leg.
final class Listener {
    private let formats: [AudioFormat]
    /// The payload types of telephone events, with the clock rates of their durations.
    private let events: [(payloadType: PayloadType, clockRate: Int)]
    /// The payload types of comfort noise, with their clock rates. A mixed leg has none, because the gateway neither
    /// offers nor accepts comfort noise in a mix. A payload type that the peer agreed on before the leg was mixed is
    /// ignored: it stays agreed until the peer answers the gateway's offer, which may be never.
    private let noises: [(payloadType: PayloadType, clockRate: Int)]
    /// DTMF digits are detected in the audio, because the peer has not negotiated telephone events.
    private let detectsDTMF: Bool
    let isMixed: Bool
    /// The receiver for the codec that the peer uses; made with its first packet.
    private(set) var receiver: (any AudioReceiver)?
    private var payloadType: PayloadType?
    private var digits = DigitReception()
    /// Whether anybody needs the samples. If not, Opus is not decoded, and there is no receiver for it.
    private var isNeeded = true

    /// Keeps the receiver of `former` if the codecs are the same; `nil` if the leg is not to be decoded.
    ///
    /// - Parameter detectsInbandDTMF: Whether DTMF digits may be detected in audio at all.
    init?(keeping former: Listener?, for state: AudioState, detectsInbandDTMF: Bool) {
        guard state.isDecoded else { return nil }
        formats = (state.codecs + state.furtherCodecs).compactMap { AudioFormat($0) }
        noises =
            state.source == .mix ? [] : state.codecs.filter { $0.isNamed("CN") }.map { ($0.payloadType, $0.clockRate) }
        events = state.codecs.filter(\.isTelephoneEvent).map { ($0.payloadType, $0.clockRate) }
        detectsDTMF = detectsInbandDTMF && events.isEmpty
        isMixed = state.source == .mix
        if let former, former.formats == formats, former.detectsDTMF == detectsDTMF {
            (receiver, payloadType, digits) = (former.receiver, former.payloadType, former.digits)
            isNeeded = former.isNeeded
        }
    }

    /// Sets whether anybody needs the samples.
    func setNeeded(_ isNeeded: Bool) {
        guard isNeeded != self.isNeeded else { return }
        self.isNeeded = isNeeded
        if !isNeeded { receiver = nil }
    }

    /// Whether the codec that the peer uses is Opus; before its first packet, whether the first one that it may use is.
    var usesOpus: Bool {
        (formats.first { $0.payloadType == payloadType } ?? formats.first)?.kind.isOpus ?? false
    }

    /// Whether packets of this payload type are Opus.
    func isOpus(_ payloadType: PayloadType) -> Bool {
        formats.first { $0.payloadType == payloadType }?.kind.isOpus ?? false
    }

    /// Takes a packet of the peer. Returns the change of a DTMF digit; `nil` if the packet is no telephone event, or
    /// changes nothing.
    func receive(_ arrival: Arrival, _ payload: Span<UInt8>, at now: MonotonicTime) -> DigitReception.Change? {
        let header = arrival.header
        if arrival.isRestart { digits.restart() }
        for event in events where event.payloadType == header.payloadType {
            guard let telephoneEvent = TelephoneEvent(parsing: payload) else { return nil }
            return digits.receive(
                telephoneEvent, isMarked: header.marker, at: header.timestamp, clockRate: event.clockRate)
        }
        takeAudio(header, payload, isRestart: arrival.isRestart, at: now)
        return nil
    }

    private func takeAudio(_ header: RTPHeader, _ payload: Span<UInt8>, isRestart: Bool, at now: MonotonicTime) {
        if let noise = noises.first(where: { $0.payloadType == header.payloadType }) {
            return takeNoise(header, payload, noise.clockRate, isRestart: isRestart, at: now)
        }
        guard isNeeded || !isOpus(header.payloadType) else {
            payloadType = header.payloadType
            return
        }
        if payloadType != header.payloadType || receiver == nil {
            guard let format = formats.first(where: { $0.payloadType == header.payloadType }) else { return }
            start(format)
        } else if isRestart {
            receiver?.restart()
        }
        receiver?.insert(payload, number: header.sequenceNumber, timestamp: header.timestamp, at: now)
    }

    /// Comfort noise belongs to the codec that the peer uses; before its first packet of audio, to the first codec with
    /// the same clock rate.
    private func takeNoise(
        _ header: RTPHeader, _ payload: Span<UInt8>, _ clockRate: Int, isRestart: Bool, at now: MonotonicTime
    ) {
        let usual = formats.first { payloadType == nil ? $0.clockRate == clockRate : $0.payloadType == payloadType }
        guard let usual, usual.clockRate == clockRate else { return }
        if payloadType == nil { start(usual) } else if isRestart { receiver?.restart() }
        receiver?.insertNoise(payload, number: header.sequenceNumber, timestamp: header.timestamp, at: now)
    }

    private func start(_ format: AudioFormat) {
        payloadType = format.payloadType
        receiver = format.makeReceiver(detectsDTMF: detectsDTMF)
    }
}
