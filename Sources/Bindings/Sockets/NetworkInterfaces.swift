internal import CLinux
internal import Glibc
package import Primitives

/// The addresses this machine has, for host candidates and for the choice of a default.
package enum NetworkInterfaces {
    package struct Entry: Hashable, Sendable {
        /// The interface, such as `eth0`.
        package var name: String
        package var address: IPAddress
        package var isLoopback: Bool
        package var isUp: Bool
    }

    /// One entry per IPv4 or IPv6 address, in the kernel's order.
    package static func addresses() throws(SocketError) -> [Entry] {
        var first: UnsafeMutablePointer<ifaddrs>?
        guard unsafe getifaddrs(&first) == 0 else { throw SocketError(latest: "getifaddrs") }
        defer { unsafe freeifaddrs(first) }
        var entries: [Entry] = []
        var next = unsafe first
        while let interface = unsafe next {
            unsafe next = interface.pointee.ifa_next
            // Interfaces without an address have entries too.
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
