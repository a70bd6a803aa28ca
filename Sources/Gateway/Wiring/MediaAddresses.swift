package import Primitives

/// Which local addresses media is received on, and which addresses peers are told.
package struct MediaAddresses: Equatable {
    /// One address of this machine.
    package struct Interface: Equatable {
        package var address: IPAddress
        package var isLoopback: Bool
        package var isUp: Bool

        package init(address: IPAddress, isLoopback: Bool, isUp: Bool) {
            self.address = address
            self.isLoopback = isLoopback
            self.isUp = isUp
        }
    }

    package var bind: [IPAddress]
    package var advertise: [IPAddress]

    /// Fills in what the configuration leaves to the machine.
    ///
    /// One socket per address rather than one for all: an answer then leaves from the address the check came to, which a
    /// peer insists on (RFC 8445 §7.2.5.2.1).
    ///
    /// - Parameter includesLoopback: some browsers have no other address, others never use these.
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
