package import Primitives

/// The local addresses on which media is received, and the addresses that peers are told.
package struct MediaAddresses: Equatable {
    /// One address of this machine.
    package struct Interface: Equatable {
        /// The IP address of the interface.
        package var address: IPAddress
        /// Whether the interface is the loopback interface.
        package var isLoopback: Bool
        /// Whether the interface is in use.
        package var isUp: Bool

        /// Makes an interface of its parts; each parameter is the property of that name.
        package init(address: IPAddress, isLoopback: Bool, isUp: Bool) {
            self.address = address
            self.isLoopback = isLoopback
            self.isUp = isUp
        }
    }

    /// The local addresses on which media is received. Each one has a socket.
    package var bind: [IPAddress]
    /// The addresses of the gateway's ICE candidates.
    package var advertise: [IPAddress]

    /// Fills in what the configuration leaves to the machine.
    ///
    /// There is one socket per address rather than one for all. An answer then leaves from the address to which the
    /// check came, which peers insist on (RFC 8445 §7.2.5.2.1).
    ///
    /// - Parameters:
    ///   - bind: `media.bind`; empty: all usable addresses of the machine.
    ///   - advertise: `media.advertise`; empty: the addresses of `bind`, with all usable ones of its family in place of
    ///     an unspecified address.
    ///   - interfaces: the addresses of this machine.
    ///   - includesLoopback: whether loopback addresses are usable. Some browsers have no other address, others never
    ///     use these.
    package init(bind: [IPAddress], advertise: [IPAddress], interfaces: [Interface], includesLoopback: Bool) {
        var usable: [IPAddress] = []
        for interface in interfaces
        where interface.isUp && !interface.address.isLinkLocal && (includesLoopback || !interface.isLoopback) {
            if !usable.contains(interface.address) { usable.append(interface.address) }
        }
        self.bind = bind.isEmpty ? usable : bind
        if !advertise.isEmpty {
            self.advertise = advertise
        } else {
            self.advertise = []
            for address in self.bind {
                let meant = address.isUnspecified ? usable.filter { $0.family == address.family } : [address]
                self.advertise += meant.filter { !self.advertise.contains($0) }
            }
        }
    }
}
