import NIOCore
import NIOHTTP1
import NIOPosix
import Synchronization

/// A server without TLS on 127.0.0.1. The path says how it answers.
final class LoopbackServer: Sendable {
    /// What a request had.
    struct Seen: Sendable {
        var head: HTTPRequestHead
        var body: String
    }

    private let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    private let channel: any Channel
    private let seen = Mutex<[Seen]>([])
    private let connections = Mutex(0)
    private let held = Mutex<[any Channel]>([])

    /// Requests so far.
    var requests: [Seen] { seen.withLock { $0 } }
    /// Connections so far.
    var connectionCount: Int { connections.withLock { $0 } }
    /// Requests on `/held` that have no answer yet.
    var heldCount: Int { held.withLock { $0.count } }
    var port: Int { channel.localAddress?.port ?? 0 }

    init() throws {
        let holder = Holder()
        channel = try ServerBootstrap(group: group)
            .serverChannelOption(ChannelOptions.backlog, value: 256)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.configureHTTPServerPipeline()
                    try channel.pipeline.syncOperations.addHandler(Handler(holder))
                }
            }
            .bind(host: "127.0.0.1", port: 0).wait()
        holder.server.withLock { $0 = self }
    }

    func url(_ path: String) -> String { "http://127.0.0.1:\(port)\(path)" }

    /// Answers what is held.
    func release() {
        for channel in held.withLock({ channels in
            defer { channels = [] }
            return channels
        }) {
            channel.eventLoop.execute { Handler.write(.ok, "released", to: channel) }
        }
    }

    func stop() async throws {
        holderStop()
        try await channel.close()
        try await group.shutdownGracefully()
    }

    private func holderStop() { held.withLock { $0 = [] } }

    final class Holder: Sendable { let server = Mutex<LoopbackServer?>(nil) }

    private final class Handler: ChannelInboundHandler {
        typealias InboundIn = HTTPServerRequestPart
        typealias OutboundOut = HTTPServerResponsePart
        private let holder: Holder
        private var head: HTTPRequestHead?
        private var body = ""

        init(_ holder: Holder) { self.holder = holder }

        func channelActive(context: ChannelHandlerContext) {
            holder.server.withLock { $0 }?.connections.withLock { $0 += 1 }
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            switch unwrapInboundIn(data) {
            case .head(let head): (self.head, body) = (head, "")
            case .body(let buffer): body += String(buffer: buffer)
            case .end:
                guard let head, let server = holder.server.withLock({ $0 }) else { return }
                server.seen.withLock { $0.append(Seen(head: head, body: body)) }
                answer(head.uri, context.channel, server)
            }
        }

        private func answer(_ path: String, _ channel: any Channel, _ server: LoopbackServer) {
            switch path {
            case "/held": server.held.withLock { $0.append(channel) }
            case "/stalled": break
            case "/dropped": channel.close(promise: nil)
            case "/moved": Self.write(.movedPermanently, "", [("location", server.url("/target"))], to: channel)
            case "/large": Self.write(.ok, String(repeating: "x", count: 100_000), to: channel)
            case "/later": Self.write(.tooManyRequests, "slow down", [("Retry-After", " 7 ")], to: channel)
            default: Self.write(.ok, "hello", [("X-Answer", "yes")], to: channel)
            }
        }

        static func write(
            _ status: HTTPResponseStatus, _ text: String, _ fields: [(String, String)] = [], to channel: any Channel
        ) {
            let headers = HTTPHeaders(fields + [("content-length", String(text.utf8.count))])
            let head = HTTPResponseHead(version: .http1_1, status: status, headers: headers)
            channel.write(HTTPServerResponsePart.head(head), promise: nil)
            channel.write(HTTPServerResponsePart.body(.byteBuffer(ByteBuffer(string: text))), promise: nil)
            channel.writeAndFlush(HTTPServerResponsePart.end(nil), promise: nil)
        }
    }
}
