internal import CLinux
internal import Glibc
package import Primitives
internal import Synchronization

/// A non-blocking TCP connection. The last reference closes it.
@safe
package final class TCPConnection: Sendable {
    /// What became of an attempt to read or to write.
    package enum Progress: Equatable, Sendable {
        case bytes(Int)
        /// Nothing to read, or no room to write, for now.
        case wouldBlock
        /// The far end has closed it, or it broke.
        case closed
    }

    package let remoteAddress: SocketAddress
    /// −1 once closed, so that a late call fails with EBADF instead of reaching a stranger's descriptor.
    private let descriptor: Atomic<Int32>

    /// Unsent bytes that the kernel keeps before it asks us to wait. More would only grow old: media is dropped here instead.
    private static let unsentBytes = 16_384

    /// Begins to connect; bytes can be sent once the poller says that there is room.
    package init(connectingTo remote: SocketAddress) throws(SocketError) {
        let family = remote.address.family == .v4 ? AF_INET : AF_INET6
        let descriptor = socket(family, Int32(SOCK_STREAM.rawValue), Int32(IPPROTO_TCP))
        guard descriptor >= 0 else { throw SocketError(latest: "socket") }
        do throws(SocketError) {
            try Self.prepare(descriptor)
            var storage = sockaddr_storage()
            let code = unsafe withUnsafeMutableBytes(of: &storage) { bytes -> Int32 in
                guard let base = bytes.baseAddress else { preconditionFailure("storage of a variable has an address") }
                let count = unsafe AddressStorage.write(remote, to: base)
                return unsafe connect(descriptor, base.assumingMemoryBound(to: sockaddr.self), count) == 0 ? 0 : errno
            }
            guard code == 0 || code == EINPROGRESS else { throw SocketError(call: "connect", code: code) }
        } catch {
            Glibc.close(descriptor)
            throw error
        }
        remoteAddress = remote
        self.descriptor = Atomic(descriptor)
    }

    /// Takes over what accept(2) returned; closes it on failure.
    init(accepted descriptor: Int32, from remote: SocketAddress) throws(SocketError) {
        do throws(SocketError) {
            try Self.prepare(descriptor)
        } catch {
            Glibc.close(descriptor)
            throw error
        }
        remoteAddress = remote
        self.descriptor = Atomic(descriptor)
    }

    deinit { close() }

    /// What the kernel has taken still leaves.
    package func close() {
        let closing = descriptor.exchange(-1, ordering: .acquiringAndReleasing)
        if closing >= 0 { Glibc.close(closing) }
    }

    /// Ends both directions; the next read says so.
    package func shutDown() { shutdown(fileDescriptor, Int32(SHUT_RDWR)) }

    /// Reads what is there, at most `buffer.count` bytes.
    package func receive(into buffer: inout MutableSpan<UInt8>) -> Progress {
        let count = unsafe buffer.withUnsafeMutableBytes { bytes in
            while true {
                let count = unsafe recv(fileDescriptor, bytes.baseAddress, bytes.count, 0)
                guard count < 0, errno == EINTR else { return count }
            }
        }
        return count > 0 ? .bytes(count) : count == 0 ? .closed : Self.failure()
    }

    /// Writes as much as there is room for.
    package func send(_ bytes: Span<UInt8>) -> Progress {
        let count = unsafe bytes.withUnsafeBytes { bytes in
            while true {
                let count = unsafe Glibc.send(fileDescriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
                guard count < 0, errno == EINTR else { return count }
            }
        }
        return count >= 0 ? .bytes(count) : Self.failure()
    }

    var fileDescriptor: Int32 { descriptor.load(ordering: .relaxed) }

    private static func failure() -> Progress {
        switch errno {
        // ENOTCONN: still connecting.
        case EAGAIN, ENOTCONN: .wouldBlock
        default: .closed
        }
    }

    private static func prepare(_ descriptor: Int32) throws(SocketError) {
        guard fcntl(descriptor, F_SETFL, O_NONBLOCK) == 0, fcntl(descriptor, F_SETFD, FD_CLOEXEC) == 0 else {
            throw SocketError(latest: "fcntl")
        }
        // A packet that waits for the next one is late.
        try SocketSetup.set(Int32(IPPROTO_TCP), TCP_NODELAY, to: 1, on: descriptor)
        try SocketSetup.set(Int32(IPPROTO_TCP), TCP_NOTSENT_LOWAT, to: unsentBytes, on: descriptor)
    }
}
