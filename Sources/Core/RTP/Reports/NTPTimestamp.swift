package import Primitives

/// A wall-clock time in NTP format: 32 bits of seconds since 1900, 32 bits of fraction (RFC 3550 §4).
package struct NTPTimestamp: Hashable, Sendable {
    package var rawValue: UInt64

    package init(_ rawValue: UInt64) { self.rawValue = rawValue }

    /// Seconds between the NTP and the Unix epoch.
    private static let unixEpoch: UInt64 = 2_208_988_800

    /// From nanoseconds since 1970, as the system's real-time clock counts them.
    package init(unixNanoseconds: UInt64) {
        let (seconds, rest) = unixNanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
        rawValue = (seconds &+ Self.unixEpoch) << 32 | (rest << 32) / 1_000_000_000
    }

    /// The middle 32 bits, as LSR carries them (RFC 3550 §6.4.1).
    package var compact: UInt32 { UInt32(truncatingIfNeeded: rawValue >> 16) }

    package static func + (timestamp: Self, duration: Duration) -> Self {
        let nanoseconds = duration.wholeNanoseconds
        let (seconds, rest) = nanoseconds.magnitude.quotientAndRemainder(dividingBy: 1_000_000_000)
        let magnitude = seconds << 32 | (rest << 32) / 1_000_000_000
        return Self(nanoseconds < 0 ? timestamp.rawValue &- magnitude : timestamp.rawValue &+ magnitude)
    }
}

/// What the wall clock shows at a monotonic time.
///
/// Core reads no clock: the shell looks at both clocks once and hands over the pair. A later step of the system's
/// wall clock does not reach the reports, which is what receivers want of them.
package struct WallClock: Hashable, Sendable {
    package let reference: NTPTimestamp
    package let moment: MonotonicTime

    package init(showing reference: NTPTimestamp, at moment: MonotonicTime) {
        self.reference = reference
        self.moment = moment
    }

    package func time(at now: MonotonicTime) -> NTPTimestamp { reference + (now - moment) }
}

extension Duration {
    /// In units of 1/65,536 s, as DLSR counts (RFC 3550 §6.4.1); saturates at both ends.
    package var in65536ths: UInt32 {
        let nanoseconds = wholeNanoseconds
        guard nanoseconds > 0 else { return 0 }
        let (seconds, rest) = nanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
        guard seconds < 1 << 16 else { return .max }
        return UInt32(seconds) << 16 | UInt32((rest << 16) / 1_000_000_000)
    }

    package static func in65536ths(_ units: UInt32) -> Duration {
        .nanoseconds((Int64(units) * 1_000_000_000) >> 16)
    }
}
