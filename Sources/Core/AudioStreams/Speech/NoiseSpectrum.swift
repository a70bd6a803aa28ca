/// The spectrum of the noise, and how much likelier it is that a step of 10 ms holds speech than noise alone.
struct NoiseSpectrum: Sendable {
    /// The bins of `Spectrum` that count: 250 to 3,500 Hz.
    static let bins = 4..<57

    /// White noise of 1 dBov has this power in each bin: full scale squared, times the power of the window.
    private static let fullScale = 32_768.0 * 32_768.0 * 48
    /// The least noise, −75 dBov.
    private static let floor = fullScale * 3.16e-8
    /// What is quieter, −60 dBov, is not heard.
    private static let audible = fullScale * 1e-6
    /// The loudest noise that a stream may start with, −42 dBov. What is louder is speech until it has lasted.
    private static let loudestStart = fullScale * 6.3e-5
    /// Steps in which the noise is learned quickly.
    private static let learning = 20
    /// How much of the last step's a priori ratio stays.
    private static let memory = 0.7
    /// How much of the noise stays, in a step without speech.
    private static let slowness = 0.9
    /// How much of the smoothed power stays, whose minimum is sought.
    private static let smoothing = 0.8
    /// The minimum of what is smoothed so is less than its mean by about this factor.
    private static let bias = 1.8
    /// The minimum is that of the last 2.4 s: 8 parts of 300 ms.
    private static let parts = 8
    private static let partSteps = 30

    private var noise = [Double](repeating: floor, count: bins.count)
    private var clean = [Double](repeating: 0, count: bins.count)
    private var smoothed = [Double](repeating: 0, count: bins.count)
    /// The least smoothed power of each part, bin by bin, and that of the part that runs.
    private var minima = [[Double]](repeating: [Double](repeating: .infinity, count: bins.count), count: parts)
    private var minimum = [Double](repeating: .infinity, count: bins.count)
    private var steps = 0
    private(set) var isAudible = false

    /// Takes the spectrum of a step. Returns the mean of the logarithms of the likelihood ratios of all bins. The noise
    /// is learned from steps up to `threshold`.
    mutating func hear(_ power: [Double], threshold: Double) -> Double {
        var (sum, total) = (0.0, 0.0)
        for bin in power.indices {
            let posterior = min(power[bin] / noise[bin], 1_000)
            let prior =
                Self.memory * min(clean[bin] / noise[bin], 1_000) + (1 - Self.memory) * max(posterior - 1, 0)
            let gain = prior / (1 + prior)
            sum += posterior * gain - Self.logarithm(1 + prior)
            clean[bin] = gain * gain * power[bin]
            total += power[bin]
        }
        let (score, mean) = (sum / Double(power.count), total / Double(power.count))
        isAudible = mean > Self.audible
        learn(power, isSpeech: score > threshold, mean: mean)
        return score
    }

    private mutating func learn(_ power: [Double], isSpeech: Bool, mean: Double) {
        steps += 1
        let isFirst = steps <= Self.learning && mean < Self.loudestStart
        let stays = isFirst ? min(Self.slowness, Double(steps - 1) / Double(steps)) : Self.slowness
        let startsPart = steps % Self.partSteps == 0
        for bin in power.indices {
            smoothed[bin] = steps == 1 ? power[bin] : Self.smoothing * smoothed[bin] + (1 - Self.smoothing) * power[bin]
            minimum[bin] = min(minimum[bin], smoothed[bin])
            var estimate = isFirst || !isSpeech ? stays * noise[bin] + (1 - stays) * power[bin] : noise[bin]
            if startsPart { estimate = max(estimate, Self.bias * least(bin)) }
            noise[bin] = max(estimate, Self.floor)
        }
        guard startsPart else { return }
        minima[steps / Self.partSteps % Self.parts] = minimum
        minimum = smoothed
    }

    /// The least smoothed power of the last parts; 0 until there are enough of them.
    private func least(_ bin: Int) -> Double {
        let least = minima.reduce(minimum[bin]) { min($0, $1[bin]) }
        return minima.allSatisfy({ $0[bin].isFinite }) ? least : 0
    }

    /// The natural logarithm of a number from 1 on, to five digits: exponent times ln 2, and the series of the inverse
    /// hyperbolic tangent for the rest.
    static func logarithm(_ value: Double) -> Double {
        let ratio = (value.significand - 1) / (value.significand + 1)
        let square = ratio * ratio
        let series = 1 + square * (1 / 3.0 + square * (1 / 5.0 + square * (1 / 7.0 + square / 9.0)))
        return Double(value.exponent) * 0.693_147_180_559_945 + 2 * ratio * series
    }
}
