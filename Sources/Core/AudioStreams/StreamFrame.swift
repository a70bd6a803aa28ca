/// One message of a WebSocket that carries a stream (RFC 6455 §5.6).
package enum StreamFrame: Hashable, Sendable {
    /// A text message.
    case text(String)
    /// A binary message.
    case binary([UInt8])
}
