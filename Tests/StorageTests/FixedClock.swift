import CallRuntime
import Primitives
import Sockets

/// A wall clock that stands still, and a monotonic one that nobody waits for.
final class FixedClock: RuntimeClock {
    private let time: Lock<Int64>
    init(_ time: Int64 = 1_700_000_100_000) { self.time = Lock(time) }
    func set(_ milliseconds: Int64) { time.withLock { $0 = milliseconds } }
    var now: MonotonicTime { .zero }
    var epochMilliseconds: Int64 { time.withLock { $0 } }
    func sleep(until time: MonotonicTime) async throws(CancellationError) {
        do { try await Task.sleep(for: .seconds(3_600)) } catch { throw CancellationError() }
    }
}

/// Random bits of the system.
struct SystemRandom: RandomSource {
    mutating func next() -> UInt64 { UInt64.random(in: .min ... .max) }
}
