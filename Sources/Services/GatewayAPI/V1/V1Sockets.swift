package import AudioStreams
package import EventAPI

/// What serves WebSockets below `/v1/`. Who opens one is known before it gets here.
package protocol V1Sockets: Sendable {
    /// Whether there are WebSockets at a path.
    func servesSockets(at path: String) -> Bool
    /// What a socket carries.
    ///
    /// - Parameter request: the request to open it, which has no body.
    /// - Throws: the refusal, before there is a socket.
    func open(_ request: V1Request) async throws(V1Error) -> V1Socket
}

/// What a WebSocket below `/v1/` carries.
package enum V1Socket: Sendable {
    /// Events that the client is sent as text messages. Each call gives the next ones, or lets the client follow the
    /// log, or gives `nil` when there are no more; it takes the place up to which the client has followed. What the
    /// client says is only a sign of life.
    case messages(@Sendable (Int64?) async -> EventMessages?)
    /// Messages in both directions.
    case stream(any V1Stream)

    /// Whether the client speaks on it.
    package var isStream: Bool { if case .stream = self { true } else { false } }
}

/// The gateway's end of a WebSocket with messages in both directions. The functions of one stream are called one after
/// the other, from the socket's event loop.
package protocol V1Stream: Sendable {
    /// The socket is open. `wake` is to be called, from any thread, when `take` may have something.
    func connected(waking wake: @escaping @Sendable () -> Void)
    /// Takes a message of the client.
    ///
    /// - Returns: whether the client may go on; otherwise nothing is read until `take` says that it may.
    func receive(_ frame: StreamFrame) -> Bool
    /// What the client is to be sent.
    func take() -> V1StreamOutput
    /// The client closes the socket with this code; 1005: without one (RFC 6455 §7.4.1). `disconnected` follows.
    func closing(with code: Int)
    /// The socket is gone, or was never opened.
    func disconnected()
    /// The subprotocol of the answer to the opening handshake, which the client has offered; `nil`: none.
    var subprotocol: String? { get }
}

/// What a client is to be sent.
package struct V1StreamOutput: Sendable {
    /// Why a socket is closed.
    package struct End: Sendable {
        /// The reason, in a few words of ASCII.
        package var words: String
        /// It is the client's fault.
        package var isViolation: Bool

        /// Makes a value of its parts; each parameter is the property of that name.
        package init(words: String, isViolation: Bool) {
            self.words = words
            self.isViolation = isViolation
        }
    }

    /// Messages, in their order.
    package var frames: [StreamFrame]
    /// The socket is closed behind these messages; `nil`: it is not.
    package var end: End?
    /// Messages were lost, since the client does not read.
    package var isOverfull: Bool
    /// More messages of the client are taken.
    package var mayRead: Bool

    /// Makes a value of its parts; each parameter is the property of that name.
    package init(frames: [StreamFrame], end: End?, isOverfull: Bool, mayRead: Bool) {
        self.frames = frames
        self.end = end
        self.isOverfull = isOverfull
        self.mayRead = mayRead
    }
}
