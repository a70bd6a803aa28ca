internal import CLinux
internal import Glibc
package import Primitives

/// The addresses of this machine, for host candidates and for the choice of a default.
package enum NetworkInterfaces {
    /// An address of an interface.
    package struct Entry: Hashable, Sendable {
        /// The name of the interface, such as `eth0`.
        package var name: String
        /// The address, IPv4 or IPv6.
        package var address: IPAddress
        /// Whether the interface is a loopback interface.
        package var isLoopback: Bool
        /// Whether the interface is up.
        package var isUp: Bool
    }

    /// One entry per IPv4 or IPv6 address, in the order of the kernel.
    ///
    /// - Throws: `SocketError` with the errno of getifaddrs(3).
    package static func addresses() throws(SocketError) -> [Entry] {
        var first: UnsafeMutablePointer<ifaddrs>?
        guard unsafe getifaddrs(&first) == 0 else { throw SocketError(latest: "getifaddrs") }
        defer { unsafe freeifaddrs(first) }
        var entries: [Entry] = []
        var next = unsafe first
        while let interface = unsafe next {
            unsafe next = interface.pointee.ifa_next
            // Interfaces without an address have entries, too.
            guard let name = unsafe interface.pointee.ifa_addr,
                let found = unsafe AddressStorage.read(UnsafeRawPointer(name))
            else { continue }
            let flags = unsafe interface.pointee.ifa_flags
            entries.append(
                Entry(
                    name: unsafe String(cString: interface.pointee.ifa_name),
                    address: found.address,
                    isLoopback: flags & UInt32(IFF_LOOPBACK) != 0,
                    isUp: flags & UInt32(IFF_UP) != 0
                )
            )
        }
        return entries
    }
}
