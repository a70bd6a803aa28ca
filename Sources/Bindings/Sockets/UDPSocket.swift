internal import CLinux
internal import Glibc
package import Primitives
internal import Synchronization

/// A non-blocking UDP socket bound to one address of one family.
///
/// Datagrams are read and written by `DatagramPool`. The socket is closed with its last reference.
///
/// A datagram over IPv4 that fits its path is never fragmented, and the kernel need not draw a number for it by which
/// fragments are found (RFC 6864 §4.1). One that is larger than its path takes is sent in fragments all the same.
@safe
package final class UDPSocket: Sendable {
    /// The address and port to which the socket is bound; the kernel's choice if port 0 was requested.
    package let localAddress: SocketAddress
    /// −1 after closing, so that a late call fails with EBADF and does not reach a descriptor of another owner.
    private let descriptor: Atomic<Int32>

    /// Binds a socket.
    ///
    /// - Parameters:
    ///   - address: The address and port; port 0 lets the kernel choose. An IPv6 socket is for IPv6 only.
    ///   - receiveBufferBytes: SO_RCVBUF, which the kernel limits to `net.core.rmem_max` unless the process may
    ///     administer the network; `nil` keeps the kernel's default. `receiveBufferBytes` says what was granted.
    ///   - sendBufferBytes: SO_SNDBUF, limited to `net.core.wmem_max`; `nil` keeps the kernel's default.
    /// - Throws: `SocketError` with the system call that failed.
    package init(bind address: SocketAddress, receiveBufferBytes: Int? = nil, sendBufferBytes: Int? = nil)
        throws(SocketError)
    {
        let family = address.address.family == .v4 ? AF_INET : AF_INET6
        let kind = Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        let descriptor = socket(family, kind, Int32(IPPROTO_UDP))
        guard descriptor >= 0 else { throw SocketError(latest: "socket") }
        do throws(SocketError) {
            if family == AF_INET6 {
                try SocketSetup.set(Int32(IPPROTO_IPV6), IPV6_V6ONLY, to: 1, on: descriptor)
            } else {
                // A kernel that refuses goes on drawing numbers.
                _ = clinux_allow_fragments(descriptor, 0)
            }
            if let receiveBufferBytes {
                do {
                    try SocketSetup.set(SOL_SOCKET, SO_RCVBUFFORCE, to: receiveBufferBytes, on: descriptor)
                } catch {
                    // The process may not: it gets what everybody gets.
                    try SocketSetup.set(SOL_SOCKET, SO_RCVBUF, to: receiveBufferBytes, on: descriptor)
                }
            }
            if let sendBufferBytes { try SocketSetup.set(SOL_SOCKET, SO_SNDBUF, to: sendBufferBytes, on: descriptor) }
            localAddress = try SocketSetup.bind(descriptor, to: address)
        } catch {
            Glibc.close(descriptor)
            throw error
        }
        self.descriptor = Atomic(descriptor)
    }

    deinit { close() }

    /// Closes the socket. The kernel answers later packets with "port unreachable". A second call does nothing.
    package func close() {
        let closing = descriptor.exchange(-1, ordering: .acquiringAndReleasing)
        if closing >= 0 { Glibc.close(closing) }
    }

    /// The receive buffer that the kernel has granted, in the bytes that were asked for (it keeps as many again for its
    /// own records).
    ///
    /// - Throws: `SocketError` with the errno of getsockopt(2).
    package var receiveBufferBytes: Int { get throws(SocketError) { try memory(.receiveBuffer) / 2 } }

    /// The datagrams that the kernel has dropped since the socket was opened, because its receive buffer was full or
    /// the checksum of a datagram was wrong; it wraps at 2³².
    ///
    /// - Throws: `SocketError` with the errno of getsockopt(2).
    package var droppedCount: UInt32 { get throws(SocketError) { UInt32(truncatingIfNeeded: try memory(.drops)) } }

    /// A place in what `SO_MEMINFO` tells (linux/sock_diag.h).
    private enum MemoryField: Int {
        case receiveBuffer = 1
        case drops = 8
    }

    private func memory(_ field: MemoryField) throws(SocketError) -> Int {
        var fields = [9 of UInt32](repeating: 0)
        var size = socklen_t(MemoryLayout<[9 of UInt32]>.size)
        guard unsafe getsockopt(fileDescriptor, SOL_SOCKET, SO_MEMINFO, &fields, &size) == 0 else {
            throw SocketError(latest: "getsockopt")
        }
        return Int(fields[field.rawValue])
    }

    var fileDescriptor: Int32 { descriptor.load(ordering: .relaxed) }
}
