internal import CLinux
internal import Glibc
package import Primitives
internal import Synchronization

/// A non-blocking TCP socket that waits for connections on one address of one family. The last reference closes it.
@safe
package final class TCPListener: Sendable {
    package enum Arrival: Sendable {
        case connection(TCPConnection)
        /// Somebody came for whom the process has no descriptor, or who was gone again.
        case turnedAway
        case nobody
    }

    /// The address and port it is bound to; the kernel's choice if port 0 was asked for.
    package let localAddress: SocketAddress
    private let descriptor: Atomic<Int32>
    /// Given up for a moment when the process runs out of descriptors: whoever waits is then accepted and closed, instead
    /// of making every wait end at once.
    private let spare: Mutex<SpareDescriptor>

    /// - Parameter backlog: connections that the kernel keeps for us, capped at `net.core.somaxconn`.
    package init(bind address: SocketAddress, backlog: Int32 = 256) throws(SocketError) {
        let family = address.address.family == .v4 ? AF_INET : AF_INET6
        let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        let descriptor = socket(family, kind, Int32(IPPROTO_TCP))
        guard descriptor >= 0 else { throw SocketError(latest: "socket") }
        do throws(SocketError) {
            // Connections of an earlier process in TIME_WAIT do not keep the port.
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

    /// Closes it; whoever connects now is refused by the kernel.
    package func close() {
        let closing = descriptor.exchange(-1, ordering: .acquiringAndReleasing)
        if closing >= 0 { Glibc.close(closing) }
        spare.withLock { $0.release() }
    }

    /// The next one who waits.
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
            // It broke between accept and setsockopt.
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
        // Errors of the connection, not of the listener (accept(2)).
        default: return .turnedAway
        }
    }
}
