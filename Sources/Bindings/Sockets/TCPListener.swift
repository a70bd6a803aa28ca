internal import CLinux
internal import Glibc
package import Primitives
internal import Synchronization

/// A non-blocking TCP socket that accepts connections on one address of one family. It is closed with its last
/// reference.
@safe
package final class TCPListener: Sendable {
    /// The result of `accept`.
    package enum Arrival: Sendable {
        /// A connection that was accepted.
        case connection(TCPConnection)
        /// A connection was closed because the process had no descriptor for it, or had broken before it was accepted.
        case turnedAway
        /// No connection waits.
        case nobody
    }

    /// The address and port to which the socket is bound; the kernel's choice if port 0 was requested.
    package let localAddress: SocketAddress
    private let descriptor: Atomic<Int32>
    /// Released for a moment when the process has no descriptor left: the waiting connection is then accepted and
    /// closed. Otherwise it would end every wait at once.
    private let spare: Mutex<SpareDescriptor>

    /// Binds the socket and starts to listen.
    ///
    /// - Parameters:
    ///   - address: The address and port; port 0 lets the kernel choose. An IPv6 socket accepts IPv6 only.
    ///   - backlog: The most connections that the kernel keeps until they are accepted, limited by
    ///     `net.core.somaxconn`.
    /// - Throws: `SocketError` with the system call that failed.
    package init(bind address: SocketAddress, backlog: Int32 = 256) throws(SocketError) {
        let family = address.address.family == .v4 ? AF_INET : AF_INET6
        let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        let descriptor = socket(family, kind, Int32(IPPROTO_TCP))
        guard descriptor >= 0 else { throw SocketError(latest: "socket") }
        do throws(SocketError) {
            // Connections of an earlier process in TIME_WAIT must not block the port.
            try SocketSetup.set(SOL_SOCKET, SO_REUSEADDR, to: 1, on: descriptor)
            if family == AF_INET6 { try SocketSetup.set(Int32(IPPROTO_IPV6), IPV6_V6ONLY, to: 1, on: descriptor) }
            localAddress = try SocketSetup.bind(descriptor, to: address)
            guard listen(descriptor, backlog) == 0 else { throw SocketError(latest: "listen") }
        } catch {
            Glibc.close(descriptor)
            throw error
        }
        self.descriptor = Atomic(descriptor)
        spare = Mutex(SpareDescriptor())
    }

    deinit { close() }

    /// Closes the socket. The kernel refuses later connections. A second call does nothing.
    package func close() {
        let closing = descriptor.exchange(-1, ordering: .acquiringAndReleasing)
        if closing >= 0 { Glibc.close(closing) }
        spare.withLock { $0.release() }
    }

    /// Accepts the next connection.
    package func accept() -> Arrival {
        var storage = sockaddr_storage()
        var size = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let accepted = unsafe withUnsafeMutableBytes(of: &storage) { bytes in
            unsafe Glibc.accept(fileDescriptor, bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self), &size)
        }
        guard accepted >= 0 else { return failure(errno) }
        let remote = unsafe withUnsafeBytes(of: &storage) { bytes in
            unsafe bytes.baseAddress.flatMap { unsafe AddressStorage.read($0) }
        }
        guard let remote else { preconditionFailure("an Internet socket accepted from another family") }
        do throws(SocketError) {
            return .connection(try TCPConnection(accepted: accepted, from: remote))
        } catch {
            // The connection broke between accept and setsockopt.
            return .turnedAway
        }
    }

    var fileDescriptor: Int32 { descriptor.load(ordering: .relaxed) }

    private func failure(_ code: Int32) -> Arrival {
        switch code {
        case EAGAIN, EBADF, EINVAL: return .nobody
        case EMFILE, ENFILE:
            spare.withLock { spare in
                spare.release()
                let unwanted = Glibc.accept(fileDescriptor, nil, nil)
                if unwanted >= 0 { Glibc.close(unwanted) }
                _ = spare.retake()
            }
            return .turnedAway
        // These are errors of the connection, not of the listener (accept(2)).
        default: return .turnedAway
        }
    }
}
