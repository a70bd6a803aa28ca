package import Primitives

/// When the cycles of an audio engine are due: every `AudioEngine.interval`, at multiples of `step`.
///
/// Calls whose cycles are due at the same multiple share one wake-up of their worker, the packets that it sends at a
/// time, and what their codecs keep in the processor's caches.
package struct CycleSchedule: Equatable, Sendable {
    /// What the times of cycles are multiples of. A worker whose core is full has a tenth of its cycles at a time, and
    /// packets that it relays wait for no more than those.
    package static let step = Duration.milliseconds(2)
    /// So many cycles are caught up on by a worker that was late; if it was later, they are left out.
    private static let patience = 5

    /// When the next cycle is due; `nil` while there are none.
    package private(set) var next: MonotonicTime?
    /// When cycles were moved last; `nil`: they never were.
    private var movedAt: MonotonicTime?
    /// A peer that starts its stream anew and anew changes the rate of the cycles by no more than a hundredth.
    private static let timeBetweenMoves = Duration.seconds(1)

    /// Makes a schedule without cycles.
    package init() {}

    /// Lets cycles be due from now on, or go on; or lets none be due.
    package mutating func setNeeded(_ isNeeded: Bool, at now: MonotonicTime) {
        next = isNeeded ? next ?? Self.rounded(now) : nil
    }

    /// Starts the next cycle. Returns the time at which it was due, and how many cycles before it are left out because
    /// the worker was too late.
    package mutating func start(at now: MonotonicTime) -> (due: MonotonicTime, skipped: Int) {
        var due = next ?? Self.rounded(now)
        let interval = AudioEngine.interval
        var skipped = 0
        if now - due > interval * Self.patience {
            skipped = Int((now - due).wholeNanoseconds / interval.wholeNanoseconds)
            due = due + interval * skipped
        }
        next = due + interval
        return (due, skipped)
    }

    /// Moves the cycles by up to 10 ms, so that one is due at a time, or up to a `step` later. Cycles move at most once
    /// a second.
    package mutating func move(to time: MonotonicTime, at now: MonotonicTime) {
        guard let due = next, movedAt.map({ now - $0 >= Self.timeBetweenMoves }) ?? true else { return }
        movedAt = now
        let interval = AudioEngine.interval.wholeNanoseconds
        var shift = (Self.rounded(time) - due).wholeNanoseconds % interval
        if shift > interval / 2 { shift -= interval }
        if shift < -interval / 2 { shift += interval }
        next = due + .nanoseconds(shift)
    }

    /// The first multiple of `step` from a time on.
    private static func rounded(_ time: MonotonicTime) -> MonotonicTime {
        let step = UInt64(Self.step.wholeNanoseconds)
        return MonotonicTime(nanoseconds: time.later(by: step - 1).nanoseconds / step * step)
    }
}
