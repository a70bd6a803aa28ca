internal import CallControl
internal import CallRuntime
internal import ICE
internal import Primitives
internal import Sockets
internal import Synchronization

/// A worker as other threads see it: its mailbox, its candidates, its thread.
final class WorkerEndpoint: Sendable {
    enum Message: Sendable {
        case call(CallID, MediaCommand)
        case stop
    }

    /// Values of `a=candidate` for the legs on this worker.
    let candidates: [String]
    let localAddresses: [SocketAddress]
    private let index: Int
    private let sockets: [UDPSocket]
    private let mailbox: Mailbox<Message>
    private let wakeUp: WakeUp
    private let calls = Atomic<Int>(0)
    private let thread = Mutex<WorkerThread?>(nil)

    init(index: Int, bind: [IPAddress], advertise: [IPAddress], port: UInt16) throws(MediaServerError) {
        self.index = index
        do {
            wakeUp = try WakeUp()
            var sockets: [UDPSocket] = []
            for address in bind {
                // One port number for all addresses of a worker: the first socket's, if the kernel chose it.
                let port = port == 0 ? sockets.first?.localAddress.port ?? 0 : port
                sockets.append(
                    try UDPSocket(bind: SocketAddress(address, port: port), receiveBufferBytes: 4 << 20, sendBufferBytes: 4 << 20))
            }
            self.sockets = sockets
        } catch {
            throw .socket("media worker \(index), port \(port): \(error)")
        }
        localAddresses = sockets.map(\.localAddress)
        guard let port = localAddresses.first?.port else { throw .socket("media.bind is empty") }
        let advertised = advertise.isEmpty ? bind : advertise
        candidates = Candidate.hosts(for: advertised.map { SocketAddress($0, port: port) }).map(\.attributeValue)
        mailbox = Mailbox(capacity: 65_536, wakeUp: wakeUp)
    }

    func start(_ environment: MediaWorker.Environment) throws(MediaServerError) {
        let started: WorkerThread
        do {
            started = try WorkerThread(name: "media-\(index)") { [self] in
                let worker = MediaWorker(environment: environment, endpoint: self)
                worker.run(sockets: sockets, wakeUp: wakeUp)
            }
        } catch {
            throw .socket("media worker \(index): \(error)")
        }
        thread.withLock { $0 = started }
    }

    /// Overflow means that the worker has been stuck for tens of thousands of commands: nothing sensible can follow.
    func send(_ message: Message) {
        let accepted = mailbox.send(message)
        precondition(accepted, "a media worker takes its commands")
    }

    func join() { thread.withLock { $0 }?.join() }

    var callCount: Int { calls.load(ordering: .relaxed) }

    // MARK: For the worker itself

    func takeMessages(into messages: inout [Message]) { mailbox.drain(into: &messages) }
    func setCallCount(_ count: Int) { calls.store(count, ordering: .relaxed) }
}
