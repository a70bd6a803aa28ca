import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import NIOWebSocket

/// The client's side of a WebSocket over loopback.
enum WebSocketConnection {
    /// Opens one; the handler gets and sends `WebSocketFrame`s.
    ///
    /// - Parameter subprotocol: that is asked for; whether the server agrees is not looked at.
    /// - Throws: what NIO throws if the port does not answer, or does not upgrade.
    static func open(
        port: Int, overTLS: Bool = false, path: String, subprotocol: String? = nil,
        handler: @escaping @Sendable () -> some ChannelHandler
    ) async throws -> any Channel {
        let context = overTLS ? try anyCertificate.get() : nil
        let upgrade: EventLoopFuture<any Channel> = try await ClientBootstrap(
            group: MultiThreadedEventLoopGroup.singleton
        )
        .connect(host: "127.0.0.1", port: port) { channel in
            channel.eventLoop.makeCompletedFuture {
                if let context {
                    try channel.pipeline.syncOperations.addHandler(
                        NIOSSLClientHandler(context: context, serverHostname: nil))
                }
                let upgrader = NIOTypedWebSocketClientUpgrader<any Channel>(maxFrameSize: 1 << 20) { channel, _ in
                    channel.eventLoop.makeCompletedFuture {
                        try channel.pipeline.syncOperations.addHandler(handler())
                        return channel
                    }
                }
                var head = HTTPRequestHead(version: .http1_1, method: .GET, uri: path)
                head.headers = ["Host": "127.0.0.1", "Content-Length": "0"]
                if let subprotocol { head.headers.add(name: "Sec-WebSocket-Protocol", value: subprotocol) }
                var configuration = NIOUpgradableHTTPClientPipelineConfiguration(
                    upgradeConfiguration: NIOTypedHTTPClientUpgradeConfiguration(
                        upgradeRequestHead: head, upgraders: [upgrader],
                        notUpgradingCompletionHandler: {
                            $0.eventLoop.makeFailedFuture(ChannelError.operationUnsupported)
                        }))
                // The response that upgrades may come with a frame.
                configuration.leftOverBytesStrategy = .forwardBytes
                return try channel.pipeline.syncOperations.configureUpgradableHTTPClientPipeline(
                    configuration: configuration)
            }
        }
        return try await upgrade.get()
    }

    /// Answers a ping with its own payload; every other frame is passed over.
    static func answerPing(_ frame: WebSocketFrame, _ context: ChannelHandlerContext) {
        guard frame.opcode == .ping else { return }
        let pong = WebSocketFrame(fin: true, opcode: .pong, maskKey: maskingKey, data: frame.unmaskedData)
        context.writeAndFlush(NIOAny(pong), promise: nil)
    }

    static let maskingKey = WebSocketMaskingKey([1, 2, 3, 4])

    /// The gateway's certificate is made at its start, and vouched for by nobody.
    private static let anyCertificate = Result {
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.certificateVerification = .none
        return try NIOSSLContext(configuration: configuration)
    }
}
