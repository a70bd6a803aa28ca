import Glibc
import Primitives
import Sockets
import Testing

@Suite struct TCPTests {

    private static let id = ConnectionID(place: 7, generation: 9)

    /// Accepts what connects to a listener of its own.
    private func connected(_ address: String) throws -> (
        listener: TCPListener, active: TCPConnection, passive: TCPConnection
    ) {
        let listener = try TCPListener(bind: SocketAddress(#require(IPAddress(address)), port: 0))
        let active = try TCPConnection(connectingTo: listener.localAddress)
        var poller = try Poller(wakeUp: WakeUp())
        try poller.add(listener, as: SocketIndex(3))
        _ = try poller.wait(until: MonotonicClock.now + .seconds(2))
        let (count, index) = (poller.readyListenerCount, poller.readyListener(0))
        #expect(count == 1 && index == SocketIndex(3))
        guard case .connection(let passive) = listener.accept() else { throw SocketError(call: "accept", code: 0) }
        #expect(passive.remoteAddress.address == IPAddress(address))
        return (listener, active, passive)
    }

    private func receive(_ connection: TCPConnection) -> (TCPConnection.Progress, [UInt8]) {
        var buffer = [UInt8](repeating: 0, count: 100)
        var room = buffer.mutableSpan
        let progress = connection.receive(into: &room)
        guard case .bytes(let count) = progress else { return (progress, []) }
        return (progress, Array(buffer[..<count]))
    }

    @Test(arguments: ["127.0.0.1", "::1"])
    func `bytes go both ways, and the end is seen`(_ address: String) throws {
        let (listener, active, passive) = try connected(address)
        guard case .nobody = listener.accept() else { return #expect(Bool(false), "one connection is accepted once") }
        var poller = try Poller(wakeUp: WakeUp())
        try poller.add(passive, as: Self.id)
        #expect(receive(passive).0 == .wouldBlock)
        let sent = active.send([1, 2, 3].span)
        #expect(sent == .bytes(3))
        let sockets = try poller.wait(until: MonotonicClock.now + .seconds(2))
        let ready = poller.readyConnection(0)
        #expect(sockets == 0)
        #expect(ready.id == Self.id && ready.isReadable && !ready.isWritable)
        #expect(receive(passive).1 == [1, 2, 3])
        active.close()
        _ = try poller.wait(until: MonotonicClock.now + .seconds(2))
        let count = poller.readyConnectionCount
        #expect(count == 1)
        #expect(receive(passive).0 == .closed)
        let late = active.send([1].span)
        #expect(late == .closed)
    }

    @Test func `a reader that does not read makes the writer wait, and the poller says when to go on`() throws {
        let (_, active, passive) = try connected("127.0.0.1")
        let chunk = [UInt8](repeating: 7, count: 65_536)
        var sent = 0
        while case .bytes(let count) = active.send(chunk.span) { sent += count }
        #expect(active.send(chunk.span) == .wouldBlock)
        var poller = try Poller(wakeUp: WakeUp())
        try poller.add(active, as: Self.id)
        try poller.awaitRoom(true, in: active, as: Self.id)
        var taken = 0
        while taken < sent {
            guard case .bytes(let count) = receive(passive).0 else { break }
            taken += count
        }
        _ = try poller.wait(until: MonotonicClock.now + .seconds(2))
        let ready = poller.readyConnection(0)
        #expect(ready.isWritable && !ready.isReadable)
        try poller.awaitRoom(false, in: active, as: Self.id)
        _ = try poller.wait(until: .zero)
        let count = poller.readyConnectionCount
        #expect(count == 0)
    }

    @Test func `an ended connection is read to its end`() throws {
        let (_, active, passive) = try connected("127.0.0.1")
        active.shutDown()
        #expect(receive(active).0 == .closed)
        #expect(receive(passive).0 == .closed)
    }

    @Test func `a port in use is refused`() throws {
        let listener = try TCPListener(bind: SocketAddress(IPAddress(v4: 0x7F00_0001), port: 0))
        let error = #expect(throws: SocketError.self) { try TCPListener(bind: listener.localAddress) }
        #expect(error?.code == EADDRINUSE)
        listener.close()
        guard case .nobody = listener.accept() else { return #expect(Bool(false), "a closed listener accepts nobody") }
    }

    @Test func `slots take packets that came another way`() throws {
        let loopback = IPAddress(v4: 0x7F00_0001)
        let socket = try UDPSocket(bind: SocketAddress(loopback, port: 0))
        var pool = DatagramPool(sockets: [socket], slots: 2, transmitSlots: 1)
        pool.emptySlots()
        let remote = SocketAddress(loopback, port: 9)
        let (first, second, third) = (
            pool.takeSlot(from: remote), pool.takeSlot(from: remote), pool.takeSlot(from: remote)
        )
        #expect(first == 0 && second == 1 && third == nil)
        pool.giveBackSlot()
        var slot = pool.slot(0)
        slot[0] = 42
        pool.fill(0, count: 1)
        let (count, from, isTruncated, byte) = (pool.count(0), pool.remote(0), pool.isTruncated(0), pool.datagram(0)[0])
        #expect(count == 1 && from == remote && !isTruncated && byte == 42)
        // What is sent from there arrives.
        pool.queue(slot: 0, count: 1, to: socket.localAddress, via: SocketIndex(0))
        _ = pool.flush()
        let arrived = pool.receive(from: SocketIndex(0))
        let again = pool.datagram(0)[0]
        #expect(arrived == 1 && again == 42)
    }
}
