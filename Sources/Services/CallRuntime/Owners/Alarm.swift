package import CallControl
import Primitives

/// Wakes an owner at its deadline. It is set anew only for a deadline that is earlier than everything it is set for
/// already. A deadline that has moved to a later time costs one useless wake-up, and no cancellation.
struct Alarm: Sendable {
    /// The times that it is set for, and what takes each of them back. Each is earlier than those before it, so that
    /// there are never many.
    private var armed: [(time: MonotonicTime, cancel: @Sendable () -> Void)] = []

    /// Has `ring` called at the deadline, unless that is so already; `nil`: there is no deadline.
    mutating func arm(
        for deadline: MonotonicTime?, by clock: any RuntimeClock,
        _ ring: @escaping @Sendable (MonotonicTime) -> Void
    ) {
        guard let deadline, armed.last.map({ deadline < $0.time }) ?? true else { return }
        armed.append((deadline, clock.call(at: deadline) { ring(deadline) }))
    }

    /// It has rung for this time.
    mutating func rang(_ time: MonotonicTime) { armed.removeAll { $0.time == time } }

    /// Takes back all times: the owner need not be woken any more.
    mutating func cancel() {
        for (_, cancel) in armed { cancel() }
        armed = []
    }
}

extension RuntimeClock {
    /// The time on both clocks.
    package var moment: Moment { Moment(now, epochMilliseconds: epochMilliseconds) }
}
