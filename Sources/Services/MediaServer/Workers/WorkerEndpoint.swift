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
        /// Somebody wants to know how a call's media flows.
        case describe(CallID, CheckedContinuation<CallMediaStatistics?, Never>)
        case stop
    }

    /// Values of `a=candidate` for the legs on this worker.
    let candidates: [String]
    let localAddresses: [SocketAddress]
    /// Where connections are accepted; empty without TCP.
    let listenerAddresses: [SocketAddress]
    private let index: Int
    private let sockets: [UDPSocket]
    private let listeners: [TCPListener]
    private let mailbox: Mailbox<Message>
    private let wakeUp: WakeUp
    private let calls = Atomic<Int>(0)
    private let thread = Mutex<WorkerThread?>(nil)

    /// - Parameters:
    ///   - port: for UDP, 0 for the kernel's choice.
    ///   - tcpPort: for passive candidates (RFC 6544), 0 for the kernel's choice; `nil` for none.
    init(index: Int, bind: [IPAddress], advertise: [IPAddress], port: UInt16, tcpPort: UInt16?) throws(MediaServerError) {
        self.index = index
        do {
            wakeUp = try WakeUp()
        } catch {
            throw .socket("media worker \(index): \(error)")
        }
        sockets = try Self.open(bind, port, "media worker \(index), UDP") { address throws(SocketError) in
            let socket = try UDPSocket(bind: address, receiveBufferBytes: 4 << 20, sendBufferBytes: 4 << 20)
            return (socket, socket.localAddress.port)
        }
        listeners = try tcpPort.map { port throws(MediaServerError) in
            try Self.open(bind, port, "media worker \(index), TCP") { address throws(SocketError) in
                let listener = try TCPListener(bind: address)
                return (listener, listener.localAddress.port)
            }
        } ?? []
        localAddresses = sockets.map(\.localAddress)
        listenerAddresses = listeners.map(\.localAddress)
        guard let port = localAddresses.first?.port else { throw .socket("media.bind is empty") }
        let advertised = advertise.isEmpty ? bind : advertise
        let passive = listenerAddresses.first.map { first in advertised.map { SocketAddress($0, port: first.port) } } ?? []
        candidates = Candidate.hosts(for: advertised.map { SocketAddress($0, port: port) }, tcp: passive).map(\.attributeValue)
        mailbox = Mailbox(capacity: 65_536, wakeUp: wakeUp)
    }

    func start(_ environment: MediaWorker.Environment) throws(MediaServerError) {
        let started: WorkerThread
        do {
            started = try WorkerThread(name: "media-\(index)") { [self] in
                let worker = MediaWorker(environment: environment, endpoint: self)
                worker.run(sockets: sockets, listeners: listeners, wakeUp: wakeUp)
            }
        } catch {
            throw .socket("media worker \(index): \(error)")
        }
        thread.withLock { $0 = started }
    }

    /// One socket per address, with one port number for all: the first one's, if the kernel chose it.
    private static func open<Socket>(
        _ addresses: [IPAddress], _ port: UInt16, _ what: String, with make: (SocketAddress) throws(SocketError) -> (Socket, port: UInt16)
    ) throws(MediaServerError) -> [Socket] {
        var (sockets, port): ([Socket], UInt16) = ([], port)
        for address in addresses {
            do {
                let made = try make(SocketAddress(address, port: port))
                sockets.append(made.0)
                port = made.port
            } catch {
                throw .socket("\(what) \(SocketAddress(address, port: port)): \(error)")
            }
        }
        return sockets
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
