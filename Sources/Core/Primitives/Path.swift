/// The socket that a packet comes in on or leaves by: an index into the UDP sockets of all workers, or into all their
/// TCP listeners.
package struct SocketIndex: Hashable, Sendable {
    /// The index, from 0.
    package let rawValue: UInt16

    /// Makes an index.
    @inlinable
    package init(_ rawValue: UInt16) { self.rawValue = rawValue }
}

/// One of a worker's TCP connections: its place in the worker's table, and the number of connections that had the place
/// before it.
///
/// An ID is never reused, so that a late message about a closed connection cannot affect a later one.
package struct ConnectionID: Hashable, Sendable {
    /// The place in the worker's table.
    package let place: UInt16
    /// The number of connections that had the place before.
    package let generation: UInt32

    /// Makes an ID of its parts; each parameter is the property of that name.
    @inlinable
    package init(place: UInt16, generation: UInt32) {
        self.place = place
        self.generation = generation
    }

    /// Place and generation in one number of 48 bits.
    @inlinable
    package var rawValue: UInt64 { UInt64(generation) << 16 | UInt64(place) }

    /// Makes an ID of such a number; higher bits are ignored.
    @inlinable
    package init(rawValue: UInt64) {
        self.init(place: UInt16(truncatingIfNeeded: rawValue), generation: UInt32(truncatingIfNeeded: rawValue >> 16))
    }
}

/// The two ends of a flow and its transport: a socket of the gateway and the remote address (base and remote candidate
/// of an ICE candidate pair, RFC 8445 §4), over UDP or over one TCP connection (RFC 6544).
package struct Path: Hashable, Sendable {
    /// The transport of a flow.
    package enum Transport: Hashable, Sendable {
        /// UDP.
        case udp
        /// A TCP connection; `local` is then the listener that accepted it.
        case tcp(ConnectionID)
    }

    /// The gateway's socket.
    package var local: SocketIndex
    /// The address and port of the peer, as the gateway sees them.
    package var remote: SocketAddress
    /// The transport of the flow.
    package var transport: Transport

    /// Makes a path of its parts; each parameter is the property of that name. The transport is UDP unless given.
    @inlinable
    package init(local: SocketIndex, remote: SocketAddress, transport: Transport = .udp) {
        self.local = local
        self.remote = remote
        self.transport = transport
    }

    /// The TCP connection of the path; `nil` over UDP.
    @inlinable
    package var connection: ConnectionID? {
        switch transport {
        case .udp: nil
        case .tcp(let connection): connection
        }
    }

    /// Mixes all fields into few words. It is called for every packet, so the hasher should run rarely.
    @inlinable
    package func hash(into hasher: inout Hasher) {
        hasher.combine(remote)
        switch transport {
        case .udp: hasher.combine(UInt64(local.rawValue))
        case .tcp(let connection): hasher.combine(connection.rawValue << 16 | UInt64(local.rawValue))
        }
    }
}
