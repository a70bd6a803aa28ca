package import Primitives

/// Both clocks the owners need. The gateway passes the kernel's, tests virtual ones.
package protocol RuntimeClock: Sendable {
    var now: MonotonicTime { get }
    /// Milliseconds since 1970, for stamps that people and clients read.
    var epochMilliseconds: Int64 { get }
    /// Returns once `now` has reached `time`, or earlier by throwing when the task is cancelled.
    func sleep(until time: MonotonicTime) async throws(CancellationError)
}
