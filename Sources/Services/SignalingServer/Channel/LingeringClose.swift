import NIOCore

/// Ends a connection whose client may still be sending what has been refused (RFC 9112 §9.6).
///
/// The gateway's direction is closed behind the answer. What the client still sends is read and discarded, until it
/// ends its own direction or has had enough time and bytes. Otherwise the kernel would reset a connection that is
/// closed with unread bytes, and the reset would make the client lose the answer.
final class LingeringClose: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    struct Limits: Sendable {
        var time: TimeAmount
        /// The limit of the bytes that are discarded. One read takes up to 16 KiB.
        var bytes: Int
    }

    private let limits: Limits
    private var discarded = 0
    private var deadline: Scheduled<Void>?

    private init(_ limits: Limits) { self.limits = limits }

    /// Starts the close, after the answer has been written.
    ///
    /// - Parameter first: the first handler that sees no more bytes. The handlers before it belong to the connection
    ///   itself.
    static func start(before first: some ChannelHandler, _ limits: Limits, _ context: ChannelHandlerContext) throws {
        try context.pipeline.syncOperations.addHandler(LingeringClose(limits), position: .before(first))
        context.close(mode: .output, promise: nil)
    }

    func handlerAdded(context: ChannelHandlerContext) {
        deadline = context.eventLoop.assumeIsolated().scheduleTask(in: limits.time) { context.close(promise: nil) }
        // Reads may have been held back behind the request.
        context.read()
    }

    func handlerRemoved(context: ChannelHandlerContext) { deadline?.cancel() }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        discarded += Self.unwrapInboundIn(data).readableBytes
        if discarded > limits.bytes { context.close(promise: nil) }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        context.fireChannelReadComplete()
        context.read()
    }
}
