internal import Glibc
package import NIOCore

/// What the kernel is told about a TCP connection.
extension Channel {
    /// Closing sends a reset from now on and drops what the peer has not taken, instead of keeping it for a peer that may
    /// never ask for it (socket(7), `SO_LINGER`). On the channel's event loop.
    package func resetOnClose() {
        // Fails only on a socket that is closed already.
        _ = (self as? any SocketOptionProvider)?.setSoLinger(linger(l_onoff: 1, l_linger: 0))
    }

    /// How much the kernel keeps for a peer that does not read; connections accepted afterwards inherit it from their
    /// listener. On the channel's event loop.
    ///
    /// - Parameters:
    ///   - sent: bytes in the send buffer, acknowledged or not; the kernel doubles them for its own records (`SO_SNDBUF`).
    ///   - unsent: bytes beyond which nothing more is taken as long as the peer's window is full (tcp(7),
    ///     `TCP_NOTSENT_LOWAT`).
    package func limitKernelBuffers(sent: Int, unsent: Int) throws {
        try syncOptions?.setOption(.socketOption(.so_sndbuf), value: SocketOptionValue(sent))
        let lowWaterMark = NIOBSDSocket.Option(rawValue: TCP_NOTSENT_LOWAT)
        try syncOptions?.setOption(
            ChannelOptions.Types.SocketOption(level: .tcp, name: lowWaterMark), value: SocketOptionValue(unsent))
    }
}
