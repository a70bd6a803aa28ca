import NIOCore
import NIOHTTP1
import NIOPosix
import Synchronization

/// A webhook on 127.0.0.1 without TLS, which takes everything.
final class Receiver: Sendable {
    /// What has come.
    final class Received: Sendable { let requests = Mutex<[(head: HTTPRequestHead, body: String)]>([]) }

    private let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    private let channel: any Channel
    private let received: Received

    var requests: [(head: HTTPRequestHead, body: String)] { received.requests.withLock { $0 } }
    var url: String { "http://127.0.0.1:\(channel.localAddress?.port ?? 0)/hook" }

    init() throws {
        let received = Received()
        self.received = received
        channel = try ServerBootstrap(group: group)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.configureHTTPServerPipeline()
                    try channel.pipeline.syncOperations.addHandler(Handler(received))
                }
            }
            .bind(host: "127.0.0.1", port: 0).wait()
    }

    func stop() async throws {
        try await channel.close()
        try await group.shutdownGracefully()
    }

    private final class Handler: ChannelInboundHandler {
        typealias InboundIn = HTTPServerRequestPart
        typealias OutboundOut = HTTPServerResponsePart
        private let received: Received
        private var head: HTTPRequestHead?
        private var body = ""

        init(_ received: Received) { self.received = received }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            switch unwrapInboundIn(data) {
            case .head(let head): (self.head, body) = (head, "")
            case .body(let buffer): body += String(buffer: buffer)
            case .end:
                if let head { received.requests.withLock { [body] in $0.append((head, body)) } }
                let head = HTTPResponseHead(version: .http1_1, status: .noContent)
                context.write(wrapOutboundOut(.head(head)), promise: nil)
                context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
            }
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
    }
}
