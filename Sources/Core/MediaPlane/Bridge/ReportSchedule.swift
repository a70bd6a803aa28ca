import Primitives

/// When the next reports to a peer are due (RFC 3550 §6.2, §6.3.1).
///
/// A session has two participants, so the calculated interval is always below the minimum and the minimum is what counts;
/// without a crowd there is nothing to reconsider either (§6.3.3).
struct ReportSchedule: Sendable {
    private(set) var next: MonotonicTime?
    /// Spreads reports, no more: a xorshift generator, seeded once.
    private var state: UInt64

    init(seed: UInt64) { state = seed | 1 }

    /// The first report comes after half the interval (RFC 3550 §6.2).
    mutating func start(interval: Duration, at now: MonotonicTime) {
        if next == nil { next = now + randomized(interval) / 2 }
    }

    mutating func advance(interval: Duration, at now: MonotonicTime) { next = now + randomized(interval) }

    mutating func stop() { next = nil }

    /// Between half and one and a half times the interval.
    private mutating func randomized(_ interval: Duration) -> Duration {
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
        return interval / 2 + interval * Int(state >> 48) / 65536
    }
}
