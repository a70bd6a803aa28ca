import Primitives

/// The schedule of reports to a peer (RFC 3550 §6.2, §6.3.1).
///
/// A session has two participants, so the calculated interval is always below the minimum, and the minimum applies. For
/// the same reason, timer reconsideration (§6.3.3) is not needed.
struct ReportSchedule: Sendable {
    private(set) var next: MonotonicTime?
    /// The state of a xorshift generator, seeded once. It only spreads reports over time.
    private var state: UInt64

    init(seed: UInt64) { state = seed | 1 }

    /// Starts the schedule. The first report is due after half the interval (RFC 3550 §6.2).
    mutating func start(interval: Duration, at now: MonotonicTime) {
        if next == nil { next = now + randomized(interval) / 2 }
    }

    mutating func advance(interval: Duration, at now: MonotonicTime) { next = now + randomized(interval) }

    mutating func stop() { next = nil }

    /// A random duration between half and one and a half times the interval.
    private mutating func randomized(_ interval: Duration) -> Duration {
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
        return interval / 2 + interval * Int(state >> 48) / 65536
    }
}
