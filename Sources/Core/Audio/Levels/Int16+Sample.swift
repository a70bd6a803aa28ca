extension Int16 {
    /// A sample out of arithmetic, towards zero: what is beyond the range is as loud as can be, what is no number is silent.
    ///
    /// Every sample that is computed goes this way. `Int16(_:)` traps outside its range, and `min(max(…))` lets NaN through.
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
