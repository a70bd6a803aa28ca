import Primitives

/// Conversion between durations and samples of 48 kHz, the unit of time inside this module.
extension Duration {
    /// The duration of `count` samples of 48 kHz, rounded down to the nanosecond.
    package static func samples(_ count: Int64) -> Duration { .nanoseconds(count * 62_500 / 3) }

    /// The number of complete samples of 48 kHz within the duration, whose whole microseconds count.
    package var inSamples: Int64 { wholeNanoseconds / 1_000 * 48 / 1_000 }
}
