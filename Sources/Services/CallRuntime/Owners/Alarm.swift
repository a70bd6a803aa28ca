import CallControl
import Primitives

/// Decides when an owner needs a sleep: when its deadline lies before everything it sleeps for already. A deadline that
/// moved away costs one wake-up for nothing, and no cancellation.
struct Alarm: Sendable {
    /// The times slept for; each is earlier than those that were there before it, so there are never many.
    private var armed: [MonotonicTime] = []

    func needsArming(for deadline: MonotonicTime?) -> Bool {
        guard let deadline else { return false }
        return armed.last.map { deadline < $0 } ?? true
    }

    /// The time to sleep until, if it takes another sleep.
    mutating func arm(for deadline: MonotonicTime?) -> MonotonicTime? {
        guard let deadline, needsArming(for: deadline) else { return nil }
        armed.append(deadline)
        return deadline
    }

    /// A sleep is over.
    mutating func rang(_ time: MonotonicTime) { armed.removeAll { $0 == time } }
}

extension RuntimeClock {
    /// Both clocks at once.
    var moment: Moment { Moment(now, epochMilliseconds: epochMilliseconds) }
}
