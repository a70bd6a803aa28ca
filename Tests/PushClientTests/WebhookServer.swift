import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import Synchronization

/// A webhook on 127.0.0.1 over TLS and HTTP/1.1, which takes pushes or never answers.
final class WebhookServer: Sendable {
    private let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    private let channel: any Channel
    private let received: Received

    /// What has come.
    final class Received: Sendable { let requests = Mutex<[(head: HTTPRequestHead, body: [UInt8])]>([]) }

    var requests: [(head: HTTPRequestHead, body: [UInt8])] { received.requests.withLock { $0 } }
    var url: String { "https://127.0.0.1:\(channel.localAddress?.port ?? 0)/hook" }

    init(certificate: String, key: String, answers: Bool) throws {
        let chain = try NIOSSLCertificate.fromPEMBytes(Array(certificate.utf8)).map {
            NIOSSLCertificateSource.certificate($0)
        }
        let tls = try NIOSSLContext(
            configuration: .makeServerConfiguration(
                certificateChain: chain, privateKey: .privateKey(NIOSSLPrivateKey(bytes: Array(key.utf8), format: .pem))
            ))
        let received = Received()
        self.received = received
        channel = try ServerBootstrap(group: group)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: tls))
                    try channel.pipeline.syncOperations.configureHTTPServerPipeline()
                    try channel.pipeline.syncOperations.addHandler(Handler(received, answers: answers))
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
        private let answers: Bool
        private var head: HTTPRequestHead?
        private var body: [UInt8] = []

        init(_ received: Received, answers: Bool) { (self.received, self.answers) = (received, answers) }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            switch unwrapInboundIn(data) {
            case .head(let head): (self.head, body) = (head, [])
            case .body(let buffer): body += Array(buffer.readableBytesView)
            case .end:
                if let head { received.requests.withLock { [body] in $0.append((head, body)) } }
                guard answers else { return }
                let head = HTTPResponseHead(version: .http1_1, status: .noContent)
                context.write(wrapOutboundOut(.head(head)), promise: nil)
                context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
            }
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
    }
}
