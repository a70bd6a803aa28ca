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

/// Decodes G.711, and converts it from 8 to 48 kHz. It may detect DTMF digits. The tone of a detected digit is removed,
/// because the digit is passed on by itself.
struct G711AudioDecoder: AudioDecoder, ~Copyable {
    /// The longest payload in bytes, 120 ms.
    private static let longest = 960

    private let law: G711
    private var concealer = LossConcealer()
    private var resampler = Resampler(from: 8_000, to: 48_000)
    private var narrow = [Int16](repeating: 0, count: longest)
    private var noise = NoiseGenerator()
    private let detectsDTMF: Bool
    private var detector = DTMFDetector()

    init(_ law: G711, detectsDTMF: Bool = false) {
        self.law = law
        self.detectsDTMF = detectsDTMF
    }

    func sampleCount(of payload: Span<UInt8>) -> Int? {
        (1...Self.longest).contains(payload.count) ? payload.count * 6 : nil
    }
    func carriesRedundancy(_ payload: Span<UInt8>) -> Bool { false }
    mutating func recover(from payload: Span<UInt8>, into samples: inout MutableSpan<Int16>) throws(AudioCodecError) {
        throw .malformed
    }

    mutating func decode(_ payload: Span<UInt8>, into samples: inout MutableSpan<Int16>) throws(AudioCodecError) -> Int
    {
        guard (1...Self.longest).contains(payload.count) else { throw .malformed }
        guard samples.count >= payload.count * 6 else { throw .noRoom }
        for index in payload.indices { narrow[index] = law.decode(payload[index]) }
        if detectsDTMF { listen(&narrow, payload.count, with: &detector) }
        hear(&narrow, payload.count, with: &concealer)
        return resample(narrow, payload.count, with: &resampler, into: &samples)
    }

    mutating func conceal(into samples: inout MutableSpan<Int16>) {
        concealLoss(&narrow, samples.count / 6, with: &concealer)
        fill(&samples, from: narrow, samples.count / 6, with: &resampler)
    }

    mutating func nextDigit() -> Character? { detectsDTMF ? detector.next() : nil }

    mutating func makeNoise(_ sound: ComfortNoise, into samples: inout MutableSpan<Int16>) {
        hiss(&narrow, (samples.count + 5) / 6, sound, with: &noise)
        fill(&samples, from: narrow, (samples.count + 5) / 6, with: &resampler)
    }

    mutating func reset() {
        concealer.reset()
        resampler.reset()
        detector.reset()
    }
}

/// Decodes G.722, and converts it from 16 to 48 kHz. Losses are concealed at 16 kHz, with pitch periods of twice as
/// many samples.
struct G722AudioDecoder: AudioDecoder, ~Copyable {
    /// The longest payload in bytes, 120 ms.
    private static let longest = 960

    private var decoder = G722Decoder()
    private var concealer = LossConcealer()
    private var resampler = Resampler(from: 16_000, to: 48_000)
    private var wide = [Int16](repeating: 0, count: 2 * longest)
    private var noise = NoiseGenerator()

    func sampleCount(of payload: Span<UInt8>) -> Int? {
        (1...Self.longest).contains(payload.count) ? payload.count * 6 : nil
    }
    func carriesRedundancy(_ payload: Span<UInt8>) -> Bool { false }
    mutating func recover(from payload: Span<UInt8>, into samples: inout MutableSpan<Int16>) throws(AudioCodecError) {
        throw .malformed
    }

    mutating func decode(_ payload: Span<UInt8>, into samples: inout MutableSpan<Int16>) throws(AudioCodecError) -> Int
    {
        guard (1...Self.longest).contains(payload.count) else { throw .malformed }
        guard samples.count >= payload.count * 6 else { throw .noRoom }
        let count = Self.decode(payload, with: &decoder, into: &wide)
        hear(&wide, count, with: &concealer)
        return resample(wide, count, with: &resampler, into: &samples)
    }

    mutating func conceal(into samples: inout MutableSpan<Int16>) {
        concealLoss(&wide, samples.count / 3, with: &concealer)
        fill(&samples, from: wide, samples.count / 3, with: &resampler)
    }

    mutating func makeNoise(_ sound: ComfortNoise, into samples: inout MutableSpan<Int16>) {
        hiss(&wide, (samples.count + 2) / 3, sound, with: &noise)
        fill(&samples, from: wide, (samples.count + 2) / 3, with: &resampler)
    }

    mutating func reset() {
        decoder.reset()
        concealer.reset()
        resampler.reset()
    }

    private static func decode(_ payload: Span<UInt8>, with decoder: inout G722Decoder, into buffer: inout [Int16])
        -> Int
    {
        var span = buffer.mutableSpan
        return decoder.decode(payload, into: &span)
    }
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
