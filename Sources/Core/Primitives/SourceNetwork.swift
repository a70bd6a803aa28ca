/// Where somebody comes from, as far as one customer line goes: an IPv4 address or an IPv6 /64.
package struct SourceNetwork: Hashable, Sendable {
    private let family: IPAddress.Family
    private let bits: UInt64

    package init(_ address: IPAddress) {
        let address = address.unmapped
        family = address.family
        bits = address.family == .v4 ? address.low : address.high
    }
}
