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
    /// Calls an action once `now` has reached `time`, or a little earlier, on any thread; returns at once. The action
    /// must not block.
    ///
    /// - Returns: what takes the call back; without effect once the action was called.
    func call(at time: MonotonicTime, _ action: @escaping @Sendable () -> Void) -> @Sendable () -> Void
}

extension RuntimeClock {
    /// The same by a task that sleeps.
    package func call(at time: MonotonicTime, _ action: @escaping @Sendable () -> Void) -> @Sendable () -> Void {
        let sleep = Task {
            // Fails only if it is cancelled.
            do { try await self.sleep(until: time) } catch { return }
            action()
        }
        return { sleep.cancel() }
    }
}
