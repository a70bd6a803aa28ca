internal import ICE
package import Primitives
internal import Sockets

/// A peer's way to the gateway: a UDP socket, or TCP connections that carry frames (RFC 4571). Belongs to one thread.
package final class PeerLink {
    package enum Transport: Sendable {
        case udp
        case tcp
    }

    private static let connectionID = ConnectionID(place: 0, generation: 0)

    private let transport: Transport
    private let socket: UDPSocket
    private var pool: DatagramPool
    private var poller: Poller
    private var connection: TCPConnection?
    private var reader = FrameReader(maximumLength: DatagramPool.slotSize)
    private var backlog = FrameBacklog(capacity: 1 << 20)
    private var bytes = [UInt8](repeating: 0, count: 65_536)
    /// Whether the gateway has closed the connection.
    package private(set) var isClosed = false

    /// - Parameter address: of a loopback interface; the gateway's family.
    package init(_ transport: Transport = .udp, on address: IPAddress = IPAddress(v4: 0x7F00_0001)) throws {
        self.transport = transport
        socket = try UDPSocket(bind: SocketAddress(address, port: 0))
        pool = DatagramPool(sockets: [socket])
        poller = try Poller(wakeUp: WakeUp())
        try poller.add(socket, as: SocketIndex(0))
    }

    /// The UDP socket's.
    package var localAddress: SocketAddress { socket.localAddress }

    /// Opens the connection, once; over UDP there is none.
    package func open(to gateway: SocketAddress) throws {
        guard case .tcp = transport, connection == nil else { return }
        let opened = try TCPConnection(connectingTo: gateway)
        try poller.add(opened, as: Self.connectionID)
        connection = opened
    }

    package func close() { connection?.close() }

    package func queue(_ packet: Span<UInt8>, to gateway: SocketAddress) {
        switch transport {
        case .udp: pool.queue(copying: packet, to: gateway, via: SocketIndex(0))
        case .tcp: _ = backlog.append(packet)  // a megabyte behind: dropped, as any network would
        }
    }

    package func flush() {
        _ = pool.flush()
        while let connection, !backlog.isEmpty {
            guard case .bytes(let count) = connection.send(backlog.front) else { return }
            backlog.removeFirst(count)
        }
    }

    /// Sends bytes as they are, without a frame around them; over TCP only.
    package func sendUnframed(_ bytes: [UInt8]) {
        var rest = bytes[...]
        while let connection, !rest.isEmpty {
            switch connection.send(Array(rest).span) {
            case .bytes(let count): rest = rest.dropFirst(count)
            // A loopback connection is made at once, and its buffer is emptied by another thread.
            case .wouldBlock: continue
            case .closed: return
            }
        }
    }

    /// Waits for packets, and hands over those that are there.
    package func receive(until deadline: MonotonicTime?, _ take: ([UInt8]) -> Void) throws {
        let ready = try poller.wait(until: deadline)
        if ready > 0 {
            for slot in 0..<pool.receive(from: SocketIndex(0)) { take([UInt8](copying: pool.datagram(slot))) }
        }
        if poller.readyConnectionCount > 0 { try readFrames(take) }
        flush()
    }

    private func readFrames(_ take: ([UInt8]) -> Void) throws {
        guard let connection else { return }
        var room = bytes.mutableSpan
        switch connection.receive(into: &room) {
        case .wouldBlock: return
        case .closed:
            isClosed = true
            connection.close()
        case .bytes(let count):
            let arrived = Array(bytes[..<count])
            var offset = 0
            while let packet = try nextPacket(in: arrived, at: &offset) { take(packet) }
        }
    }

    private func nextPacket(in arrived: [UInt8], at offset: inout Int) throws -> [UInt8]? {
        var packet = [UInt8](repeating: 0, count: DatagramPool.slotSize)
        var room = packet.mutableSpan
        guard let length = try reader.next(in: arrived.span, at: &offset, into: &room) else { return nil }
        return Array(packet[..<length])
    }
}
