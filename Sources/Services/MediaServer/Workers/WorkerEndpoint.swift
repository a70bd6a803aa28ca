internal import CallControl
internal import CallRuntime
internal import ICE
internal import MediaPlane
internal import Primitives
internal import Sockets
internal import Synchronization

/// A worker as other threads see it: its mailbox, its candidates, its thread.
final class WorkerEndpoint: Sendable {
    enum Message: Sendable {
        case call(CallID, MediaCommand)
        /// Somebody wants to know how a call's media flows.
        case describe(CallID, CheckedContinuation<CallMediaStatistics?, Never>)
        /// A leg of a call here becomes another call's, which has got an `adopt`.
        case surrender(Leg, of: CallID, to: CallID, as: Leg)
        /// The leg that an `adopt` waits for; `nil` if it was not there.
        case arrival(Parcel<TravellingLeg>?, as: Leg, in: CallID)
        /// What has become of a leg that was here.
        case forward(ForwardingTable.Change, by: WorkerIndex)
        /// The connection of a leg that is here, or was, is gone where it was accepted.
        case pathClosed(Path)
        /// A connection that was accepted here carries nobody's path any more.
        case closeConnection(ConnectionID)
        case stop
        /// A worker has been told to stop, and has given away every leg that it was asked for before.
        case noMoreLegs
    }

    /// Values of `a=candidate` for the legs that begin on this worker.
    let candidates: [String]
    let localAddresses: [SocketAddress]
    /// Where connections are accepted; empty without TCP.
    let listenerAddresses: [SocketAddress]
    let index: WorkerIndex
    let sockets: [UDPSocket]
    let listeners: [TCPListener]
    /// What other workers pass on: what came in for legs that have moved here, and what these say on connections here.
    let packets: PacketMailbox
    private let mailbox: Mailbox<Message>
    private let wakeUp: WakeUp
    private let calls = Atomic<Int>(0)
    private let thread = Mutex<WorkerThread?>(nil)

    /// - Parameters:
    ///   - port: for UDP, 0 for the kernel's choice.
    ///   - tcpPort: for passive candidates (RFC 6544), 0 for the kernel's choice; `nil` for none.
    init(index: WorkerIndex, bind: [IPAddress], advertise: [IPAddress], port: UInt16, tcpPort: UInt16?)
        throws(MediaServerError)
    {
        self.index = index
        let index = index.rawValue
        do {
            wakeUp = try WakeUp()
        } catch {
            throw .socket("media worker \(index): \(error)")
        }
        sockets = try Self.open(bind, port, "media worker \(index), UDP") { address throws(SocketError) in
            let socket = try UDPSocket(bind: address, receiveBufferBytes: 4 << 20, sendBufferBytes: 4 << 20)
            return (socket, socket.localAddress.port)
        }
        listeners =
            try tcpPort.map { port throws(MediaServerError) in
                try Self.open(bind, port, "media worker \(index), TCP") { address throws(SocketError) in
                    let listener = try TCPListener(bind: address)
                    return (listener, listener.localAddress.port)
                }
            } ?? []
        localAddresses = sockets.map(\.localAddress)
        listenerAddresses = listeners.map(\.localAddress)
        guard let port = localAddresses.first?.port else { throw .socket("media.bind is empty") }
        let advertised = advertise.isEmpty ? bind : advertise
        let passive =
            listenerAddresses.first.map { first in advertised.map { SocketAddress($0, port: first.port) } } ?? []
        candidates = Candidate.hosts(for: advertised.map { SocketAddress($0, port: port) }, tcp: passive).map(
            \.attributeValue)
        mailbox = Mailbox(capacity: Self.mailboxCapacity, wakeUp: wakeUp)
        packets = PacketMailbox(capacity: Self.packetCapacity, wakeUp: wakeUp)
    }

    /// A dozen commands for each of the calls that a worker has in practice.
    private static let mailboxCapacity = 65_536
    /// A quarter of a second of eighty moved legs with sound (50 packets a second each), or of a dozen with video (300).
    private static let packetCapacity = 1_024

    /// - Parameter endpoints: all of them, this one included, in their order.
    func start(_ environment: MediaWorker.Environment, among endpoints: [WorkerEndpoint]) throws(MediaServerError) {
        let started: WorkerThread
        do {
            started = try WorkerThread(name: "media-\(index.rawValue)") { [self] in
                let worker = MediaWorker(environment: environment, endpoint: self, endpoints: endpoints)
                worker.run(wakeUp: wakeUp)
            }
        } catch {
            throw .socket("media worker \(index.rawValue): \(error)")
        }
        thread.withLock { $0 = started }
    }

    /// One socket per address, with one port number for all: the first one's, if the kernel chose it.
    private static func open<Socket>(
        _ addresses: [IPAddress], _ port: UInt16, _ what: String,
        with make: (SocketAddress) throws(SocketError) -> (Socket, port: UInt16)
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

    /// What ends or releases something, and what workers tell each other about legs that they have: always taken.
    func send(_ message: Message) { mailbox.send(message) }

    /// Whether there was room. When there is none, the worker has been held up for tens of thousands of commands.
    func offer(_ message: Message) -> Bool { mailbox.offer(message) }

    /// It is far behind, and takes no new call: what room there is belongs to the calls that it has.
    var isOverloaded: Bool { mailbox.count > Self.mailboxCapacity / 2 }

    /// Passes a packet on; whether there was room.
    func send(_ packet: Span<UInt8>, over path: Path, _ direction: PacketMailbox.Direction) -> Bool {
        packets.send(packet, over: path, direction)
    }

    func join() { thread.withLock { $0 }?.join() }

    var callCount: Int { calls.load(ordering: .relaxed) }

    // MARK: For the worker itself

    func takeMessages(into messages: inout [Message]) { mailbox.drain(into: &messages) }
    func setCallCount(_ count: Int) { calls.store(count, ordering: .relaxed) }
}
