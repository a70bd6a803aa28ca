internal import Glibc
package import NIOCore

/// Socket options of a TCP connection.
extension Channel {
    /// Makes closing send a reset from now on and drop the bytes that the peer has not taken, instead of keeping them
    /// for a peer that may never read them (socket(7), `SO_LINGER`). It is called on the channel's event loop.
    package func resetOnClose() {
        // This fails only on a socket that is closed already.
        _ = (self as? any SocketOptionProvider)?.setSoLinger(linger(l_onoff: 1, l_linger: 0))
    }

    /// Limits the bytes that the kernel keeps for a peer that does not read. Connections inherit the limits from their
    /// listener when they are accepted. It is called on the channel's event loop.
    ///
    /// - Parameters:
    ///   - sent: Bytes in the send buffer, acknowledged or not; the kernel doubles the number for its own records
    ///     (`SO_SNDBUF`).
    ///   - unsent: Bytes beyond which no more are taken while the peer's window is full (tcp(7), `TCP_NOTSENT_LOWAT`).
    /// - Throws: `IOError` with the errno of setsockopt(2), or `ChannelError` if the channel is closed.
    package func limitKernelBuffers(sent: Int, unsent: Int) throws {
        try syncOptions?.setOption(.socketOption(.so_sndbuf), value: SocketOptionValue(sent))
        let lowWaterMark = NIOBSDSocket.Option(rawValue: TCP_NOTSENT_LOWAT)
        try syncOptions?.setOption(
            ChannelOptions.Types.SocketOption(level: .tcp, name: lowWaterMark), value: SocketOptionValue(unsent))
    }
}
