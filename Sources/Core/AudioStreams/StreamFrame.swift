/// One message of a WebSocket that carries a stream (RFC 6455 §5.6).
package enum StreamFrame: Hashable, Sendable {
    /// A text message.
    case text(String)
    /// A binary message.
    case binary([UInt8])

    /// What a message counts on top of its content.
    private static let overhead = 64

    /// What the message counts while it waits, in bytes: its content, and something for itself.
    package var cost: Int {
        switch self {
        case .text(let text): text.utf8.count + Self.overhead
        case .binary(let bytes): bytes.count + Self.overhead
        }
    }
}
