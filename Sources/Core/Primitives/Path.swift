/// Which socket a packet came in on or leaves by; an index into the list of those of all workers, or of all their listeners.
package struct SocketIndex: Hashable, Sendable {
    package let rawValue: UInt16

    @inlinable
    package init(_ rawValue: UInt16) { self.rawValue = rawValue }
}

/// One of a worker's TCP connections: its place in the worker's table, and how many had that place before it.
///
/// A name is never given twice, so that a late word about a closed connection cannot hit the one that follows it.
package struct ConnectionID: Hashable, Sendable {
    package let place: UInt16
    package let generation: UInt32

    @inlinable
    package init(place: UInt16, generation: UInt32) {
        self.place = place
        self.generation = generation
    }

    /// Both in one number of 48 bits.
    @inlinable
    package var rawValue: UInt64 { UInt64(generation) << 16 | UInt64(place) }

    @inlinable
    package init(rawValue: UInt64) {
        self.init(place: UInt16(truncatingIfNeeded: rawValue), generation: UInt32(truncatingIfNeeded: rawValue >> 16))
    }
}

/// The two ends of a flow and what carries it: one of our sockets and the far address (the base and the remote
/// candidate of an ICE candidate pair, RFC 8445 §4), over UDP or over one TCP connection (RFC 6544).
package struct Path: Hashable, Sendable {
    package enum Transport: Hashable, Sendable {
        case udp
        /// `local` is then the listener that accepted the connection.
        case tcp(ConnectionID)
    }

    package var local: SocketIndex
    package var remote: SocketAddress
    package var transport: Transport

    @inlinable
    package init(local: SocketIndex, remote: SocketAddress, transport: Transport = .udp) {
        self.local = local
        self.remote = remote
        self.transport = transport
    }

    /// The connection that carries it; `nil` over UDP.
    @inlinable
    package var connection: ConnectionID? {
        switch transport {
        case .udp: nil
        case .tcp(let connection): connection
        }
    }

    // Hashed per packet, so that the hasher runs as rarely as it can.
    @inlinable
    package func hash(into hasher: inout Hasher) {
        hasher.combine(remote)
        switch transport {
        case .udp: hasher.combine(UInt64(local.rawValue))
        case .tcp(let connection): hasher.combine(connection.rawValue << 16 | UInt64(local.rawValue))
        }
    }
}
