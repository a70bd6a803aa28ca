package import CallControl
import Primitives

/// Decides when an owner has to start another sleep: when its deadline is earlier than everything that it sleeps for
/// already. A deadline that has moved to a later time costs one useless wake-up, and no cancellation.
struct Alarm: Sendable {
    /// The times that are slept for. Each is earlier than those before it, so that there are never many.
    private var armed: [MonotonicTime] = []

    /// Whether this deadline takes another sleep; `false` if there is no deadline (`nil`).
    func needsArming(for deadline: MonotonicTime?) -> Bool {
        guard let deadline else { return false }
        return armed.last.map { deadline < $0 } ?? true
    }

    /// The time until which to sleep, if the deadline takes another sleep; otherwise `nil`.
    mutating func arm(for deadline: MonotonicTime?) -> MonotonicTime? {
        guard let deadline, needsArming(for: deadline) else { return nil }
        armed.append(deadline)
        return deadline
    }

    /// A sleep until this time has ended.
    mutating func rang(_ time: MonotonicTime) { armed.removeAll { $0 == time } }
}

extension RuntimeClock {
    /// The time on both clocks.
    package var moment: Moment { Moment(now, epochMilliseconds: epochMilliseconds) }
}
