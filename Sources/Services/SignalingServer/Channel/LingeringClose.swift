import NIOCore

/// The end of a connection whose client may still be sending what has been refused (RFC 9112 §9.6).
///
/// Our direction is closed behind the answer. What still comes is read and thrown away, until the client ends its own
/// direction or has had enough time and bytes: the kernel resets a connection that is closed with bytes unread, and a
/// reset takes the answer out of the client's hands.
final class LingeringClose: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    struct Limits: Sendable {
        var time: TimeAmount
        /// Bytes that are read and thrown away; a read takes up to 16 KiB at a time.
        var bytes: Int
    }

    private let limits: Limits
    private var discarded = 0
    private var deadline: Scheduled<Void>?

    private init(_ limits: Limits) { self.limits = limits }

    /// To be called when the answer has been written.
    ///
    /// - Parameter first: the first handler that must see nothing more; those before it are the connection's own.
    static func begin(before first: some ChannelHandler, _ limits: Limits, _ context: ChannelHandlerContext) throws {
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
