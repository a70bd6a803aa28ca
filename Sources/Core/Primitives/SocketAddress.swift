/// An IP address and a port: one end of a flow.
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
