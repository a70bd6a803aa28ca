import NIOCore
import NIOWebSocket

/// The client's side of a WebSocket that carries text messages. What arrives is read by one task, in order.
final class TextSocket: Sendable {
    private let channel: any Channel
    private let texts: AsyncStream<ByteBuffer>

    /// Opens one over loopback.
    ///
    /// - Parameters:
    ///   - subprotocol: that is asked for; whether the server agrees is not looked at.
    ///   - limit: which messages are kept until they are read; all unless given.
    /// - Throws: what NIO throws if the port does not answer, or does not upgrade.
    init(
        port: Int, overTLS: Bool = false, path: String, subprotocol: String? = nil,
        keeping limit: AsyncStream<ByteBuffer>.Continuation.BufferingPolicy = .unbounded
    ) async throws {
        let (texts, continuation) = AsyncStream.makeStream(of: ByteBuffer.self, bufferingPolicy: limit)
        self.texts = texts
        channel = try await WebSocketConnection.open(
            port: port, overTLS: overTLS, path: path, subprotocol: subprotocol
        ) {
            Reader(continuation)
        }
    }

    /// Sends a message.
    func send(_ text: ByteBuffer) {
        let frame = WebSocketFrame(fin: true, opcode: .text, maskKey: WebSocketConnection.maskingKey, data: text)
        channel.writeAndFlush(frame, promise: nil)
    }

    /// What is made of the first message of which `read` makes something; those before it are passed over.
    ///
    /// - Returns: `nil` if nothing is made in 30 seconds, which closes the socket, or until it is closed.
    /// - Throws: what `read` throws.
    func first<Found>(_ read: (ByteBuffer) throws -> Found?) async throws -> Found? {
        let channel = channel
        let deadline = channel.eventLoop.scheduleTask(in: .seconds(30)) { channel.close(promise: nil) }
        defer { deadline.cancel() }
        for await text in texts {
            if let found = try read(text) { return found }
        }
        return nil
    }

    /// Closes the socket.
    func close() async {
        // Fails only if it is closed already.
        try? await channel.close()
    }

    private final class Reader: ChannelInboundHandler, Sendable {
        typealias InboundIn = WebSocketFrame

        private let texts: AsyncStream<ByteBuffer>.Continuation

        init(_ texts: AsyncStream<ByteBuffer>.Continuation) { self.texts = texts }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            let frame = Self.unwrapInboundIn(data)
            if frame.opcode == .text { texts.yield(frame.unmaskedData) }
            WebSocketConnection.answerPing(frame, context)
        }

        func channelInactive(context: ChannelHandlerContext) { texts.finish() }
    }
}
