import NIOCore
import Primitives
import Synchronization

/// What one connection is doing. It is written on the connection's own event loop, and read by the loop that accepts
/// others.
final class ConnectionPlace: Sendable {
    let id: ConnectionTable.ID
    private let gate: NIOLoopBound<ConnectionGate>
    private let gateLoop: any EventLoop
    /// The uptime in nanoseconds since when the gateway waits for a request or its rest; 0 while the gateway has work
    /// to do.
    private let requestAwaited: Atomic<UInt64>
    /// The uptime in nanoseconds since when answers wait for the client to read; 0 while none do.
    private let readerAwaited = Atomic<UInt64>(0)

    init(id: ConnectionTable.ID, gate: NIOLoopBound<ConnectionGate>, on gateLoop: any EventLoop) {
        self.id = id
        self.gate = gate
        self.gateLoop = gateLoop
        requestAwaited = Atomic(NIODeadline.now().uptimeNanoseconds)
    }

    /// The uptime in nanoseconds at which the gateway started to wait for this client; `nil` while it works for the
    /// client.
    var waitingSince: UInt64? {
        let times = [requestAwaited.load(ordering: .relaxed), readerAwaited.load(ordering: .relaxed)]
        return times.filter { $0 != 0 }.min()
    }

    func awaitRequest() { requestAwaited.store(NIODeadline.now().uptimeNanoseconds, ordering: .relaxed) }

    func workOnRequest() { requestAwaited.store(0, ordering: .relaxed) }

    func awaitReader() { readerAwaited.store(NIODeadline.now().uptimeNanoseconds, ordering: .relaxed) }

    func readerTookAll() { readerAwaited.store(0, ordering: .relaxed) }

    /// Counts the connection for the client that its proxy has told, and no longer for the proxy.
    func belongs(to client: IPAddress) {
        gateLoop.execute { self.gate.value.belongs(self.id, to: client) }
    }

    /// Reports that a trusted proxy's connection does not start as it must.
    func headerRefused(_ fault: ProxyHeader.Fault) {
        gateLoop.execute { self.gate.value.headerRefused(fault) }
    }

    /// Counts the connection as a notification channel, for which the gateway does not wait.
    func becomeChannel() {
        workOnRequest()
        gateLoop.execute { self.gate.value.becameChannel(self.id) }
    }
}
