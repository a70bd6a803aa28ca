internal import Audio
internal import Mpg123
internal import Opus
internal import Primitives

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
        } else if WaveFile.isRIFF(bytes.span) {
            let file = try WaveFile(parsing: bytes.span)
            guard file.samples.count / file.channels <= longest * file.rate else {
                throw .tooLong(minutes: longest / 60)
            }
            self = .wave(file)
        } else if MP3File.isMP3(bytes.span) {
            // The last: MP3 frames may be anywhere in a file.
            self = .mp3(try MP3File(parsing: bytes, upTo: longest))
        } else {
            throw .unknownFormat
        }
    }

    /// The bytes of the samples of the sound. While it is decoded it takes the file and a piece in addition, and of a
    /// WAV file its samples.
    var decodedBytes: Int {
        let samples =
            switch self {
            case .opus(let file): SoundAssembly.sampleCount(of: file.sampleCount, file.channels, rate: 48_000)
            case .wave(let file):
                SoundAssembly.sampleCount(of: file.samples.count / file.channels, file.channels, rate: file.rate)
            case .mp3(let file): SoundAssembly.sampleCount(of: file.sampleCount, file.channels, rate: file.rate)
            }
        return samples * MemoryLayout<Int16>.size
    }

    func decoded() throws(SoundFileError) -> Sound {
        switch self {
        case .opus(let file): try Self.decoded(file)
        case .wave(let file): Self.decoded(file)
        case .mp3(let file): try Self.decoded(file)
        }
    }

    // MARK: Ogg Opus

    /// The longest Opus packet, 120 ms, in samples.
    private static let longestPacket = 5_760

    private static func decoded(_ file: OggOpusFile) throws(SoundFileError) -> Sound {
        var assembly = SoundAssembly(
            after: file.preSkip, file.sampleCount, channels: file.channels, rate: 48_000, pieces: longestPacket)
        var packet = [Int16](repeating: 0, count: longestPacket * file.channels)
        do throws(OpusError) {
            var decoder = try OpusDecoder(channels: file.channels, gain: file.gain)
            for index in 0..<file.packetCount where !assembly.isComplete {
                let made = try decode(file.packet(index), with: &decoder, into: &packet)
                assembly.take(packet, 0..<(made * file.channels))
            }
        } catch {
            throw SoundFileError(error)
        }
        return assembly.sound
    }

    private static func decode(
        _ packet: Span<UInt8>, with decoder: inout OpusDecoder, into samples: inout [Int16]
    ) throws(OpusError) -> Int {
        var span = samples.mutableSpan
        return try decoder.decode(packet, into: &span)
    }

    // MARK: MP3

    private static func decoded(_ file: MP3File) throws(SoundFileError) -> Sound {
        var assembly = SoundAssembly(
            after: file.preSkip, file.sampleCount, channels: file.channels, rate: file.rate,
            pieces: MP3Decoder.longestFrame)
        var frame = [Int16](repeating: 0, count: MP3Decoder.longestFrame * file.channels)
        do throws(MP3Error) {
            var decoder = try MP3Decoder(rate: file.rate, channels: file.channels)
            for index in 0..<file.frameCount where !assembly.isComplete {
                let made = try decode(file.frame(index), with: &decoder, into: &frame)
                assembly.take(frame, 0..<made)
            }
        } catch {
            throw SoundFileError(error)
        }
        return assembly.sound
    }

    private static func decode(
        _ frame: Span<UInt8>, with decoder: inout MP3Decoder, into samples: inout [Int16]
    ) throws(MP3Error) -> Int {
        var span = samples.mutableSpan
        return try decoder.decode(frame, into: &span)
    }

    // MARK: WAV

    /// The samples of each channel that are resampled at once.
    private static let longestPiece = 4_096

    private static func decoded(_ file: WaveFile) -> Sound {
        guard file.rate != 48_000 else { return Sound(file.samples, channels: file.channels) }
        let longest = longestPiece
        var assembly = SoundAssembly(
            after: 0, file.samples.count / file.channels, channels: file.channels, rate: file.rate, pieces: longest)
        for start in stride(from: 0, to: file.samples.count, by: longest * file.channels) {
            assembly.take(file.samples, start..<min(start + longest * file.channels, file.samples.count))
        }
        return assembly.sound
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
