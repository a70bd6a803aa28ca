package import NIOWebSocket

/// What the frames of a client mean for its channel (RFC 6455 §5; spidr-wire §4.2).
///
/// Clients only send keep-alive text, whose contents do not matter. Deviation: because nobody reads it, text is
/// not checked to be UTF-8 (RFC 6455 §8.1).
package struct ClientFrames: Sendable {
    package enum Verdict: Equatable, Sendable {
        /// A sign of life, nothing more.
        case alive
        case pong
        /// The client closes, or has answered our close.
        case closed
        case violation(WebSocketErrorCode)
    }

    private enum Message {
        case none
        case fragmented(length: Int)
    }

    private let sizeLimit: Int
    private var message = Message.none

    /// - Parameter sizeLimit: bytes in one message, over all its fragments.
    package init(sizeLimit: Int) { self.sizeLimit = sizeLimit }

    package mutating func receive(_ opcode: WebSocketOpcode, fin: Bool, masked: Bool, reserved: Bool, length: Int) -> Verdict {
        // No extension was negotiated (§5.2); clients mask every frame (§5.1).
        guard masked, !reserved else { return .violation(.protocolError) }
        switch opcode {
        case .ping: return .pong
        case .pong: return .alive
        case .connectionClose: return .closed
        case .text, .binary:
            guard case .none = message else { return .violation(.protocolError) }
            return add(length, fin: fin, to: 0)
        case .continuation:
            guard case .fragmented(let sum) = message else { return .violation(.protocolError) }
            return add(length, fin: fin, to: sum)
        default: return .violation(.protocolError)
        }
    }

    private mutating func add(_ length: Int, fin: Bool, to sum: Int) -> Verdict {
        guard sum + length <= sizeLimit else { return .violation(.messageTooLarge) }
        message = fin ? .none : .fragmented(length: sum + length)
        return .alive
    }
}
