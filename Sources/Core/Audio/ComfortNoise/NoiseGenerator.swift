/// Makes comfort noise: white noise, filtered by the all-pole lattice that the reflection coefficients describe (RFC
/// 3389 §3.3).
///
/// Such a lattice is stable while its coefficients are constant. A peer that changes them with every packet could make
/// the filter state grow without limit, so the state is cleared whenever the coefficients change.
package struct NoiseGenerator: Sendable {
    private var seed: UInt32 = 0x2F6E_2B1
    private var delays: InlineArray<13, Double> = .init(repeating: 0)
    /// The coefficients that `delays` belong to.
    private var colour = ComfortNoise(level: .silence)

    /// Makes a generator with an empty filter and a fixed seed.
    package init() {}

    /// Fills `samples` with noise of the level and spectrum of `noise`, continuous with the samples made before.
    package mutating func fill(_ samples: inout MutableSpan<Int16>, with noise: ComfortNoise) {
        if !noise.hasColour(of: colour) { delays = .init(repeating: 0) }
        colour = noise
        // The filter amplifies the power of its input by 1 / Π(1 − k²); uniform noise of ±a has a power of a² / 3.
        var share = 1.0
        for index in 0..<noise.order { share *= 1 - noise.reflections[index] * noise.reflections[index] }
        let amplitude = 32_768 * noise.level.amplitude * (3 * share).squareRoot()
        for index in samples.indices {
            samples[index] = Int16(sample: filtered(white() * amplitude, with: noise))
        }
    }

    private mutating func filtered(_ input: Double, with noise: ComfortNoise) -> Double {
        var sample = input
        var stage = noise.order
        while stage > 0 {
            let reflection = noise.reflections[stage - 1]
            sample -= reflection * delays[stage - 1]
            delays[stage] = delays[stage - 1] + reflection * sample
            stage -= 1
        }
        delays[0] = sample
        return sample
    }

    /// Uniform in −1…1. A linear congruential generator is sufficient for noise.
    private mutating func white() -> Double {
        seed = seed &* 1_664_525 &+ 1_013_904_223
        return Double(Int32(bitPattern: seed)) / 2_147_483_648
    }
}

extension AudioLevel {
    /// The root mean square as a fraction of full scale, 0…1; 0 for silence.
    package var amplitude: Double {
        guard self != .silence else { return 0 }
        var (result, left) = (1.0, Int(decibelsBelow))
        while left >= 20 {
            result /= 10
            left -= 20
        }
        // One decibel less.
        for _ in 0..<left { result *= 0.891_250_938 }
        return result
    }
}
