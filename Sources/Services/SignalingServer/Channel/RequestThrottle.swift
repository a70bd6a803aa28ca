import EventLoops
import NIOCore
import NIOHTTP1
import Observability

/// Stands before the HTTP decoder, and holds back requests beyond the few that are answered at a time.
///
/// The decoder parses everything it is given, and a parsed request takes forty times its bytes. So it gets the bytes up
/// to one blank line at a time, which ends one head at most, and none while enough requests wait for their answers.
/// While bytes are held back, the socket is not read either, and the client waits. RFC 9112 §9.3.2 lets a client send
/// ahead, but does not say how much.
final class RequestThrottle: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundIn = IOData
    typealias OutboundOut = IOData

    private let requests: ConnectionGuard
    private let limits: Limits
    private let metrics: GatewayMetrics
    private var context: ChannelHandlerContext?
    private var held = ByteBuffer()
    private var readHeldBack = false
    private var endHeldBack = false
    private var isPassing = false
    private var sawBytes = false

    struct Limits: Sendable {
        /// Requests of one connection that are answered at a time, at least 1.
        var requestsAtATime: Int
        /// Bytes of further requests that are kept once the client has ended its direction, since its end is read
        /// together with all bytes before it.
        var bytesAhead: Int
    }

    /// Makes a throttle.
    ///
    /// - Parameter requests: counts the requests of this connection.
    init(before requests: ConnectionGuard, limits: Limits, metrics: GatewayMetrics) {
        self.requests = requests
        self.limits = limits
        self.metrics = metrics
    }

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var bytes = Self.unwrapInboundIn(data)
        // TLS keeps a buffer of 32 KiB for decrypted bytes as long as the connection lasts, and most of what it
        // decrypts is short.
        if !sawBytes, bytes.capacity >= Self.largeBuffer { bytes.releaseSparePages() }
        sawBytes = true
        if held.readableBytes == 0 { held = bytes } else { held.writeBuffer(&bytes) }
        pass(context)
        if held.readableBytes > limits.bytesAhead {
            metrics.connectionsClosed[.flooding].increment()
            held = ByteBuffer()
            context.close(promise: nil)
        }
    }

    func read(context: ChannelHandlerContext) {
        if isFull { readHeldBack = true } else { context.read() }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        // The end of the input is passed on behind the bytes that were sent before it.
        if event as? ChannelEvent == .inputClosed, held.readableBytes > 0 {
            endHeldBack = true
        } else {
            context.fireUserInboundEventTriggered(event)
        }
    }

    /// Lets further requests through after an answer has been written.
    func requestAnswered() {
        guard readHeldBack || endHeldBack || held.readableBytes > 0, let context else { return }
        // Not within the writing of that answer.
        context.eventLoop.assumeIsolated().execute { self.resume() }
    }

    func removeHandler(context: ChannelHandlerContext, removalToken: ChannelHandlerContext.RemovalToken) {
        if held.readableBytes > 0 {
            let rest = held
            held = ByteBuffer()
            context.fireChannelRead(Self.wrapInboundOut(rest))
            context.fireChannelReadComplete()
        }
        giveBack(context)
        context.leavePipeline(removalToken: removalToken)
    }

    private func resume() {
        guard let context else { return }
        let before = held.readableBytes
        pass(context)
        if held.readableBytes < before { context.fireChannelReadComplete() }
        if held.readableBytes == 0 { giveBack(context) }
    }

    /// Passes on the end of the input, and the read, that were held back because of the bytes before them.
    private func giveBack(_ context: ChannelHandlerContext) {
        if endHeldBack {
            endHeldBack = false
            context.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
        }
        if readHeldBack, mayPass {
            readHeldBack = false
            context.read()
        }
    }

    /// Whether bytes may be passed on. The rest of a request that has started always may.
    private var mayPass: Bool { requests.requestsOwed < limits.requestsAtATime || requests.isReadingRequest }

    private var isFull: Bool { held.readableBytes > 0 || !mayPass }

    private func pass(_ context: ChannelHandlerContext) {
        guard !isPassing else { return }
        isPassing = true
        defer { isPassing = false }
        while held.readableBytes > 0, mayPass {
            guard let piece = held.readSlice(length: Self.pieceLength(of: held)) else { break }
            // Bytes that were passed on are not kept longer than needed.
            if held.readableBytes == 0 { held = ByteBuffer() }
            context.fireChannelRead(Self.wrapInboundOut(piece))
        }
    }

    private static let largeBuffer = 16_384

    /// The number of bytes up to the end of the first blank line, or of all bytes.
    private static func pieceLength(of bytes: ByteBuffer) -> Int {
        let view = bytes.readableBytesView
        var rest = view
        while let feed = rest.firstIndex(of: UInt8(ascii: "\n")) {
            if feed - view.startIndex >= 3, view[feed - 1] == UInt8(ascii: "\r"), view[feed - 2] == UInt8(ascii: "\n"),
                view[feed - 3] == UInt8(ascii: "\r")
            {
                return feed + 1 - view.startIndex
            }
            rest = view[(feed + 1)...]
        }
        return view.count
    }
}
