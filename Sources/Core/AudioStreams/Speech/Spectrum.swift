import Audio

/// The power spectrum of 128 samples of 8,000 Hz under a Hann window: bins of 62.5 Hz.
///
/// The work memory is allocated once.
struct Spectrum: Sendable {
    /// Samples of one window.
    static let size = 128

    private let window: [Double]
    private let cosines: [Double]
    private let sines: [Double]
    private let order: [Int]
    private var real = [Double](repeating: 0, count: size)
    private var imaginary = [Double](repeating: 0, count: size)

    init() {
        // A sine of period `size` starts at 0; a cosine is the same a quarter later.
        var oscillator = Oscillator(frequency: 1, rate: Double(Self.size))
        let turn = (0..<Self.size + Self.size / 4).map { _ in oscillator.next() }
        sines = Array(turn[..<Self.size])
        cosines = Array(turn[(Self.size / 4)...])
        window = cosines.map { 0.5 - 0.5 * $0 }
        let bits = Self.size.trailingZeroBitCount
        order = (0..<Self.size).map { index in
            (0..<bits).reduce(0) { $0 << 1 | index >> $1 & 1 }
        }
    }

    /// Writes the power of the bins of `range` to the start of `power`. `samples` is a ring that holds `size` samples,
    /// the oldest at `start`.
    mutating func measure(_ samples: [Double], from start: Int, bins range: Range<Int>, into power: inout [Double]) {
        for index in 0..<Self.size {
            real[order[index]] = samples[(start + index) & (Self.size - 1)] * window[index]
            imaginary[index] = 0
        }
        // Radix 2, decimation in time (Cooley and Tukey, 1965).
        var half = 1
        while half < Self.size {
            let step = Self.size / (2 * half)
            var block = 0
            while block < Self.size {
                for index in 0..<half {
                    let (cosine, sine) = (cosines[index * step], sines[index * step])
                    let (a, b) = (block + index, block + index + half)
                    let turnedReal = real[b] * cosine + imaginary[b] * sine
                    let turnedImaginary = imaginary[b] * cosine - real[b] * sine
                    real[b] = real[a] - turnedReal
                    imaginary[b] = imaginary[a] - turnedImaginary
                    real[a] += turnedReal
                    imaginary[a] += turnedImaginary
                }
                block += 2 * half
            }
            half *= 2
        }
        for (place, bin) in range.enumerated() {
            power[place] = real[bin] * real[bin] + imaginary[bin] * imaginary[bin]
        }
    }
}
