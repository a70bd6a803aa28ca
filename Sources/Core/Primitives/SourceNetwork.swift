/// Where somebody comes from, as far as one customer line goes: an IPv4 address or an IPv6 /64.
package struct SourceNetwork: Hashable, Sendable {
    private let family: IPAddress.Family
    private let bits: UInt64

    package init(_ address: IPAddress) {
        let address = address.unmapped
        family = address.family
        bits = address.family == .v4 ? address.low : address.high
    }

    private init(_ family: IPAddress.Family, _ bits: UInt64) {
        self.family = family
        self.bits = bits
    }

    /// What one customer may be given: an IPv4 address, or an IPv6 /48 with its 65,536 networks (RFC 6177 §2).
    package var site: SourceNetwork { family == .v4 ? self : SourceNetwork(family, bits & ~0xFFFF) }

    /// The family's number and the bits, in network order.
    package var bytes: [UInt8] {
        var writer = ByteWriter(reserving: 9)
        writer.write(family.rawValue)
        writer.write(bits)
        return writer.bytes
    }
}
