internal import CLinux
internal import Glibc
package import Primitives
internal import Synchronization

/// A non-blocking TCP connection. It is closed with its last reference.
@safe
package final class TCPConnection: Sendable {
    /// The result of an attempt to read or to write.
    package enum Progress: Equatable, Sendable {
        /// So many bytes were read or written.
        case bytes(Int)
        /// There are no bytes to read, or there is no room to write, for now.
        case wouldBlock
        /// The peer has closed the connection, or the connection is broken.
        case closed
    }

    /// The address and port of the peer.
    package let remoteAddress: SocketAddress
    /// −1 after closing, so that a late call fails with EBADF and does not reach a descriptor of another owner.
    private let descriptor: Atomic<Int32>

    /// The most unsent bytes that the kernel keeps. More would only become old: media is dropped before it reaches the
    /// kernel instead.
    private static let unsentBytes = 16_384

    /// Starts to connect. Bytes can be sent when the poller reports room.
    ///
    /// - Throws: `SocketError` with the system call that failed.
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

    /// Takes over a descriptor of accept(2), and closes it on failure.
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

    /// Closes the connection. Bytes that the kernel has taken are still sent. A second call does nothing.
    package func close() {
        let closing = descriptor.exchange(-1, ordering: .acquiringAndReleasing)
        if closing >= 0 { Glibc.close(closing) }
    }

    /// Ends both directions; the next read reports `closed`.
    package func shutDown() { shutdown(fileDescriptor, Int32(SHUT_RDWR)) }

    /// Reads the bytes that are available, at most `buffer.count`.
    package func receive(into buffer: inout MutableSpan<UInt8>) -> Progress {
        let count = unsafe buffer.withUnsafeMutableBytes { bytes in
            while true {
                let count = unsafe recv(fileDescriptor, bytes.baseAddress, bytes.count, 0)
                guard count < 0, errno == EINTR else { return count }
            }
        }
        return count > 0 ? .bytes(count) : count == 0 ? .closed : Self.failure()
    }

    /// Writes as many bytes as there is room for.
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
        // ENOTCONN: the connection is not established yet.
        case EAGAIN, ENOTCONN: .wouldBlock
        default: .closed
        }
    }

    private static func prepare(_ descriptor: Int32) throws(SocketError) {
        guard fcntl(descriptor, F_SETFL, O_NONBLOCK) == 0, fcntl(descriptor, F_SETFD, FD_CLOEXEC) == 0 else {
            throw SocketError(latest: "fcntl")
        }
        // A packet must not wait for the next one.
        try SocketSetup.set(Int32(IPPROTO_TCP), TCP_NODELAY, to: 1, on: descriptor)
        try SocketSetup.set(Int32(IPPROTO_TCP), TCP_NOTSENT_LOWAT, to: unsentBytes, on: descriptor)
    }
}
