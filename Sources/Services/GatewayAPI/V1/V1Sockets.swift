/// What serves WebSockets below `/v1/`. Who opens one is known before it gets here.
package protocol V1Sockets: Sendable {
    /// Whether there are WebSockets at a path.
    func servesSockets(at path: String) -> Bool
    /// The text messages that a socket is sent, made as they are taken, until the stream ends.
    ///
    /// - Parameter request: the request to open it, which has no body.
    /// - Throws: the refusal, before there is a socket.
    func messages(for request: V1Request) async throws(V1Error) -> AsyncStream<[UInt8]>
}
