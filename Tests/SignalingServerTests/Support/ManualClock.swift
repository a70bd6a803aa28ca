import CallControl
import CallRuntime
import Primitives
import Synchronization

/// A clock that moves only when told to.
final class ManualClock: RuntimeClock {
    private static let start = MonotonicTime(nanoseconds: 1_000_000_000_000)
    private let time = Mutex(ManualClock.start)

    var now: MonotonicTime { time.withLock { $0 } }
    var epochMilliseconds: Int64 { 784_111_777_000 + Int64((now - Self.start) / .milliseconds(1)) }

    func advance(by duration: Duration) { time.withLock { $0 = $0 + duration } }

    func sleep(until time: MonotonicTime) async throws(CancellationError) {
        preconditionFailure("nothing in signalling sleeps on this clock")
    }
}

/// `joe` is `joe@example.com`.
func address(_ text: String) -> UserAddress {
    guard let address = UserAddress(parsing: text, defaultDomain: "example.com") else {
        preconditionFailure("\(text) is an address")
    }
    return address
}
