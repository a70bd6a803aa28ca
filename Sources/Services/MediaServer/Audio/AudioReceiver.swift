internal import Audio
internal import Opus
internal import Primitives

/// Listens to one leg: packets in, 20 ms of samples out.
///
/// A class per codec behind one protocol: what a leg speaks is known only at run time, and asking it 50 times a second costs nothing.
protocol AudioReceiver: AnyObject {
    func insert(_ payload: Span<UInt8>, number: SequenceNumber, timestamp: RTPTimestamp, at now: MonotonicTime)
    /// Comfort noise that counts like the audio (RFC 3389).
    func insertNoise(_ payload: Span<UInt8>, number: SequenceNumber, timestamp: RTPTimestamp, at now: MonotonicTime)
    /// The source is another one.
    func restart()
    /// Makes the next `AudioMixer.frame` samples per channel; `false` if the peer has said nothing yet.
    func advance(at now: MonotonicTime) -> Bool
    /// A key that sounded in what has been played, once each; `nil` if there is no more.
    func nextKey() -> Character?
    /// The samples made last; of two channels by turns, left and right.
    var frame: [Int16] { get }
    /// 1 or 2, for as long as the receiver lives.
    var channels: Int { get }
    var statistics: AudioPlayout.Statistics { get }
    /// Milliseconds.
    var depth: Double { get }
    var target: Double { get }
}

final class DecodingReceiver<Decoder: AudioDecoder & ~Copyable>: AudioReceiver {
    private(set) var frame: [Int16]
    private var playout: AudioPlayout
    private var decoder: Decoder
    private let clockRate: Int

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

    func nextKey() -> Character? { decoder.nextKey() }

    var statistics: AudioPlayout.Statistics { playout.statistics }
    var depth: Double { playout.depth }
    var target: Double { playout.target }
}

extension AudioFormat {
    /// `nil` if libopus has no memory for a decoder.
    ///
    /// - Parameter listensForKeys: in G.711, where nothing else tells them.
    func makeReceiver(listensForKeys: Bool) -> (any AudioReceiver)? {
        switch kind {
        case .opus:
            do { return DecodingReceiver(try OpusAudioDecoder(channels: sentChannels), clockRate: clockRate) } catch {
                return nil
            }
        case .muLaw:
            return DecodingReceiver(G711AudioDecoder(.muLaw, listensForKeys: listensForKeys), clockRate: clockRate)
        case .aLaw:
            return DecodingReceiver(G711AudioDecoder(.aLaw, listensForKeys: listensForKeys), clockRate: clockRate)
        case .g722: return DecodingReceiver(G722AudioDecoder(), clockRate: clockRate)
        }
    }

    /// `nil` if libopus refuses what the peer asks for.
    ///
    /// - Parameter channels: of what is to be said: 1, or 2 if the peer takes both.
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
