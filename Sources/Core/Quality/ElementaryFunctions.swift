/// Logarithms and powers with about fifteen digits. Core imports no C library, and the E-model needs about a dozen of
/// them per second.
enum ElementaryFunctions {
    private static let naturalLogarithmOf2 = 0.693_147_180_559_945_3
    private static let logarithmOf10 = 2.302_585_092_994_046

    /// The natural logarithm.
    ///
    /// - Parameter x: Finite and above 0; other values trap.
    static func naturalLogarithm(_ x: Double) -> Double {
        precondition(x > 0 && x.isFinite, "only positive numbers have a logarithm")
        var (exponent, significand) = (Double(x.exponent), x.significand)
        // Between √½ and √2 each term of the series is smaller than the one before by a factor of 34.
        if significand > 1.414_213_562_373_095 { (exponent, significand) = (exponent + 1, significand / 2) }
        let ratio = (significand - 1) / (significand + 1)
        let square = ratio * ratio
        var (sum, power) = (0.0, ratio)
        for odd in stride(from: 1.0, through: 23, by: 2) {
            sum += power / odd
            power *= square
        }
        return 2 * sum + exponent * naturalLogarithmOf2
    }

    static func logarithm10(_ x: Double) -> Double { naturalLogarithm(x) / logarithmOf10 }

    /// eˣ; 0 or infinity where the result is out of range.
    static func exponential(_ x: Double) -> Double {
        guard x > -745 else { return 0 }
        guard x < 709.7 else { return .infinity }
        let whole = (x / naturalLogarithmOf2).rounded()
        let rest = x - whole * naturalLogarithmOf2
        var (sum, term) = (1.0, 1.0)
        for step in 1...18 {
            term *= rest / Double(step)
            sum += term
        }
        // In two steps, because a subnormal result can be represented only as a product of two powers of two.
        let half = Int(whole) / 2
        return sum * Double(sign: .plus, exponent: half, significand: 1)
            * Double(sign: .plus, exponent: Int(whole) - half, significand: 1)
    }

    /// `base` to the power of `exponent`.
    ///
    /// - Parameter base: Not negative.
    static func power(_ base: Double, _ exponent: Double) -> Double {
        base == 0 ? 0 : exponential(exponent * naturalLogarithm(base))
    }

    static func powerOf10(_ exponent: Double) -> Double { exponential(exponent * logarithmOf10) }
}
