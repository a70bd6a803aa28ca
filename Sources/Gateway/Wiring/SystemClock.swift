import CallRuntime
import NIOCore
import NIOPosix
import Primitives
import Sockets

/// The clocks of the kernel.
struct SystemClock: RuntimeClock {
    /// Call at their times what is asked for elsewhere than on an event loop.
    var loops: any EventLoopGroup = MultiThreadedEventLoopGroup.singleton

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

    /// Calls an action by a timer of the event loop that asks for it, which takes no task and no other thread.
    func call(at time: MonotonicTime, _ action: @escaping @Sendable () -> Void) -> @Sendable () -> Void {
        let loop = MultiThreadedEventLoopGroup.currentEventLoop ?? loops.any()
        let timer = loop.scheduleTask(in: .nanoseconds(max(time - now, .zero).wholeNanoseconds), action)
        return { timer.cancel() }
    }
}
