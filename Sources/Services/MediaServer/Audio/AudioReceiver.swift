internal import Audio
internal import Opus
internal import Primitives

/// Decodes the audio of one leg: packets in, 20 ms of samples out.
///
/// There is a class per codec behind one protocol, because the codec of a leg is known only at run time, and a dynamic
/// call 50 times a second costs nothing.
protocol AudioReceiver: AnyObject {
    /// Takes a packet of audio. A payload that cannot be decoded is ignored.
    func insert(_ payload: Span<UInt8>, number: SequenceNumber, timestamp: RTPTimestamp, at now: MonotonicTime)
    /// Takes a comfort noise packet with the clock rate of the audio (RFC 3389).
    func insertNoise(_ payload: Span<UInt8>, number: SequenceNumber, timestamp: RTPTimestamp, at now: MonotonicTime)
    /// Forgets the stream, because its source has changed.
    func restart()
    /// Makes the next `AudioMixer.frame` samples per channel; `false` if the peer has sent no audio yet.
    func advance(at now: MonotonicTime) -> Bool
    /// The earliest time at which the stream can start to be heard; `nil` once it has, and before its first packet.
    func earliestStart(at now: MonotonicTime) -> MonotonicTime?
    /// The next DTMF digit detected in the audio that has been played, each press once; `nil` if there is no more.
    func nextDigit() -> Character?
    /// The samples made last. Two channels are interleaved, left first.
    var frame: [Int16] { get }
    /// 1 or 2, constant for the life of the receiver.
    var channels: Int { get }
    /// Counts of the playout since the receiver was made.
    var statistics: AudioPlayout.Statistics { get }
    /// The audio that is held back now.
    var depth: Duration { get }
    /// The audio that should be held back.
    var target: Duration { get }
}

/// Plays the packets of one leg out through the decoder of its codec.
final class DecodingReceiver<Decoder: AudioDecoder & ~Copyable>: AudioReceiver {
    private(set) var frame: [Int16]
    private var playout: AudioPlayout
    private var decoder: Decoder
    private let clockRate: Int

    /// Makes a receiver.
    ///
    /// - Parameters:
    ///   - decoder: The decoder, which the receiver owns from then on.
    ///   - clockRate: Ticks per second of the RTP timestamps, a divisor of 48,000.
    init(_ decoder: consuming Decoder, clockRate: Int) {
        frame = [Int16](repeating: 0, count: AudioMixer.frame * decoder.channels)
        playout = AudioPlayout(channels: decoder.channels)
        self.decoder = decoder
        self.clockRate = clockRate
    }

    var channels: Int { decoder.channels }

    func insert(_ payload: Span<UInt8>, number: SequenceNumber, timestamp: RTPTimestamp, at now: MonotonicTime) {
        guard let count = decoder.sampleCount(of: payload) else { return }
        playout.insert(payload, number: number, timestamp: timestamp, clockRate: clockRate, sampleCount: count, at: now)
    }

    func insertNoise(_ payload: Span<UInt8>, number: SequenceNumber, timestamp: RTPTimestamp, at now: MonotonicTime) {
        playout.insertNoise(payload, number: number, timestamp: timestamp, clockRate: clockRate, at: now)
    }

    func restart() {
        playout.restart()
        decoder.reset()
    }

    func advance(at now: MonotonicTime) -> Bool {
        var samples = frame.mutableSpan
        return playout.pull(into: &samples, using: &decoder, at: now)
    }

    func earliestStart(at now: MonotonicTime) -> MonotonicTime? {
        playout.earliestStart(of: AudioMixer.frame, at: now)
    }

    func nextDigit() -> Character? { decoder.nextDigit() }

    var statistics: AudioPlayout.Statistics { playout.statistics }
    var depth: Duration { playout.depth }
    var target: Duration { playout.target }
}

extension AudioFormat {
    /// Makes a receiver for the codec; `nil` if libopus has no memory for a decoder.
    ///
    /// - Parameter detectsDTMF: Whether DTMF digits are detected in G.711 audio, where the peer has not negotiated
    ///   telephone events.
    func makeReceiver(detectsDTMF: Bool) -> (any AudioReceiver)? {
        switch kind {
        case .opus:
            do { return DecodingReceiver(try OpusAudioDecoder(channels: sentChannels), clockRate: clockRate) } catch {
                return nil
            }
        case .muLaw:
            return DecodingReceiver(
                WaveformDecoder(G711Waveform(.muLaw, detectsDTMF: detectsDTMF)), clockRate: clockRate)
        case .aLaw:
            return DecodingReceiver(
                WaveformDecoder(G711Waveform(.aLaw, detectsDTMF: detectsDTMF)), clockRate: clockRate)
        case .g722: return DecodingReceiver(WaveformDecoder(G722Waveform()), clockRate: clockRate)
        }
    }

    /// Makes a sender for the codec; `nil` if libopus refuses what the peer asks for.
    ///
    /// - Parameter channels: The channels of the audio to be sent: 1, or 2, of which as many are encoded as the peer
    ///   accepts.
    func makeSender(channels: Int = 1) -> (any AudioSender)? {
        switch kind {
        case .opus(var configuration):
            configuration.channels = min(channels, configuration.channels)
            do { return EncodingSender(try OpusAudioEncoder(configuration, samplesPerPacket: samplesPerPacket)) } catch
            { return nil }
        case .muLaw: return EncodingSender(G711AudioEncoder(.muLaw, samplesPerPacket: samplesPerPacket))
        case .aLaw: return EncodingSender(G711AudioEncoder(.aLaw, samplesPerPacket: samplesPerPacket))
        case .g722: return EncodingSender(G722AudioEncoder(samplesPerPacket: samplesPerPacket))
        }
    }
}
