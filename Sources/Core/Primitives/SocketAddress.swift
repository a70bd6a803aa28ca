/// An IP address and a port: one end of a flow.
package struct SocketAddress: Hashable, Sendable, CustomStringConvertible {
    /// The IP address.
    package var address: IPAddress
    /// The port.
    package var port: UInt16

    /// Makes an address of its parts; each parameter is the property of that name.
    @inlinable
    package init(_ address: IPAddress, port: UInt16) {
        self.address = address
        self.port = port
    }

    /// The address as text: `192.0.2.1:5000` or `[2001:db8::1]:5000`.
    package var description: String {
        switch address.family {
        case .v4: "\(address):\(port)"
        case .v6: "[\(address)]:\(port)"
        }
    }

    /// Mixes all fields into one word. It is called for every packet, and the hasher runs only once this way.
    @inlinable
    package func hash(into hasher: inout Hasher) {
        hasher.combine(address.high ^ (address.low << 16 | address.low >> 48) ^ UInt64(port))
    }
}
