internal import SpeexDSP

/// Makes a sound of 48 kHz of what is decoded at the rate of its file, piece by piece. It takes the memory of the sound
/// from the start, and no more than a piece in addition.
struct SoundAssembly {
    /// Samples of all channels at 48 kHz.
    private var samples: [Int16] = []
    private let channels: Int
    /// How many the sound may have of them.
    private let limit: Int
    /// The samples of all channels, at the rate of the file, that are still to be skipped.
    private var skipped: Int
    /// Those that are still to be played behind them.
    private var played: Int
    /// One for each channel; none where the file has 48 kHz.
    private let converters: [ChannelConverter]

    /// - Parameters:
    ///   - preSkip: The samples of each channel that are decoded first and not played.
    ///   - count: The samples of each channel that are played.
    ///   - channels: The number of channels, 1 or 2.
    ///   - rate: The samples per second of each channel, 8,000…48,000.
    ///   - longest: The most samples of each channel in a piece.
    init(after preSkip: Int, _ count: Int, channels: Int, rate: Int, pieces longest: Int) {
        self.channels = channels
        limit = Self.sampleCount(of: count, channels, rate: rate)
        skipped = preSkip * channels
        played = count * channels
        converters = rate == 48_000 ? [] : (0..<channels).map { _ in ChannelConverter(rate: rate, pieces: longest) }
        samples.reserveCapacity(limit)
    }

    /// The most samples of all channels at 48 kHz that are made of this many of each channel at another rate.
    static func sampleCount(of count: Int, _ channels: Int, rate: Int) -> Int { count * 48_000 / rate * channels }

    /// Whether all that is played was taken.
    var isComplete: Bool { played == 0 }

    /// What was made.
    var sound: Sound { Sound(samples, channels: channels) }

    /// The bytes of memory that the samples take, also while it is made.
    var bytes: Int { samples.capacity * MemoryLayout<Int16>.size }

    /// Takes what is played of a piece, which stands in this range of what was decoded.
    mutating func take(_ decoded: [Int16], _ piece: Range<Int>) {
        let start = piece.lowerBound + min(skipped, piece.count)
        skipped -= start - piece.lowerBound
        let end = min(piece.upperBound, start + played)
        played -= end - start
        guard !converters.isEmpty else { return samples.append(contentsOf: decoded[start..<end]) }
        var made = (limit - samples.count) / channels
        for (number, converter) in converters.enumerated() {
            made = min(made, converter.convert(decoded, stride(from: start + number, to: end, by: channels)))
        }
        let outputs = converters.map(\.output)
        guard outputs.count == 2 else { return samples.append(contentsOf: outputs[0][..<made]) }
        let (left, right) = (outputs[0], outputs[1])
        for index in 0..<made {
            samples.append(left[index])
            samples.append(right[index])
        }
    }
}

/// Converts the rate of one channel of a sound.
private final class ChannelConverter {
    private var resampler: Resampler
    private var input: [Int16]
    /// What was made of the last piece, and what is left of earlier ones.
    private(set) var output: [Int16]

    init(rate: Int, pieces longest: Int) {
        resampler = Resampler(from: rate, to: 48_000, quality: 8)
        input = [Int16](repeating: 0, count: longest)
        // A piece may bring out a sample or two more than its share.
        output = [Int16](repeating: 0, count: longest * 48_000 / rate + 64)
    }

    /// Converts every sample at these places.
    ///
    /// - Returns: How many samples were made, at the start of `output`.
    func convert(_ decoded: [Int16], _ places: StrideTo<Int>) -> Int {
        let count = Self.copy(decoded, places, to: &input)
        return Self.convert(input, count, with: &resampler, into: &output)
    }

    private static func copy(_ decoded: [Int16], _ places: StrideTo<Int>, to input: inout [Int16]) -> Int {
        var count = 0
        for place in places {
            input[count] = decoded[place]
            count += 1
        }
        return count
    }

    private static func convert(
        _ input: [Int16], _ count: Int, with resampler: inout Resampler, into output: inout [Int16]
    ) -> Int {
        var span = output.mutableSpan
        return resample(input, count, with: &resampler, into: &span)
    }
}
