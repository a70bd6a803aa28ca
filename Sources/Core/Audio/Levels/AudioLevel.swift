/// The level of audio in dB below the loudest that samples of 16 bits can say (RFC 6464 §3): 0 is as loud as can be, 127 silence.
package struct AudioLevel: Hashable, Sendable, Comparable {
    /// 0…127.
    package let decibelsBelow: UInt8

    /// dBov, −127…0.
    package var decibels: Double { 0 - Double(decibelsBelow) }

    package static let silence = AudioLevel(decibelsBelow: 127)

    package init(decibelsBelow: UInt8) { self.decibelsBelow = min(decibelsBelow, 127) }

    /// The root mean square of the samples.
    package init(of samples: Span<Int16>) {
        var energy: Int64 = 0
        for index in samples.indices {
            let sample = Int64(samples[index])
            energy += sample * sample
        }
        self.init(meanSquare: samples.isEmpty ? 0 : Double(energy) / Double(samples.count))
    }

    /// −10·log10 of the mean square against full scale, by halving: each factor of 10^0.1 is one decibel.
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

    /// Louder is greater.
    package static func < (a: Self, b: Self) -> Bool { a.decibelsBelow > b.decibelsBelow }
}
