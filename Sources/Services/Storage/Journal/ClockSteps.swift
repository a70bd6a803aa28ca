import CallControl
import Primitives

/// Finds out when the wall clock was set, by comparing it with the monotonic one, which nobody sets.
///
/// Times in the tables are those of the wall clock, for the next process has no other that goes on. While a process
/// runs, what is measured is time that has passed, whatever the wall clock shows.
struct ClockSteps: Equatable, Sendable {
    /// Differences that are smaller are read as delays between the readings of the two clocks; in milliseconds.
    static let tolerance: Int64 = 2_000

    private var last: Moment?
    /// When the clock was put forward of late, and by how many milliseconds.
    private var forward: [Step] = []
    /// By how many milliseconds the clock was set since ``wasApplied()``; negative: it was put back.
    private(set) var outstanding: Int64 = 0

    private struct Step: Equatable, Sendable {
        let time: MonotonicTime
        let size: Int64
    }

    /// Takes a reading of both clocks.
    mutating func read(_ now: Moment) {
        defer { last = now }
        guard let last else { return }
        let passed = (now.monotonic - last.monotonic).wholeMilliseconds
        let step = now.epochMilliseconds - last.epochMilliseconds - passed
        guard abs(step) >= Self.tolerance else { return }
        outstanding += step
        if step > 0 { forward.append(Step(time: now.monotonic, size: step)) }
    }

    /// The times in the tables have been corrected by what was ``outstanding``.
    ///
    /// - Parameter step: how much that was.
    mutating func wasApplied(_ step: Int64) { outstanding -= step }

    /// By how much the clock was put forward within a time that ends now, in milliseconds.
    mutating func forward(within duration: Duration, at now: MonotonicTime) -> Int64 {
        forward.removeAll { $0.time + duration <= now }
        return forward.reduce(0) { $0 + $1.size }
    }
}
