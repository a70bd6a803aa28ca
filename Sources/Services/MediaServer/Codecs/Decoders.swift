internal import Audio
internal import Opus
internal import Spandsp
internal import SpeexDSP

/// Decodes Opus: packets of one channel or two, to as many channels as the peer announces to send (RFC 7587 §6.1).
struct OpusAudioDecoder: AudioDecoder, ~Copyable {
    let channels: Int
    private var decoder: OpusDecoder

    init(channels: Int) throws(OpusError) {
        self.channels = channels
        decoder = try OpusDecoder(channels: channels)
    }

    func sampleCount(of payload: Span<UInt8>) -> Int? { OpusDecoder.sampleCount(of: payload) }
    func carriesRedundancy(_ payload: Span<UInt8>) -> Bool { OpusPacket.carriesRedundancy(payload) }

    mutating func decode(_ payload: Span<UInt8>, into samples: inout MutableSpan<Int16>) throws(AudioCodecError) -> Int
    {
        do throws(OpusError) { return try decoder.decode(payload, into: &samples) } catch {
            throw AudioCodecError(error)
        }
    }

    mutating func recover(from payload: Span<UInt8>, into samples: inout MutableSpan<Int16>) throws(AudioCodecError) {
        do throws(OpusError) { try decoder.recover(from: payload, into: &samples) } catch {
            throw AudioCodecError(error)
        }
    }

    mutating func conceal(into samples: inout MutableSpan<Int16>) {
        do throws(OpusError) {
            try decoder.conceal(into: &samples)
        } catch {
            for index in samples.indices { samples[index] = 0 }
        }
    }

    mutating func reset() { decoder.reset() }
}

/// A codec of 64 kbit/s that describes the waveform, so that each byte of a payload stands for 125 µs.
protocol WaveformCodec: ~Copyable {
    /// Samples that a byte decodes to: 1 at 8 kHz, 2 at 16 kHz.
    static var samplesPerByte: Int { get }

    /// Decodes a payload to the start of `samples`, which has room for it. Returns the number of samples.
    mutating func decode(_ payload: Span<UInt8>, into samples: inout [Int16]) -> Int

    /// The next DTMF digit detected in what was decoded; `nil` if there is no more.
    mutating func nextDigit() -> Character?

    /// Forgets the stream.
    mutating func reset()
}

/// Decodes a waveform codec, and converts it to 48 kHz. Losses are concealed at the rate of the codec; at 16 kHz pitch
/// periods have twice as many samples.
struct WaveformDecoder<Codec: WaveformCodec & ~Copyable>: AudioDecoder, ~Copyable {
    /// The longest payload in bytes, 120 ms.
    private static var longest: Int { 960 }
    /// Samples at 48 kHz that a byte stands for.
    private static var outputPerByte: Int { 6 }
    /// Samples at 48 kHz that a sample of the codec stands for.
    private static var ratio: Int { outputPerByte / Codec.samplesPerByte }

    private var codec: Codec
    private var concealer = LossConcealer()
    private var resampler = Resampler(from: 8_000 * Codec.samplesPerByte, to: 48_000)
    private var decoded = [Int16](repeating: 0, count: longest * Codec.samplesPerByte)
    private var noise = NoiseGenerator()

    init(_ codec: consuming Codec) { self.codec = codec }

    func sampleCount(of payload: Span<UInt8>) -> Int? {
        (1...Self.longest).contains(payload.count) ? payload.count * Self.outputPerByte : nil
    }
    func carriesRedundancy(_ payload: Span<UInt8>) -> Bool { false }
    mutating func recover(from payload: Span<UInt8>, into samples: inout MutableSpan<Int16>) throws(AudioCodecError) {
        throw .malformed
    }

    mutating func decode(_ payload: Span<UInt8>, into samples: inout MutableSpan<Int16>) throws(AudioCodecError) -> Int
    {
        guard (1...Self.longest).contains(payload.count) else { throw .malformed }
        guard samples.count >= payload.count * Self.outputPerByte else { throw .noRoom }
        let count = codec.decode(payload, into: &decoded)
        hear(&decoded, count, with: &concealer)
        return resample(decoded, count, with: &resampler, into: &samples)
    }

    mutating func conceal(into samples: inout MutableSpan<Int16>) {
        let count = samples.count / Self.ratio
        concealLoss(&decoded, count, with: &concealer)
        fill(&samples, from: decoded, count, with: &resampler)
    }

    mutating func nextDigit() -> Character? { codec.nextDigit() }

    mutating func makeNoise(_ sound: ComfortNoise, into samples: inout MutableSpan<Int16>) {
        let count = (samples.count + Self.ratio - 1) / Self.ratio
        addComfortNoise(&decoded, count, sound, with: &noise)
        fill(&samples, from: decoded, count, with: &resampler)
    }

    mutating func reset() {
        codec.reset()
        concealer.reset()
        resampler.reset()
    }
}

/// G.711. It may detect DTMF digits. The tone of a detected digit is removed, because the digit is passed on by itself.
struct G711Waveform: WaveformCodec, ~Copyable {
    static var samplesPerByte: Int { 1 }

    private let law: G711
    private let detectsDTMF: Bool
    private var detector = DTMFDetector()

    init(_ law: G711, detectsDTMF: Bool = false) {
        self.law = law
        self.detectsDTMF = detectsDTMF
    }

    mutating func decode(_ payload: Span<UInt8>, into samples: inout [Int16]) -> Int {
        for index in payload.indices { samples[index] = law.decode(payload[index]) }
        if detectsDTMF { listen(&samples, payload.count, with: &detector) }
        return payload.count
    }

    mutating func nextDigit() -> Character? { detectsDTMF ? detector.next() : nil }

    mutating func reset() { detector.reset() }
}

/// G.722.
struct G722Waveform: WaveformCodec, ~Copyable {
    static var samplesPerByte: Int { 2 }

    private var decoder = G722Decoder()

    mutating func decode(_ payload: Span<UInt8>, into samples: inout [Int16]) -> Int {
        var span = samples.mutableSpan
        return decoder.decode(payload, into: &span)
    }

    mutating func nextDigit() -> Character? { nil }

    mutating func reset() { decoder.reset() }
}

extension AudioCodecError {
    init(_ error: OpusError) {
        self =
            switch error {
            case .malformed: .malformed
            case .noRoom: .noRoom
            case .failed(let code): .failed(code)
            }
    }
}
