extension Int16 {
    /// Makes a sample of a computed value, rounded towards zero. Values beyond the range are limited to it, and NaN
    /// becomes 0.
    ///
    /// Every computed sample is converted by this initialiser: `Int16(_:)` traps outside its range, and `min(max(…))`
    /// lets NaN pass.
    package init(sample value: Double) {
        if value >= 32_767 {
            self = .max
        } else if value <= -32_768 {
            self = .min
        } else {
            // Between the bounds, or NaN.
            self = value.isNaN ? 0 : Int16(value)
        }
    }
}
