/// An IP address and a port: one end of a UDP flow.
package struct SocketAddress: Hashable, Sendable, CustomStringConvertible {
    package var address: IPAddress
    package var port: UInt16

    @inlinable
    package init(_ address: IPAddress, port: UInt16) {
        self.address = address
        self.port = port
    }

    /// `192.0.2.1:5000` or `[2001:db8::1]:5000`.
    package var description: String {
        switch address.family {
        case .v4: "\(address):\(port)"
        case .v6: "[\(address)]:\(port)"
        }
    }

    // Hashed per packet: one word mixed from all fields, so that the hasher runs once.
    @inlinable
    package func hash(into hasher: inout Hasher) {
        hasher.combine(address.high ^ (address.low << 16 | address.low >> 48) ^ UInt64(port))
    }
}

/// Which of a worker's sockets a datagram came in on or leaves by; an index into its list.
package struct SocketIndex: Hashable, Sendable {
    package let rawValue: UInt16

    @inlinable
    package init(_ rawValue: UInt16) { self.rawValue = rawValue }
}

/// The two ends of a UDP flow: one of our sockets and the far address (the base and the remote candidate
/// of an ICE candidate pair, RFC 8445 §4).
package struct Path: Hashable, Sendable {
    package var local: SocketIndex
    package var remote: SocketAddress

    @inlinable
    package init(local: SocketIndex, remote: SocketAddress) {
        self.local = local
        self.remote = remote
    }
}
