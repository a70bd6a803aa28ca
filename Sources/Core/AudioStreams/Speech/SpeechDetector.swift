/// Tells when a person starts and stops to speak: voice activity detection by the likelihood ratio of speech and noise
/// (Sohn, Kim and Sung, "A Statistical Model-Based Voice Activity Detection", IEEE Signal Processing Letters 6 (1),
/// 1999), with a noise spectrum that follows pauses and the minimum of the last seconds (Martin, "Noise Power Spectral
/// Density Estimation Based on Optimal Smoothing and Minimum Statistics", IEEE Transactions on Speech and Audio
/// Processing 9 (5), 2001).
///
/// It works every 10 ms on the band of 250 to 3,500 Hz, whatever the rate of the samples is. Any lasting sound that
/// is louder than what was there before counts as speech for a while, such as music or a tone; a click of a few
/// milliseconds does not.
///
/// Deviation: a priori ratios are smoothed less than Sohn's, to find a start soon; instead of a hidden Markov model a
/// start needs several loud steps, and a stop has a hangover.
package struct SpeechDetector: Sendable {
    /// What can be tuned.
    package struct Configuration: Equatable, Sendable {
        /// The permitted thresholds.
        package static let thresholds = 0.2...5.0
        /// The permitted hangovers, in milliseconds.
        package static let hangovers = 100...5_000
        /// The mean logarithm of the likelihood ratio from which on a step is loud. Greater finds less noise, and
        /// starts of loud speech alone.
        package var threshold: Double
        /// How long there must be no loud step until speech has stopped, in milliseconds.
        package var hangover: Int

        /// Makes a configuration; values out of range are clamped.
        package init(threshold: Double = 0.5, hangover: Int = 400) {
            let (low, high) = (Self.thresholds.lowerBound, Self.thresholds.upperBound)
            self.threshold = threshold.isFinite ? min(max(threshold, low), high) : low
            self.hangover = min(max(hangover, Self.hangovers.lowerBound), Self.hangovers.upperBound)
        }
    }

    /// What was found. Times are milliseconds since the first sample.
    package enum Event: Equatable, Sendable {
        /// A person started to speak at that time, which is up to 100 ms ago.
        case started(at: Int)
        /// There was no speech since that time.
        case stopped(at: Int)
    }

    /// Milliseconds of one step.
    private static let stepMilliseconds = 10
    /// Samples of 8,000 Hz of one step.
    private static let stepSamples = 80
    /// Loud steps that make a start, out of `recentSteps`.
    private static let loudSteps = 6
    private static let recentSteps = 8

    private let configuration: Configuration
    private var decimator: Decimator
    private var spectrum = Spectrum()
    private var noise = NoiseSpectrum()
    private var samples = [Double](repeating: 0, count: Spectrum.size)
    private var power = [Double](repeating: 0, count: NoiseSpectrum.bins.count)
    private var place = 0
    private var inStep = 0
    private var steps = 0
    /// Whether each of the last steps was loud: bit 0 is the latest.
    private var recent: UInt8 = 0
    private var lastLoud = 0

    /// Whether a person speaks.
    package private(set) var isSpeech = false

    /// Starts at time 0.
    ///
    /// - Parameter rate: samples per second: 8,000, 16,000, 24,000 or 48,000.
    package init(rate: Int, _ configuration: Configuration = Configuration()) {
        precondition(StreamFormat.rates.contains(rate), "the detector knows the rates of streams")
        self.configuration = configuration
        decimator = Decimator(factor: rate / 8_000)
    }

    /// Samples have come, any number of them; 20 ms or less make one event at most.
    package mutating func hear(_ more: [Int16]) -> Event? {
        var found: Event?
        for sample in more {
            guard let value = decimator.next(Double(sample)) else { continue }
            samples[place] = value
            place = (place + 1) & (Spectrum.size - 1)
            inStep += 1
            guard inStep == Self.stepSamples else { continue }
            inStep = 0
            found = step() ?? found
        }
        return found
    }

    private mutating func step() -> Event? {
        spectrum.measure(samples, from: place, bins: NoiseSpectrum.bins, into: &power)
        let isLoud = noise.hear(power, threshold: configuration.threshold) > configuration.threshold && noise.isAudible
        steps += 1
        recent = recent << 1 | (isLoud ? 1 : 0)
        if isLoud { lastLoud = steps }
        if isSpeech {
            guard (steps - lastLoud) * Self.stepMilliseconds >= configuration.hangover else { return nil }
            isSpeech = false
            recent = 0
            return .stopped(at: lastLoud * Self.stepMilliseconds)
        }
        guard recent.nonzeroBitCount >= Self.loudSteps else { return nil }
        isSpeech = true
        let first = Self.recentSteps - recent.leadingZeroBitCount
        return .started(at: max(0, steps - first) * Self.stepMilliseconds)
    }
}

/// Reduces the rate of samples by a whole factor, behind a triangular low-pass filter over two periods.
private struct Decimator: Sendable {
    private let factor: Int
    private var count = 0
    private var rising = 0.0
    private var falling = 0.0
    private var before = 0.0

    init(factor: Int) { self.factor = factor }

    /// The sample at the lower rate that this one completes; `nil` if there is none yet.
    mutating func next(_ sample: Double) -> Double? {
        count += 1
        rising += sample * Double(count)
        falling += sample * Double(factor - count)
        guard count == factor else { return nil }
        defer { (count, before, rising, falling) = (0, rising, 0, 0) }
        return (before + falling) / Double(factor * factor)
    }
}
