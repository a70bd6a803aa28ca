package import NIOWebSocket

/// Decides what the frames of a client mean for its channel (RFC 6455 §5; spidr-wire §4.2).
///
/// Clients of notifications only send keep-alive text. Its contents do not matter; it is checked against the rules of
/// RFC 6455 only. The messages of a stream are kept and handed out.
package struct ClientFrames: Sendable {
    /// What a frame means.
    package enum Verdict: Equatable, Sendable {
        /// A sign of life, nothing more.
        case alive
        /// A message is complete that is to be read.
        case message([UInt8], isText: Bool)
        /// A compressed message is complete; ``decompressed(_:isText:)`` tells what it means.
        case compressed([UInt8], isText: Bool)
        /// A ping, which is answered with a pong.
        case pong
        /// The client closes, or has answered the gateway's close frame.
        case closed
        /// The client broke a rule; the channel is closed with this code.
        case violation(WebSocketErrorCode)
    }

    /// The message whose frames are arriving.
    private enum Message {
        case none
        /// Further fragments will come.
        ///
        /// - `length`: the bytes so far.
        /// - `text`: `nil` for a binary message.
        case fragmented(length: Int, text: UTF8Check?)
        /// The same for a message that is kept until it is complete: it is compressed, or is to be read.
        case kept([UInt8], isText: Bool, isCompressed: Bool)
    }

    private let sizeLimit: Int
    private let readsMessages: Bool
    private var message = Message.none

    /// Makes a judge for the frames of one channel.
    ///
    /// - Parameters:
    ///   - sizeLimit: the limit of one message in bytes, over all its fragments.
    ///   - readsMessages: whether messages are handed out; otherwise each is only a sign of life.
    package init(sizeLimit: Int, readsMessages: Bool = false) {
        self.sizeLimit = sizeLimit
        self.readsMessages = readsMessages
    }

    /// What the next frame means.
    ///
    /// - Parameters:
    ///   - reserved: whether a reserved bit is set that no extension defines (RFC 6455 §5.2).
    ///   - compressed: whether the frame says that its message is compressed, which was negotiated (RFC 7692 §6).
    ///   - payload: the payload after unmasking.
    package mutating func receive(
        _ opcode: WebSocketOpcode, fin: Bool, masked: Bool, reserved: Bool, compressed: Bool = false,
        payload: some Collection<UInt8>
    ) -> Verdict {
        // Clients mask every frame (RFC 6455 §5.1). Only the first frame of a message says that it is compressed
        // (RFC 7692 §6.1); control frames never are.
        guard masked, !reserved, !compressed || opcode == .text || opcode == .binary else {
            return .violation(.protocolError)
        }
        switch opcode {
        case .ping: return .pong
        case .pong: return .alive
        case .connectionClose: return Self.verdict(onClose: payload)
        case .text, .binary:
            guard case .none = message else { return .violation(.protocolError) }
            if compressed || readsMessages {
                return keep(payload, fin: fin, after: [], isText: opcode == .text, isCompressed: compressed)
            }
            return add(payload, fin: fin, to: 0, opcode == .text ? UTF8Check() : nil)
        case .continuation:
            switch message {
            case .none: return .violation(.protocolError)
            case .fragmented(let sum, let text): return add(payload, fin: fin, to: sum, text)
            case .kept(let start, let isText, let isCompressed):
                // The bytes are here only from now on, so that they are not copied.
                message = .none
                return keep(payload, fin: fin, after: start, isText: isText, isCompressed: isCompressed)
            }
        default: return .violation(.protocolError)
        }
    }

    /// What a compressed message means.
    ///
    /// - Parameter bytes: the decompressed message, within the limit.
    package func decompressed(_ bytes: [UInt8], isText: Bool) -> Verdict {
        var text = UTF8Check()
        let isValid = !isText || text.accept(bytes) && text.isBetweenCharacters
        guard isValid else { return .violation(.dataInconsistentWithMessage) }
        return readsMessages ? .message(bytes, isText: isText) : .alive
    }

    /// Keeps the frames of a message. One that is compressed is larger than allowed if its compressed form is: no
    /// compressor needs that much more.
    private mutating func keep(
        _ payload: some Collection<UInt8>, fin: Bool, after start: consuming [UInt8], isText: Bool, isCompressed: Bool
    ) -> Verdict {
        guard start.count + payload.count <= sizeLimit else { return .violation(.messageTooLarge) }
        var bytes = start
        bytes.append(contentsOf: payload)
        guard fin else {
            message = .kept(bytes, isText: isText, isCompressed: isCompressed)
            return .alive
        }
        return isCompressed ? .compressed(bytes, isText: isText) : decompressed(bytes, isText: isText)
    }

    private mutating func add(_ payload: some Collection<UInt8>, fin: Bool, to sum: Int, _ text: UTF8Check?) -> Verdict
    {
        let length = sum + payload.count
        guard length <= sizeLimit else { return .violation(.messageTooLarge) }
        var text = text
        // Text is UTF-8, and a message ends with a whole character (RFC 6455 §8.1).
        guard text?.accept(payload) ?? true, !fin || text?.isBetweenCharacters ?? true else {
            return .violation(.dataInconsistentWithMessage)
        }
        message = fin ? .none : .fragmented(length: length, text: text)
        return .alive
    }

    /// The meaning of a close frame. Its body is empty, or has a code and a reason in UTF-8 (RFC 6455 §5.5.1).
    private static func verdict(onClose payload: some Collection<UInt8>) -> Verdict {
        guard !payload.isEmpty else { return .closed }
        guard payload.count >= 2 else { return .violation(.protocolError) }
        let code = payload.prefix(2).reduce(UInt16(0)) { $0 << 8 | UInt16($1) }
        guard mayBeSent(code) else { return .violation(.protocolError) }
        var reason = UTF8Check()
        guard reason.accept(payload.dropFirst(2)), reason.isBetweenCharacters else {
            return .violation(.dataInconsistentWithMessage)
        }
        return .closed
    }

    /// Whether a close frame may have this code (RFC 6455 §7.4.1, and its registry,
    /// https://www.iana.org/assignments/websocket).
    ///
    /// 1004 has no meaning. 1005, 1006 and 1015 are never sent. Codes from 3000 belong to libraries and applications.
    private static func mayBeSent(_ code: UInt16) -> Bool {
        switch code {
        case 1000...1003, 1007...1014, 3000...4999: true
        default: false
        }
    }
}
