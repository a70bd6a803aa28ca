package import Primitives

/// Both clocks that the owners need. The gateway passes those of the kernel, tests pass virtual ones.
package protocol RuntimeClock: Sendable {
    /// The time on the monotonic clock, for deadlines.
    var now: MonotonicTime { get }
    /// The time on the wall clock, milliseconds since 1970, for time stamps that people and clients read.
    var epochMilliseconds: Int64 { get }
    /// Returns once `now` has reached `time`.
    ///
    /// - Throws: `CancellationError`, earlier, if the task is cancelled.
    func sleep(until time: MonotonicTime) async throws(CancellationError)
}
