internal import CLinux
internal import Glibc
internal import Primitives

/// Memory for an IPv4 or IPv6 address in the layout of the kernel (ip(7), ipv6(7)).
///
/// Conversions read and write the fields in place and allocate nothing.
enum AddressStorage {
    /// The bytes of `sockaddr_in6`, the larger of both layouts.
    static let size = MemoryLayout<sockaddr_in6>.size

    /// Writes `address`. Returns the number of bytes that it takes.
    @inline(__always)
    static func write(_ address: SocketAddress, to storage: UnsafeMutableRawPointer) -> socklen_t {
        switch address.address.family {
        case .v4:
            var v4 = sockaddr_in()
            v4.sin_family = sa_family_t(AF_INET)
            v4.sin_port = address.port.bigEndian
            v4.sin_addr.s_addr = UInt32(truncatingIfNeeded: address.address.low).bigEndian
            unsafe storage.storeBytes(of: v4, as: sockaddr_in.self)
            return socklen_t(MemoryLayout<sockaddr_in>.size)
        case .v6:
            unsafe storage.storeBytes(of: sockaddr_in6(), as: sockaddr_in6.self)
            unsafe storage.storeBytes(of: sa_family_t(AF_INET6), as: sa_family_t.self)
            unsafe storage.storeBytes(of: address.port.bigEndian, toByteOffset: 2, as: UInt16.self)
            unsafe storage.storeBytes(of: address.address.high.bigEndian, toByteOffset: 8, as: UInt64.self)
            unsafe storage.storeBytes(of: address.address.low.bigEndian, toByteOffset: 16, as: UInt64.self)
            return socklen_t(size)
        }
    }

    /// The address that the kernel has written; `nil` for another address family.
    @inline(__always)
    static func read(_ storage: UnsafeRawPointer) -> SocketAddress? {
        let port = unsafe UInt16(bigEndian: storage.loadUnaligned(fromByteOffset: 2, as: UInt16.self))
        switch Int32(unsafe storage.loadUnaligned(as: sa_family_t.self)) {
        case AF_INET:
            let bits = unsafe UInt32(bigEndian: storage.loadUnaligned(fromByteOffset: 4, as: UInt32.self))
            return SocketAddress(IPAddress(v4: bits), port: port)
        case AF_INET6:
            let high = unsafe UInt64(bigEndian: storage.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
            let low = unsafe UInt64(bigEndian: storage.loadUnaligned(fromByteOffset: 16, as: UInt64.self))
            return SocketAddress(IPAddress(v6: high, low), port: port)
        default:
            return nil
        }
    }
}
