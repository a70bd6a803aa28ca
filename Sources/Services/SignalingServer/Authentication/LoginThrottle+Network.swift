package import CallControl
package import Primitives

extension LoginThrottle {
    /// A source as far as one customer line goes: an IPv4 address or an IPv6 /64.
    package struct Network: Hashable, Sendable {
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
        package var site: Network { family == .v4 ? self : Network(family, bits & ~0xFFFF) }

        /// The family's number and the bits, in network order.
        var bytes: [UInt8] {
            var writer = ByteWriter(reserving: 9)
            writer.write(family.rawValue)
            writer.write(bits)
            return writer.bytes
        }
    }

    /// An account, and where somebody says to be its owner.
    package struct Claim: Hashable, Sendable {
        package let account: UserAddress
        /// `nil`: not known, as over a socket without addresses.
        package let network: Network?

        package init(_ account: UserAddress, from network: Network?) {
            self.account = account
            self.network = network
        }
    }
}
