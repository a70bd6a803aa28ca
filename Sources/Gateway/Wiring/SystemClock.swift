import CallRuntime
import Primitives
import Sockets

/// The clocks of the kernel.
struct SystemClock: RuntimeClock {
    var now: MonotonicTime { MonotonicClock.now }

    var epochMilliseconds: Int64 { Int64(WallTime.unixNanoseconds / 1_000_000) }

    func sleep(until time: MonotonicTime) async throws(CancellationError) {
        // A sleep may end a little early by the other clock. The caller would then find its deadline in the future.
        while case let rest = time - now, rest > .zero {
            do {
                try await Task.sleep(for: rest, clock: .suspending)
            } catch {
                throw CancellationError()
            }
        }
    }
}
