internal import CallControl
internal import CallRuntime
internal import ICE
internal import MediaPlane
internal import Primitives
internal import Sockets
internal import Synchronization

/// A worker as other threads see it: its mailbox, its candidates and its thread.
final class WorkerEndpoint: Sendable {
    enum Message: Sendable {
        case call(CallID, MediaCommand)
        /// Answers with the media statistics of a call.
        case describe(CallID, CheckedContinuation<CallMediaStatistics?, Never>)
        /// Gives a leg of a call on this worker to another call, which has received an `adopt`.
        case giveLeg(LegID, of: CallID, to: CallID, as: LegID)
        /// Brings the leg that an `adopt` waits for; `nil` if it did not exist.
        case arrival(SendableBox<LegInTransit>?, as: LegID, in: CallID)
        /// Reports a change of a leg that was on this worker before.
        case legChanged(MovedLegs.Change, by: WorkerIndex)
        /// The connection of a leg that is or was on this worker has been closed by the worker that accepted it.
        case pathClosed(Path)
        /// No leg uses a connection any more that was accepted by this worker.
        case closeConnection(ConnectionID)
        case stop
        /// A worker has been told to stop, and has handed over every leg that it was asked for before.
        case noMoreLegs
    }

    /// Values of `a=candidate` for the legs that start on this worker.
    let candidates: [String]
    let localAddresses: [SocketAddress]
    /// Addresses on which connections are accepted; empty without TCP.
    let listenerAddresses: [SocketAddress]
    let index: WorkerIndex
    let sockets: [UDPSocket]
    let listeners: [TCPListener]
    /// Packets from other workers: those received for legs that have moved here, and those to be sent on connections of
    /// this worker.
    let packets: PacketMailbox
    private let mailbox: Mailbox<Message>
    private let wakeUp: WakeUp
    private let calls = Atomic<Int>(0)
    private let measuredLoad = Atomic<Int>(0)
    private let measuredCalls = Atomic<Int>(0)
    private let servedCalls = Atomic<Int>(0)
    private let thread = Mutex<WorkerThread?>(nil)

    /// Binds the sockets; throws `socket` if one cannot be bound or `bind` is empty.
    ///
    /// - Parameters:
    ///   - port: The UDP port; 0 lets the kernel choose.
    ///   - tcpPort: The TCP port of passive candidates (RFC 6544); 0 lets the kernel choose, `nil` offers none.
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
            let socket = try UDPSocket(
                bind: address, receiveBufferBytes: Self.receiveBufferBytes, sendBufferBytes: 4 << 20)
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

    /// The receive buffer of a socket: what a thousand calls send in a tenth of a second.
    static let receiveBufferBytes = 4 << 20
    /// The capacity of the mailbox: a dozen commands for each call that a worker has in practice.
    private static let mailboxCapacity = 65_536
    /// The capacity for packets: a quarter of a second for eighty moved legs with audio (50 packets a second each), or
    /// for a dozen with video (300).
    private static let packetCapacity = 1_024

    /// Starts the thread; throws `socket` if it cannot be started.
    ///
    /// - Parameter endpoints: The endpoints of all workers, this one included, in their order.
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

    /// Opens one socket per address, all with the same port: that of the first socket, if the kernel chose it.
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

    /// Sends a message that is always taken: one that ends or releases something, or that workers exchange about their
    /// legs.
    func send(_ message: Message) { mailbox.send(message) }

    /// Sends a message unless the mailbox is full; returns whether it was sent. A full mailbox means that the worker is
    /// tens of thousands of commands behind.
    func offer(_ message: Message) -> Bool { mailbox.offer(message) }

    /// The worker is far behind and takes no new calls: the remaining room is for the calls that it has.
    var isOverloaded: Bool { mailbox.count > Self.mailboxCapacity / 2 }

    /// Sends a packet to the worker; `false` if there was no room.
    func send(_ packet: Span<UInt8>, over path: Path, _ direction: PacketMailbox.Direction) -> Bool {
        packets.send(packet, over: path, direction)
    }

    func join() { thread.withLock { $0 }?.join() }

    var callCount: Int { calls.load(ordering: .relaxed) }
    /// How busy the worker was when it measured itself last, in percent of a processor.
    var load: Int { measuredLoad.load(ordering: .relaxed) }
    /// The worker as one that may take a new call.
    var candidate: WorkerChoice.Candidate {
        WorkerChoice.Candidate(
            load: load, measuredCalls: measuredCalls.load(ordering: .relaxed),
            servedCalls: servedCalls.load(ordering: .relaxed), calls: callCount)
    }

    // MARK: Used by the worker itself

    func takeMessages(into messages: inout [Message]) { mailbox.drain(into: &messages) }
    func setCallCount(_ count: Int) { calls.store(count, ordering: .relaxed) }
    func setLoad(_ load: WorkerLoad) {
        measuredLoad.store(load.percent, ordering: .relaxed)
        servedCalls.store(load.servedCalls, ordering: .relaxed)
        measuredCalls.store(callCount, ordering: .relaxed)
    }
}

extension [WorkerEndpoint] {
    /// How much of the time that workers may use is left, in percent: the mean of all.
    ///
    /// - Parameter limit: what one may use, in percent of a processor; `nil`: all of it.
    func room(upTo limit: Int?) -> Int {
        let limit = limit ?? 100
        return reduce(0) { $0 + Swift.max(0, limit - $1.load) } * 100 / (limit * count)
    }
}
