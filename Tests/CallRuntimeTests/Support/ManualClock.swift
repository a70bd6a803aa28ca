import CallRuntime
import Primitives
import Sockets
import TestSupport

/// A `RuntimeClock` that moves only when told to, and wakes those who sleep.
final class ManualClock: RuntimeClock {
    private struct Sleeper {
        var time: MonotonicTime
        var continuation: CheckedContinuation<Bool, Never>
    }

    private struct State {
        var clock = VirtualClock()
        var lastSleeper = 0
        var sleepers: [Int: Sleeper] = [:]
    }

    private let state = Lock(State())

    var now: MonotonicTime { state.withLock { $0.clock.now } }
    var epochMilliseconds: Int64 { Int64(now.nanoseconds / 1_000_000) }
    var sleeperCount: Int { state.withLock { $0.sleepers.count } }

    func sleep(until time: MonotonicTime) async throws(CancellationError) {
        let id = state.withLock { state in
            state.lastSleeper += 1
            return state.lastSleeper
        }
        let hasRung = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let outcome = state.withLock { state -> Bool? in
                    if state.clock.now >= time { return true }
                    if Task.isCancelled { return false }
                    state.sleepers[id] = Sleeper(time: time, continuation: continuation)
                    return nil
                }
                if let outcome { continuation.resume(returning: outcome) }
            }
        } onCancel: {
            state.withLock { $0.sleepers.removeValue(forKey: id) }?.continuation.resume(returning: false)
        }
        if !hasRung { throw CancellationError() }
    }

    func advance(by duration: Duration) {
        let due = state.withLock { state in
            state.clock.advance(by: duration)
            let due = state.sleepers.filter { $0.value.time <= state.clock.now }
            for id in due.keys { state.sleepers[id] = nil }
            return due.values.sorted { $0.time < $1.time }
        }
        for sleeper in due { sleeper.continuation.resume(returning: true) }
    }
}
