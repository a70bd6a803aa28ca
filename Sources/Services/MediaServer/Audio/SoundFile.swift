internal import Audio
internal import Mpg123
internal import Opus
internal import Primitives
internal import SpeexDSP

/// A file of one of the formats that are played, before it is made a sound.
enum SoundFile {
    case opus(OggOpusFile)
    case wave(WaveFile)
    case mp3(MP3File)

    /// Reads a file of the format that its first bytes tell, whatever its name and its media type are.
    ///
    /// - Parameter longest: The longest sound that is accepted, in seconds.
    /// - Throws: `unknownFormat`, or what is wrong with a file of the format.
    init(parsing bytes: [UInt8], longest: Int) throws(SoundFileError) {
        if OggOpusFile.isOgg(bytes.span) {
            self = .opus(try OggOpusFile(parsing: bytes.span, upTo: longest * 48_000))
        } else if MP3File.isMP3(bytes.span) {
            self = .mp3(try MP3File(parsing: bytes, upTo: longest))
        } else if WaveFile.isRIFF(bytes.span) {
            let file = try WaveFile(parsing: bytes.span)
            guard file.samples.count / file.channels <= longest * file.rate else {
                throw .tooLong(minutes: longest / 60)
            }
            self = .wave(file)
        } else {
            throw .unknownFormat
        }
    }

    /// The bytes of the samples of the sound.
    var decodedBytes: Int {
        let samples =
            switch self {
            case .opus(let file): file.sampleCount * file.channels
            case .wave(let file): file.samples.count * 48_000 / file.rate
            case .mp3(let file): file.sampleCount * file.channels * 48_000 / file.rate
            }
        return samples * MemoryLayout<Int16>.size
    }

    func decoded() throws(SoundFileError) -> Sound {
        switch self {
        case .opus(let file): try Self.decoded(file)
        case .wave(let file): Self.sound(file.samples, channels: file.channels, rate: file.rate)
        case .mp3(let file): Self.sound(try Self.decoded(file), channels: file.channels, rate: file.rate)
        }
    }

    /// The samples of a file that are played, out of all that are decoded.
    private struct Played {
        private(set) var samples: [Int16] = []
        private var skipped: Int
        private let count: Int

        /// - Parameters:
        ///   - skipped: The samples of all channels that are decoded first and not played.
        ///   - count: The samples of all channels that are played.
        init(after skipped: Int, _ count: Int) {
            self.skipped = skipped
            self.count = count
            samples.reserveCapacity(count)
        }

        var isComplete: Bool { samples.count >= count }

        /// Takes what is played of the first `made` samples of a piece.
        mutating func take(_ piece: [Int16], _ made: Int) {
            let start = min(skipped, made)
            skipped -= start
            samples.append(contentsOf: piece[start..<min(made, start + count - samples.count)])
        }
    }

    // MARK: Ogg Opus

    /// The longest Opus packet, 120 ms, in samples.
    private static let longestPacket = 5_760

    private static func decoded(_ file: OggOpusFile) throws(SoundFileError) -> Sound {
        var played = Played(after: file.preSkip * file.channels, file.sampleCount * file.channels)
        var packet = [Int16](repeating: 0, count: longestPacket * file.channels)
        do throws(OpusError) {
            var decoder = try OpusDecoder(channels: file.channels, gain: file.gain)
            for index in 0..<file.packetCount where !played.isComplete {
                let made = try decode(file.packet(index), with: &decoder, into: &packet)
                played.take(packet, made * file.channels)
            }
        } catch {
            throw SoundFileError(error)
        }
        return Sound(played.samples, channels: file.channels)
    }

    private static func decode(
        _ packet: Span<UInt8>, with decoder: inout OpusDecoder, into samples: inout [Int16]
    ) throws(OpusError) -> Int {
        var span = samples.mutableSpan
        return try decoder.decode(packet, into: &span)
    }

    // MARK: MP3

    /// The samples of all channels that are played, at the rate of the file.
    private static func decoded(_ file: MP3File) throws(SoundFileError) -> [Int16] {
        var played = Played(after: file.preSkip * file.channels, file.sampleCount * file.channels)
        var frame = [Int16](repeating: 0, count: MP3Decoder.longestFrame * file.channels)
        do throws(MP3Error) {
            var decoder = try MP3Decoder(rate: file.rate, channels: file.channels)
            for index in 0..<file.frameCount where !played.isComplete {
                let made = try decode(file.frame(index), with: &decoder, into: &frame)
                played.take(frame, made)
            }
        } catch {
            throw SoundFileError(error)
        }
        return played.samples
    }

    private static func decode(
        _ frame: Span<UInt8>, with decoder: inout MP3Decoder, into samples: inout [Int16]
    ) throws(MP3Error) -> Int {
        var span = samples.mutableSpan
        return try decoder.decode(frame, into: &span)
    }

    // MARK: Sample rates

    /// A sound of 48 kHz.
    private static func sound(_ samples: [Int16], channels: Int, rate: Int) -> Sound {
        let original = Sound(samples, channels: channels)
        guard rate != 48_000 else { return original }
        guard channels == 2 else { return Sound(resampled(samples, rate)) }
        let (left, right) = (resampled(original.channel(0), rate), resampled(original.channel(1), rate))
        var both: [Int16] = []
        both.reserveCapacity(2 * left.count)
        for (left, right) in zip(left, right) {
            both.append(left)
            both.append(right)
        }
        return Sound(both, channels: 2)
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

    fileprivate init(_ error: MP3Error) {
        self =
            switch error {
            case .notFrame: .malformedFrame
            case .failed(let code): .frameDecoderFailed(code: code)
            }
    }
}
