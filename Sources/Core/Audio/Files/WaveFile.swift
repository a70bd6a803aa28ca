package import Primitives

/// The sound of a RIFF/WAVE file: PCM of 16 bits or G.711, with one to eight channels.
package struct WaveFile: Equatable, Sendable {
    /// Samples per second, 8,000…48,000.
    package let rate: Int
    /// The number of channels, 1 or 2.
    package let channels: Int
    /// The samples. Two channels are interleaved, left first; more than two are mixed to one.
    package let samples: [Int16]

    private static let rates = 8_000...48_000
    private static let maximumChannels = 8

    /// Whether a file starts as a RIFF/WAVE file does ("RIFF").
    package static func isRIFF(_ file: Span<UInt8>) -> Bool { file.count >= 4 && tag(file, 0) == "RIFF" }

    /// Reads a whole file. Chunks may come in any order, and unknown ones are ignored.
    ///
    /// - Throws: `notWave`, `shortFormatChunk`, `noFormatChunk` or `noDataChunk`; and `sampleFormat`, `waveChannels`
    ///   beyond eight, or `sampleRate` outside 8,000…48,000 Hz.
    package init(parsing bytes: Span<UInt8>) throws(SoundFileError) {
        guard bytes.count >= 12, Self.tag(bytes, 0) == "RIFF", Self.tag(bytes, 8) == "WAVE" else {
            throw .notWave
        }
        var format: (code: Int, channels: Int, rate: Int, bits: Int)?
        var data: Range<Int>?
        var offset = 12
        while offset + 8 <= bytes.count {
            let size = Self.number(bytes, offset + 4, 4)
            let start = offset + 8
            switch Self.tag(bytes, offset) {
            case "fmt ":
                guard size >= 16, start + 16 <= bytes.count else { throw .shortFormatChunk }
                // WAVE_FORMAT_EXTENSIBLE has the actual code in the first bytes of a GUID.
                let code = Self.number(bytes, start, 2)
                let isExtensible = code == 0xFFFE && size >= 26 && start + 26 <= bytes.count
                format = (
                    isExtensible ? Self.number(bytes, start + 24, 2) : code, Self.number(bytes, start + 2, 2),
                    Self.number(bytes, start + 4, 4), Self.number(bytes, start + 14, 2)
                )
            case "data":
                // A recorder that was interrupted leaves a size that is too large.
                data = start..<min(start + size, bytes.count)
            default: break
            }
            // Chunks start at even offsets.
            offset = start + size + size % 2
        }
        guard let format else { throw .noFormatChunk }
        guard let data else { throw .noDataChunk }
        guard Self.rates.contains(format.rate) else {
            throw .sampleRate(format.rate)
        }
        guard (1...Self.maximumChannels).contains(format.channels) else {
            throw .waveChannels(format.channels)
        }
        rate = format.rate
        channels = format.channels == 2 ? 2 : 1
        switch (format.code, format.bits) {
        case (1, 16):
            samples = Self.read(data.count / 2, format.channels) {
                Int16(truncatingIfNeeded: Self.number(bytes, data.lowerBound + 2 * $0, 2))
            }
        case (6, 8): samples = Self.read(data.count, format.channels) { G711.aLaw.decode(bytes[data.lowerBound + $0]) }
        case (7, 8): samples = Self.read(data.count, format.channels) { G711.muLaw.decode(bytes[data.lowerBound + $0]) }
        default:
            throw .sampleFormat(code: format.code, bits: format.bits)
        }
    }

    private static func read(_ count: Int, _ channels: Int, _ sample: (Int) -> Int16) -> [Int16] {
        if channels == 2 { return (0..<(count / 2 * 2)).map(sample) }
        return (0..<(count / channels)).map { frame in
            let sum = (0..<channels).reduce(0) { $0 + Int(sample(frame * channels + $1)) }
            return Int16(sum / channels)
        }
    }

    private static func tag(_ bytes: Span<UInt8>, _ offset: Int) -> String {
        String((0..<4).map { Character(Unicode.Scalar(bytes[offset + $0])) })
    }

    /// A little-endian number of `count` bytes.
    private static func number(_ bytes: Span<UInt8>, _ offset: Int, _ count: Int) -> Int {
        (0..<count).reduce(0) { $0 | Int(bytes[offset + $1]) << (8 * $1) }
    }
}
