import CallRuntime
import Primitives
import Sockets

/// Clocks that stand still until they are moved, and that nobody waits for.
final class FixedClock: RuntimeClock {
    private struct Reading: Sendable {
        var wall: Int64
        var passed: Int64 = 0
    }

    private let reading: Lock<Reading>
    init(_ time: Int64 = 1_700_000_100_000) { reading = Lock(Reading(wall: time)) }
    /// Time passes until the wall clock shows this.
    func set(_ milliseconds: Int64) {
        reading.withLock {
            $0.passed += milliseconds - $0.wall
            $0.wall = milliseconds
        }
    }
    /// The wall clock is set, and no time passes.
    func step(by milliseconds: Int64) { reading.withLock { $0.wall += milliseconds } }
    var now: MonotonicTime { .zero + .milliseconds(reading.withLock { $0.passed }) }
    var epochMilliseconds: Int64 { reading.withLock { $0.wall } }
    func sleep(until time: MonotonicTime) async throws(CancellationError) {
        do { try await Task.sleep(for: .seconds(3_600)) } catch { throw CancellationError() }
    }
}

/// Random bits of the system.
struct SystemRandom: RandomSource {
    mutating func next() -> UInt64 { UInt64.random(in: .min ... .max) }
}
