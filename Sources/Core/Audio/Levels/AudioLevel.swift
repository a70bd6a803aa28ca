/// The level of audio in −dBov, that is in dB below the overload point of 16-bit samples (RFC 6464 §3): 0 is the
/// loudest, 127 is silence.
package struct AudioLevel: Hashable, Sendable, Comparable {
    /// dB below overload, 0…127; 127 is silence.
    package let decibelsBelow: UInt8

    /// The level in dBov, −127…0.
    package var decibels: Double { 0 - Double(decibelsBelow) }

    /// The lowest level, 127 dB below overload; also the level of digital silence.
    package static let silence = AudioLevel(decibelsBelow: 127)

    /// Makes a level; values above 127 are limited to 127.
    package init(decibelsBelow: UInt8) { self.decibelsBelow = min(decibelsBelow, 127) }

    /// Measures samples: their root mean square, all channels together. No samples are silence.
    package init(of samples: Span<Int16>) {
        var energy: Int64 = 0
        for index in samples.indices {
            let sample = Int64(samples[index])
            energy += sample * sample
        }
        self.init(meanSquare: samples.isEmpty ? 0 : Double(energy) / Double(samples.count))
    }

    /// −10·log10 of the mean square relative to full scale, by repeated multiplication: a factor of 10^0.1 is one
    /// decibel.
    private init(meanSquare: Double) {
        var (left, count) = (meanSquare / (32_768.0 * 32_768.0), 0)
        guard left > 0 else {
            self = .silence
            return
        }
        while left < 0.1, count < 120 {
            left *= 10
            count += 10
        }
        while left < 0.891_250_938, count < 127 {
            left *= 1.258_925_412
            count += 1
        }
        decibelsBelow = UInt8(min(count, 127))
    }

    /// Orders levels by loudness: the louder one is greater.
    package static func < (a: Self, b: Self) -> Bool { a.decibelsBelow > b.decibelsBelow }
}
