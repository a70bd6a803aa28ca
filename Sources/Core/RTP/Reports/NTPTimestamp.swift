package import Primitives

/// A wall-clock time in NTP format: 32 bits of seconds since 1900 and 32 bits of fraction (RFC 3550 §4).
package struct NTPTimestamp: Hashable, Sendable {
    /// The 64 bits of the format.
    package var rawValue: UInt64

    /// Makes a timestamp of the 64 bits of the format.
    package init(_ rawValue: UInt64) { self.rawValue = rawValue }

    /// Seconds between the NTP and the Unix epoch.
    private static let unixEpoch: UInt64 = 2_208_988_800

    /// Makes a timestamp of nanoseconds since 1970, as the real-time clock of the system counts them.
    package init(unixNanoseconds: UInt64) {
        let (seconds, rest) = unixNanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
        rawValue = (seconds &+ Self.unixEpoch) << 32 | (rest << 32) / 1_000_000_000
    }

    /// The middle 32 bits, as in the LSR field (RFC 3550 §6.4.1).
    package var compact: UInt32 { UInt32(truncatingIfNeeded: rawValue >> 16) }

    /// The time after `duration`, which may be negative.
    package static func + (timestamp: Self, duration: Duration) -> Self {
        let nanoseconds = duration.wholeNanoseconds
        let (seconds, rest) = nanoseconds.magnitude.quotientAndRemainder(dividingBy: 1_000_000_000)
        let magnitude = seconds << 32 | (rest << 32) / 1_000_000_000
        return Self(nanoseconds < 0 ? timestamp.rawValue &- magnitude : timestamp.rawValue &+ magnitude)
    }
}

/// The wall clock as a function of the monotonic clock.
///
/// Core reads no clock: its user reads both clocks once and passes the pair. A later step of the system's wall clock
/// does not affect the reports, and receivers expect that.
package struct WallClock: Hashable, Sendable {
    /// The wall-clock time at `moment`.
    package let reference: NTPTimestamp
    /// The monotonic time at which `reference` was read.
    package let moment: MonotonicTime

    /// Makes a clock from one reading of both clocks.
    package init(showing reference: NTPTimestamp, at moment: MonotonicTime) {
        self.reference = reference
        self.moment = moment
    }

    /// The wall-clock time at a monotonic time.
    package func time(at now: MonotonicTime) -> NTPTimestamp { reference + (now - moment) }
}

extension Duration {
    /// The duration in units of 1/65,536 s, as in the DLSR field (RFC 3550 §6.4.1). Negative durations become 0;
    /// durations of 65,536 s and more become the maximum.
    package var in65536ths: UInt32 {
        let nanoseconds = wholeNanoseconds
        guard nanoseconds > 0 else { return 0 }
        let (seconds, rest) = nanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
        guard seconds < 1 << 16 else { return .max }
        return UInt32(seconds) << 16 | UInt32((rest << 16) / 1_000_000_000)
    }

    /// The duration of `units` of 1/65,536 s, as in the DLSR field (RFC 3550 §6.4.1).
    package static func in65536ths(_ units: UInt32) -> Duration {
        .nanoseconds((Int64(units) * 1_000_000_000) >> 16)
    }
}
