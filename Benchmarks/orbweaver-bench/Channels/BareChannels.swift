import ArgumentParser
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOWebSocket

/// The least that a server of WebSockets can do: it keeps them open, answers pings, and sends what it is told to all.
struct BareChannels: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "bare-channels",
        abstract: "The baseline of channels: a NIO server that sends the body of each POST to all WebSockets.",
        shouldDisplay: false)

    @Option
    var port: Int

    func run() async throws {
        // One event loop, as the gateway has.
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let open = try await loop.submit { NIOLoopBound(OpenChannels(), eventLoop: loop) }.get()
        let server = try await ServerBootstrap(group: loop)
            .serverChannelOption(.backlog, value: 4_096)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let upgrader = NIOTypedWebSocketServerUpgrader<Void>(
                        shouldUpgrade: { channel, _ in channel.eventLoop.makeSucceededFuture([:]) },
                        upgradePipelineHandler: { channel, _ in
                            channel.eventLoop.makeCompletedFuture {
                                open.value.channels.append(channel)
                                try channel.pipeline.syncOperations.addHandler(PongHandler())
                            }
                        })
                    _ = try channel.pipeline.syncOperations.configureUpgradableHTTPServerPipeline(
                        configuration: .init(
                            upgradeConfiguration: NIOTypedHTTPServerUpgradeConfiguration(
                                upgraders: [upgrader],
                                notUpgradingCompletionHandler: { channel in
                                    channel.eventLoop.makeCompletedFuture {
                                        try channel.pipeline.syncOperations.addHandler(FanOutHandler(open.value))
                                    }
                                })))
                }
            }
            .bind(host: "127.0.0.1", port: port).get()
        try await server.closeFuture.get()
    }
}

/// Confined to the event loop.
private final class OpenChannels {
    var channels: [any Channel] = []
}

private final class PongHandler: ChannelInboundHandler {
    typealias InboundIn = WebSocketFrame
    typealias OutboundOut = WebSocketFrame

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let frame = Self.unwrapInboundIn(data)
        guard frame.opcode == .ping else { return }
        let pong = WebSocketFrame(fin: true, opcode: .pong, data: frame.unmaskedData)
        context.writeAndFlush(Self.wrapOutboundOut(pong), promise: nil)
    }
}

/// Sends the body of a request to all channels, then answers.
private final class FanOutHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private let open: OpenChannels
    private var body = ByteBuffer()

    init(_ open: OpenChannels) { self.open = open }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch Self.unwrapInboundIn(data) {
        case .head: body.clear()
        case .body(var bytes): body.writeBuffer(&bytes)
        case .end:
            let frame = WebSocketFrame(fin: true, opcode: .text, data: body)
            for channel in open.channels { channel.writeAndFlush(frame, promise: nil) }
            var head = HTTPResponseHead(version: .http1_1, status: .ok)
            head.headers = ["Content-Length": "0"]
            context.write(Self.wrapOutboundOut(.head(head)), promise: nil)
            context.writeAndFlush(Self.wrapOutboundOut(.end(nil)), promise: nil)
        }
    }
}
