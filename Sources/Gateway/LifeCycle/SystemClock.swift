import CallRuntime
import Primitives
import Sockets

/// The kernel's clocks.
struct SystemClock: RuntimeClock {
    var now: MonotonicTime { MonotonicClock.now }
    var epochMilliseconds: Int64 { Int64(clamping: WallTime.unixNanoseconds / 1_000_000) }

    func sleep(until time: MonotonicTime) async throws(CancellationError) {
        do {
            try await Task.sleep(for: time - MonotonicClock.now)
        } catch {
            throw CancellationError()
        }
    }
}
