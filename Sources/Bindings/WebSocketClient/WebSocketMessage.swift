package import Primitives

/// One message of a WebSocket (RFC 6455 §5.6).
package enum WebSocketMessage: Hashable, Sendable {
    /// A text message.
    case text(String)
    /// A binary message.
    case binary([UInt8])
}

/// What a socket is to send.
package struct WebSocketOutput: Sendable {
    /// How a socket is closed (RFC 6455 §7.1.5).
    package struct Close: Hashable, Sendable {
        /// The status code, such as 1000.
        package var code: Int
        /// The reason, in at most 123 bytes of ASCII.
        package var words: String

        /// Makes a value of its parts; each parameter is the property of that name.
        package init(code: Int, words: String) {
            self.code = code
            self.words = words
        }
    }

    /// Messages, in their order.
    package var messages: [WebSocketMessage]
    /// The socket is closed behind these messages; `nil`: it is not.
    package var close: Close?

    /// Makes a value of its parts; each parameter is the property of that name.
    package init(messages: [WebSocketMessage], close: Close?) {
        self.messages = messages
        self.close = close
    }
}

/// The gateway's end of an outgoing WebSocket. The client calls it from its thread, one function after the other; none
/// may block.
package protocol WebSocketEnd: Sendable {
    /// The socket is open. `wake` is to be called, from any thread, when `take` may have something, or what the other
    /// queries say has changed.
    func opened(waking wake: @escaping @Sendable () -> Void)
    /// Takes a message of the server.
    ///
    /// - Returns: whether the server may go on; otherwise nothing is read until `mayRead` is true after a wake.
    func receive(_ message: WebSocketMessage) -> Bool
    /// What the server is to be sent. It is asked for again only when that has been handed to the kernel.
    func take() -> WebSocketOutput
    /// Whether more messages of the server are taken.
    var mayRead: Bool { get }
    /// Whether `take` says, sooner or later, that the socket is closed. A server that keeps it from being closed for
    /// five seconds is left without a word.
    var isEnding: Bool { get }
    /// Whether so much waits for a server that does not read that the connection is to end.
    var isOverfull: Bool { get }
    /// There is no socket any more, or there never was one. Nothing is called afterwards.
    func closed(because reason: WebSocketFailure)
}

/// A wish to connect to a server.
package struct WebSocketRequest: Sendable {
    /// Where to.
    package var url: WebSocketURL
    /// The subprotocol that is offered; `nil`: none.
    package var subprotocol: String?
    /// Header fields of the opening handshake, besides those of the protocol itself.
    package var fields: [(name: String, value: String)]

    /// Makes a request of its parts; each parameter is the property of that name.
    package init(_ url: WebSocketURL, subprotocol: String? = nil, fields: [(name: String, value: String)] = []) {
        self.url = url
        self.subprotocol = subprotocol
        self.fields = fields
    }
}
