internal import CLinux
internal import Glibc
package import Primitives
internal import Synchronization

/// A non-blocking UDP socket bound to one address of one family.
///
/// Reading and writing go through `DatagramPool`. The last reference closes it.
@safe
package final class UDPSocket: Sendable {
    /// The address and port it is bound to; the kernel's choice if port 0 was asked for.
    package let localAddress: SocketAddress
    /// −1 once closed, so that a late call fails with EBADF instead of reaching a stranger's descriptor.
    private let descriptor: Atomic<Int32>

    /// - Parameters:
    ///   - receiveBufferBytes: SO_RCVBUF, which the kernel caps at `net.core.rmem_max`; `nil` keeps its default.
    ///   - sendBufferBytes: SO_SNDBUF, capped at `net.core.wmem_max`.
    package init(bind address: SocketAddress, receiveBufferBytes: Int? = nil, sendBufferBytes: Int? = nil)
        throws(SocketError)
    {
        let family = address.address.family == .v4 ? AF_INET : AF_INET6
        let kind = Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        let descriptor = socket(family, kind, Int32(IPPROTO_UDP))
        guard descriptor >= 0 else { throw SocketError(latest: "socket") }
        do {
            if family == AF_INET6 {
                try SocketSetup.set(Int32(IPPROTO_IPV6), IPV6_V6ONLY, to: 1, on: descriptor)
            }
            if let receiveBufferBytes {
                try SocketSetup.set(SOL_SOCKET, SO_RCVBUF, to: receiveBufferBytes, on: descriptor)
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

    /// Closes it; packets that still arrive are answered by the kernel with "port unreachable".
    package func close() {
        let closing = descriptor.exchange(-1, ordering: .acquiringAndReleasing)
        if closing >= 0 { Glibc.close(closing) }
    }

    var fileDescriptor: Int32 { descriptor.load(ordering: .relaxed) }
}
