import NIOCore
import Synchronization

/// What one connection is doing, written on its own event loop and read by the loop that accepts others.
final class ConnectionPlace: Sendable {
    let id: ConnectionTable.ID
    private let gate: NIOLoopBound<ConnectionGate>
    private let gateLoop: any EventLoop
    /// Uptime in nanoseconds since when a request, or the rest of one, is waited for; 0 while the gateway has something to do.
    private let requestAwaited: Atomic<UInt64>
    /// Uptime in nanoseconds since when answers wait for their reader; 0 while they do not.
    private let readerAwaited = Atomic<UInt64>(0)

    init(id: ConnectionTable.ID, gate: NIOLoopBound<ConnectionGate>, on gateLoop: any EventLoop) {
        self.id = id
        self.gate = gate
        self.gateLoop = gateLoop
        requestAwaited = Atomic(NIODeadline.now().uptimeNanoseconds)
    }

    /// When the gateway began to wait for this client; `nil` while it works for it.
    var waitingSince: UInt64? {
        let times = [requestAwaited.load(ordering: .relaxed), readerAwaited.load(ordering: .relaxed)]
        return times.filter { $0 != 0 }.min()
    }

    func awaitRequest() { requestAwaited.store(NIODeadline.now().uptimeNanoseconds, ordering: .relaxed) }

    func workOnRequest() { requestAwaited.store(0, ordering: .relaxed) }

    func awaitReader() { readerAwaited.store(NIODeadline.now().uptimeNanoseconds, ordering: .relaxed) }

    func readerTookAll() { readerAwaited.store(0, ordering: .relaxed) }

    /// The connection counts as a notification channel from now on, for which nobody is waited.
    func becomeChannel() {
        workOnRequest()
        gateLoop.execute { self.gate.value.becameChannel(self.id) }
    }
}
