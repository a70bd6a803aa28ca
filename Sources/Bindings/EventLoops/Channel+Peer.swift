internal import Glibc
package import NIOCore

/// The process at the other end of a Unix socket.
extension Channel {
    /// The user of the process that opened the connection, at the time when it did (socket(7), `SO_PEERCRED`). Nobody
    /// can pretend to be another user.
    ///
    /// - Throws: `IOError` with the errno of getsockopt(2), or `ChannelError` if the channel is closed or no socket.
    package func peerUser() async throws -> UInt32 {
        guard let options = self as? any SocketOptionProvider else { throw ChannelError.operationUnsupported }
        let credentials: PeerCredentials =
            try await options.unsafeGetSocketOption(
                level: .socket, name: NIOBSDSocket.Option(rawValue: SO_PEERCRED)
            ).get()
        return credentials.user
    }
}

/// `struct ucred` (unix(7)), which the Glibc module does not show.
private struct PeerCredentials: Sendable {
    var process: Int32 = 0
    var user: UInt32 = 0
    var group: UInt32 = 0
}
