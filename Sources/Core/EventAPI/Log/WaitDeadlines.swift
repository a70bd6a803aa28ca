package import Primitives

/// When waits are over that mostly end before: a wait costs the same however many there are, and one that has ended
/// leaves nothing behind. Times are rounded up to whole steps, which many waits share.
package struct WaitDeadlines: Sendable {
    /// The length of a step: a wait may last so much longer.
    package static let step = Duration.milliseconds(50)

    /// The waits by the step at which they are over.
    private var waits: [UInt64: Set<UInt64>] = [:]
    private var steps: [UInt64: UInt64] = [:]

    /// Makes an empty table.
    package init() {}

    /// Notes when a wait is over.
    ///
    /// - Parameter wait: its name.
    /// - Returns: the time, rounded up.
    package mutating func set(_ time: MonotonicTime, for wait: UInt64) -> MonotonicTime {
        remove(wait)
        let (whole, rest) = time.nanoseconds.quotientAndRemainder(dividingBy: Self.length)
        let step = rest == 0 ? whole : whole + 1
        steps[wait] = step
        waits[step, default: []].insert(wait)
        return Self.time(of: step)
    }

    /// A wait has ended.
    package mutating func remove(_ wait: UInt64) {
        guard let step = steps.removeValue(forKey: wait) else { return }
        waits[step]?.remove(wait)
        if waits[step]?.isEmpty == true { waits[step] = nil }
    }

    /// When the first waits are over; `nil`: there are none.
    package var earliest: MonotonicTime? { waits.keys.min().map { Self.time(of: $0) } }

    /// Removes and returns the waits that are over at a time, in the order of their names.
    package mutating func takeDue(at now: MonotonicTime) -> [UInt64] {
        let due = waits.keys.filter { Self.time(of: $0) <= now }
        let ended = due.flatMap { waits.removeValue(forKey: $0) ?? [] }.sorted()
        for wait in ended { steps[wait] = nil }
        return ended
    }

    private static let length = UInt64(step.wholeNanoseconds)

    private static func time(of step: UInt64) -> MonotonicTime {
        let (nanoseconds, isTooMany) = step.multipliedReportingOverflow(by: length)
        return MonotonicTime(nanoseconds: isTooMany ? .max : nanoseconds)
    }
}
