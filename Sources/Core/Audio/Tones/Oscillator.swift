/// A sine of constant frequency and continuous phase, one sample after the other.
///
/// It rotates a point on the unit circle by a fixed angle. A small correction after each step removes the rounding
/// error of the radius.
package struct Oscillator: Equatable, Sendable {
    private var real = 1.0
    private var imaginary = 0.0
    private let turnReal: Double
    private let turnImaginary: Double

    /// Starts at phase 0.
    ///
    /// - Parameters:
    ///   - frequency: Hertz, below half the rate.
    ///   - rate: Samples per second.
    package init(frequency: Double, rate: Double = 48_000) {
        (turnImaginary, turnReal) = Self.sineAndCosine(2 * .pi * frequency / rate)
    }

    /// The next sample, −1…1; the first one is 0.
    package mutating func next() -> Double {
        defer {
            let turned = real * turnReal - imaginary * turnImaginary
            imaginary = real * turnImaginary + imaginary * turnReal
            real = turned
            let correction = 1.5 - 0.5 * (real * real + imaginary * imaginary)
            real *= correction
            imaginary *= correction
        }
        return imaginary
    }

    /// Taylor series. Angles are below π here; eight terms leave an error below 10⁻⁷ there, and below 10⁻¹⁵ for audible
    /// tones.
    private static func sineAndCosine(_ angle: Double) -> (sine: Double, cosine: Double) {
        // A quarter of the angle converges fast; two doublings restore the angle.
        let quarter = angle / 4
        var (sine, cosine, term) = (quarter, 1.0, quarter)
        for step in 1...8 {
            let n = Double(2 * step)
            term = -term * quarter * quarter / (n * (n + 1))
            sine += term
        }
        term = 1
        for step in 1...8 {
            let n = Double(2 * step)
            term = -term * quarter * quarter / (n * (n - 1))
            cosine += term
        }
        for _ in 0..<2 { (sine, cosine) = (2 * sine * cosine, cosine * cosine - sine * sine) }
        return (sine, cosine)
    }
}
