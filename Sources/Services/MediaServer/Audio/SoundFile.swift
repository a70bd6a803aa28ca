internal import Audio
internal import Opus
internal import Primitives
internal import SpeexDSP

/// A file of one of the formats that are played, before it is made a sound.
enum SoundFile {
    case opus(OggOpusFile)
    case wave(WaveFile)

    /// - Parameter longest: The longest sound that is accepted, in seconds.
    init(parsing bytes: [UInt8], longest: Int) throws(SoundFileError) {
        if OggOpusFile.isOgg(bytes.span) {
            self = .opus(try OggOpusFile(parsing: bytes.span, upTo: longest * 48_000))
            return
        }
        let file = try WaveFile(parsing: bytes.span)
        guard file.samples.count / file.channels <= longest * file.rate else {
            throw .tooLong(minutes: longest / 60)
        }
        self = .wave(file)
    }

    /// The bytes of the samples of the sound.
    var decodedBytes: Int {
        let samples =
            switch self {
            case .opus(let file): file.sampleCount * file.channels
            case .wave(let file): file.samples.count * 48_000 / file.rate
            }
        return samples * MemoryLayout<Int16>.size
    }

    func decoded() throws(SoundFileError) -> Sound {
        switch self {
        case .opus(let file): try Self.decoded(file)
        case .wave(let file):
            file.rate == 48_000 ? Sound(file.samples, channels: file.channels) : Self.resampled(file)
        }
    }

    private static func decoded(_ file: OggOpusFile) throws(SoundFileError) -> Sound {
        var samples: [Int16] = []
        let count = file.sampleCount * file.channels
        samples.reserveCapacity(count)
        var skipped = file.preSkip * file.channels
        var packet = [Int16](repeating: 0, count: longestPacket * file.channels)
        do throws(OpusError) {
            var decoder = try OpusDecoder(channels: file.channels, gain: file.gain)
            for index in 0..<file.packetCount where samples.count < count {
                let made = try decode(file.packet(index), with: &decoder, into: &packet) * file.channels
                let start = min(skipped, made)
                skipped -= start
                samples.append(contentsOf: packet[start..<min(made, start + count - samples.count)])
            }
        } catch {
            throw SoundFileError(error)
        }
        return Sound(samples, channels: file.channels)
    }

    /// The longest Opus packet, 120 ms, in samples.
    private static let longestPacket = 5_760

    private static func decode(
        _ packet: Span<UInt8>, with decoder: inout OpusDecoder, into samples: inout [Int16]
    ) throws(OpusError) -> Int {
        var span = samples.mutableSpan
        return try decoder.decode(packet, into: &span)
    }

    private static func resampled(_ file: WaveFile) -> Sound {
        let original = Sound(file.samples, channels: file.channels)
        guard file.channels == 2 else { return Sound(resampled(original.samples, file.rate)) }
        let (left, right) = (resampled(original.channel(0), file.rate), resampled(original.channel(1), file.rate))
        var samples: [Int16] = []
        samples.reserveCapacity(2 * left.count)
        for (left, right) in zip(left, right) {
            samples.append(left)
            samples.append(right)
        }
        return Sound(samples, channels: 2)
    }

    private static func resampled(_ original: [Int16], _ rate: Int) -> [Int16] {
        var resampler = Resampler(from: rate, to: 48_000, quality: 8)
        var samples = [Int16](repeating: 0, count: original.count * 48_000 / rate + 1_024)
        var (taken, made) = (0, 0)
        let capacity = samples.count
        while taken < original.count, made < capacity {
            var span = samples.mutableSpan
            var room = span._mutatingExtracting(made..<capacity)
            let step = resampler.process(original.span.extracting(taken..<original.count), into: &room)
            guard step.taken > 0 || step.made > 0 else { break }
            taken += step.taken
            made += step.made
        }
        samples.removeLast(samples.count - made)
        return samples
    }
}

extension SoundFileError {
    /// A packet that the buffer has no room for is longer than 120 ms, and malformed as well (RFC 6716 §3.4).
    fileprivate init(_ error: OpusError) {
        self =
            switch error {
            case .malformed, .noRoom: .malformedPacket
            case .failed(let code): .decoderFailed(code: code)
            }
    }
}
