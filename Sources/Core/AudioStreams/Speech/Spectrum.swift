import Audio

/// The power spectrum of 128 samples of 8,000 Hz under a Hann window: bins of 62.5 Hz.
///
/// The work memory is allocated once.
struct Spectrum: Sendable {
    /// Samples of one window.
    static let size = 128
    /// Points of the transform. Samples are real, so that those of even and of odd numbers are transformed at once, as
    /// real and imaginary parts.
    private static let points = size / 2

    private let window: [Double]
    private let cosines: [Double]
    private let sines: [Double]
    private let order: [Int]
    private var real = [Double](repeating: 0, count: points)
    private var imaginary = [Double](repeating: 0, count: points)

    init() {
        // A sine of period `size` starts at 0; a cosine is the same a quarter later.
        var oscillator = Oscillator(frequency: 1, rate: Double(Self.size))
        let turn = (0..<Self.size + Self.size / 4).map { _ in oscillator.next() }
        sines = Array(turn[..<Self.size])
        cosines = Array(turn[(Self.size / 4)...])
        window = cosines.map { 0.5 - 0.5 * $0 }
        let bits = Self.points.trailingZeroBitCount
        order = (0..<Self.points).map { index in
            (0..<bits).reduce(0) { $0 << 1 | index >> $1 & 1 }
        }
    }

    /// Writes the power of the bins of `range` to the start of `power`. `samples` is a ring that holds `size` samples,
    /// the oldest at `start`.
    ///
    /// - Parameter range: Bins above 0 and below half of `size`.
    mutating func measure(_ samples: [Double], from start: Int, bins range: Range<Int>, into power: inout [Double]) {
        for index in 0..<Self.points {
            let (even, odd) = (2 * index, 2 * index + 1)
            real[order[index]] = samples[(start + even) & (Self.size - 1)] * window[even]
            imaginary[order[index]] = samples[(start + odd) & (Self.size - 1)] * window[odd]
        }
        Self.transform(&real, &imaginary, cosines, sines)
        for (place, bin) in range.enumerated() { power[place] = self.power(of: bin) }
    }

    // The parts are parameters and are used as spans, so that it is checked once whether an array is shared, and not
    // for each point.

    /// Radix 2, decimation in time (Cooley and Tukey, 1965).
    private static func transform(
        _ real: inout [Double], _ imaginary: inout [Double], _ cosines: [Double], _ sines: [Double]
    ) {
        let cosineSpan = cosines.span
        let sineSpan = sines.span
        var reals = real.mutableSpan
        var imaginaries = imaginary.mutableSpan
        var half = 1
        while half < points {
            let step = size / (2 * half)
            var block = 0
            while block < points {
                for index in 0..<half {
                    let (cosine, sine) = (cosineSpan[index * step], sineSpan[index * step])
                    let (a, b) = (block + index, block + index + half)
                    let turnedReal = reals[b] * cosine + imaginaries[b] * sine
                    let turnedImaginary = imaginaries[b] * cosine - reals[b] * sine
                    reals[b] = reals[a] - turnedReal
                    imaginaries[b] = imaginaries[a] - turnedImaginary
                    reals[a] += turnedReal
                    imaginaries[a] += turnedImaginary
                }
                block += 2 * half
            }
            half *= 2
        }
    }

    /// Puts the transforms of even and of odd samples together to the power of a bin.
    private func power(of bin: Int) -> Double {
        let (a, b) = (bin, Self.points - bin)
        let (evenReal, evenImaginary) = ((real[a] + real[b]) / 2, (imaginary[a] - imaginary[b]) / 2)
        let (oddReal, oddImaginary) = ((imaginary[a] + imaginary[b]) / 2, (real[b] - real[a]) / 2)
        let (cosine, sine) = (cosines[bin], sines[bin])
        let sumReal = evenReal + oddReal * cosine + oddImaginary * sine
        let sumImaginary = evenImaginary + oddImaginary * cosine - oddReal * sine
        return sumReal * sumReal + sumImaginary * sumImaginary
    }
}
