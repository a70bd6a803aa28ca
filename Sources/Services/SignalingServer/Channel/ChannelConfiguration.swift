import NIOCore

/// The limits of one notification channel.
struct ChannelConfiguration: Sendable {
    /// Without any frame from the client for this long, it is taken for gone.
    var idleTimeout: TimeAmount
    /// Bytes that may wait for a slow reader.
    var slowReaderLimit: Int
    /// Bytes in one message of the client.
    var messageLimit: Int
    /// How long the peer's close frame is waited for.
    var closeTimeout: TimeAmount
}
