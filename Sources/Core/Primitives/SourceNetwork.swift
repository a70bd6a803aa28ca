/// The network of a client, for limits per customer line: an IPv4 address or an IPv6 /64.
package struct SourceNetwork: Hashable, Sendable {
    private let family: IPAddress.Family
    private let bits: UInt64

    /// Makes the network of an address. An IPv4 address that came mapped on an IPv6 socket counts as IPv4.
    package init(_ address: IPAddress) {
        let address = address.unmapped
        family = address.family
        bits = address.family == .v4 ? address.low : address.high
    }

    private init(_ family: IPAddress.Family, _ bits: UInt64) {
        self.family = family
        self.bits = bits
    }

    /// The largest network that one customer may have: an IPv4 address, or an IPv6 /48 with its 65,536 networks
    /// (RFC 6177 §2).
    package var site: SourceNetwork { family == .v4 ? self : SourceNetwork(family, bits & ~0xFFFF) }

    /// Reads what `bytes` has written; `nil` for anything else.
    package init?(bytes: [UInt8]) {
        guard bytes.count == 9, let family = IPAddress.Family(rawValue: bytes[0]) else { return nil }
        self.init(family, bytes.dropFirst().reduce(0) { $0 << 8 | UInt64($1) })
    }

    /// The number of the IP version, then the bits of the network in network order.
    package var bytes: [UInt8] {
        var writer = ByteWriter(reserving: 9)
        writer.write(family.rawValue)
        writer.write(bits)
        return writer.bytes
    }
}
