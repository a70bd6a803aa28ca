import ArgumentParser
import Glibc
import Primitives
import RelayBaseline

/// The one socket of many scripted peers, each with an address of its own; no packet costs an allocation. Belongs to
/// one thread.
final class PeerSocket {
    private let descriptor: Int32
    private var outgoing = PacketBatch()
    private var incoming = PacketBatch()
    /// Packets that found the send buffer full.
    private(set) var unsent = 0
    /// The port that all peers have.
    let port: UInt16

    init() throws {
        descriptor = peer_socket_open()
        guard descriptor >= 0 else { throw ValidationError("no socket for the peers: error \(errno)") }
        port = peer_socket_port(descriptor)
    }

    deinit { close(descriptor) }

    /// The address of a peer.
    func address(of peer: UInt16) -> SocketAddress {
        SocketAddress(IPAddress(v4: 0x7F01_0000 + UInt32(peer)), port: port)
    }

    /// Packets that the kernel has dropped because the receive buffer was full.
    ///
    /// - Throws: `ValidationError` if the kernel does not tell.
    func dropped() throws -> Int {
        let drops = peer_socket_drops(descriptor)
        guard drops >= 0 else { throw ValidationError("the kernel does not count what it drops: error \(errno)") }
        return Int(drops)
    }

    /// Queues a packet of a peer; `write` puts it into the slot it is given and returns its length.
    func queue(
        from peer: UInt16, to destination: SocketAddress, _ write: (inout MutableSpan<UInt8>) throws -> Int
    ) rethrows {
        if outgoing.isFull { flush() }
        try outgoing.append(from: peer, to: destination, write)
    }

    func queue(_ packet: [UInt8], from peer: UInt16, to destination: SocketAddress) {
        queue(from: peer, to: destination) { slot in
            for index in packet.indices { slot[index] = packet[index] }
            return packet.count
        }
    }

    func flush() { unsent += outgoing.send(over: descriptor) }

    /// Hands over what waits, at most a batch: whose it is, and its slot with its length.
    func receive(_ take: (_ peer: UInt16, _ slot: inout MutableSpan<UInt8>, _ length: Int) throws -> Void) rethrows {
        incoming.receive(from: descriptor)
        try incoming.forEach(take)
    }
}

/// As many packets as one system call takes.
private struct PacketBatch {
    private static let capacity = peer_socket_batch
    private static let slotSize = peer_socket_slot

    private var bytes = [UInt8](repeating: 0, count: PacketBatch.capacity * PacketBatch.slotSize)
    private var packets = [peer_packet](repeating: peer_packet(), count: PacketBatch.capacity)
    private var count = 0

    var isFull: Bool { count == Self.capacity }

    mutating func append(
        from peer: UInt16, to destination: SocketAddress, _ write: (inout MutableSpan<UInt8>) throws -> Int
    ) rethrows {
        let start = count * Self.slotSize
        var all = bytes.mutableSpan
        var slot = all._mutatingExtracting(start..<(start + Self.slotSize))
        let length = try write(&slot)
        packets[count] = peer_packet(
            host: UInt32(truncatingIfNeeded: destination.address.low), port: destination.port, peer: peer,
            length: UInt16(length))
        count += 1
    }

    /// Empties the batch; returns how many packets were lost.
    mutating func send(over descriptor: Int32) -> Int {
        guard count > 0 else { return 0 }
        defer { count = 0 }
        return count - Int(unsafe peer_socket_send(descriptor, &bytes, packets, Int32(count)))
    }

    mutating func receive(from descriptor: Int32) {
        count = Int(unsafe peer_socket_receive(descriptor, &bytes, &packets))
    }

    mutating func forEach(_ take: (UInt16, inout MutableSpan<UInt8>, Int) throws -> Void) rethrows {
        for index in 0..<count {
            let packet = packets[index]
            var all = bytes.mutableSpan
            var slot = all._mutatingExtracting((index * Self.slotSize)..<((index + 1) * Self.slotSize))
            try take(packet.peer, &slot, Int(packet.length))
        }
    }
}
