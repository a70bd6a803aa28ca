/// Which addresses the gateway's own requests may be sent to.
///
/// A URL that another person has chosen may name, or resolve to, an address behind the operator's firewall: the gateway
/// itself, a database, the metadata service of a cloud. So only addresses that the Internet routes are permitted, and
/// what the operator has allowed besides. The guard judges the address that a connection is made to, not a name: a name
/// may resolve to another address the next time.
package struct AddressGuard: Hashable, Sendable {
    /// Ranges that are permitted although the Internet does not route them, such as the network of a push service.
    package var allowed: [IPAddressRange]

    /// Makes a guard that permits what the Internet routes, and these ranges.
    package init(allowed: [IPAddressRange] = []) { self.allowed = allowed }

    /// Whether a connection may be made to an address. An address that carries an IPv4 address is judged by that one:
    /// mapped (RFC 4291 §2.5.5.2), or translated by NAT64 (RFC 6052 §2.1).
    package func permits(_ address: IPAddress) -> Bool {
        let address = address.unmapped
        if allowed.contains(where: { $0.contains(address) }) { return true }
        switch address.family {
        case .v4:
            return !Self.specialV4.contains { $0.contains(address) }
        case .v6:
            if Self.translated.contains(address) {
                return permits(IPAddress(v4: UInt32(truncatingIfNeeded: address.low)))
            }
            return Self.globalUnicast.contains(address) && !Self.specialV6.contains { $0.contains(address) }
        }
    }

    /// IPv4 ranges of special use (RFC 6890 §2.2.2, and IANA's registry of special-purpose addresses).
    private static let specialV4 = ranges(
        "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24",
        "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24",
        "224.0.0.0/4", "240.0.0.0/4",
        // The metadata service of Microsoft Azure, in a range that is otherwise public.
        "168.63.129.16/32")
    /// All IPv6 addresses that the Internet routes (RFC 4291 §2.4, as assigned so far).
    private static let globalUnicast = range("2000::/3")
    /// Ranges of special use in there: protocol assignments with Teredo, documentation, 6to4.
    private static let specialV6 = ranges("2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20")
    /// IPv4 addresses translated by NAT64.
    private static let translated = range("64:ff9b::/96")

    private static func ranges(_ texts: String...) -> [IPAddressRange] { texts.map(range) }

    private static func range(_ text: String) -> IPAddressRange {
        guard let range = IPAddressRange(text) else { preconditionFailure("\(text) is a range") }
        return range
    }
}
