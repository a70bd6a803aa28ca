import NIOCore
import NIOPosix
import NIOSSL
import Sockets

/// A TCP connection that sends and receives plain bytes, so that tests can also say what no library would.
final class RawClient: Sendable {
    private struct State {
        var received: [UInt8] = []
        var isClosed = false
        var waiting: [(isEnough: @Sendable ([UInt8]) -> Int?, resume: CheckedContinuation<[UInt8]?, Never>)] = []
    }

    private final class Collector: ChannelInboundHandler, Sendable {
        typealias InboundIn = ByteBuffer
        let client: RawClient
        init(_ client: RawClient) { self.client = client }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            let bytes = Array(Self.unwrapInboundIn(data).readableBytesView)
            client.change { $0.received += bytes }
        }
        func channelInactive(context: ChannelHandlerContext) { client.change { $0.isClosed = true } }
        func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
    }

    private final class Preamble: ChannelInboundHandler, Sendable {
        typealias InboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer
        let bytes: [UInt8]
        init(_ bytes: [UInt8]) { self.bytes = bytes }

        func channelActive(context: ChannelHandlerContext) {
            context.writeAndFlush(Self.wrapOutboundOut(ByteBuffer(bytes: bytes)), promise: nil)
            context.fireChannelActive()
        }
    }

    private let state = Lock(State())
    private let channel: Lock<(any Channel)?> = Lock(nil)

    /// - Parameters:
    ///   - source: one of the machine's own addresses, such as any of 127.0.0.0/8.
    ///   - receiveBuffer: bytes that the kernel takes for a client that does not read; its own choice unless given.
    ///   - preamble: bytes that are sent before everything else, TLS included.
    ///   - sendsOn: after the peer has ended its direction; else that is the end.
    static func connect(
        _ port: Int, from source: String? = nil, tls: NIOSSLContext? = nil, autoRead: Bool = true,
        receiveBuffer: Int? = nil, preamble: [UInt8] = [],
        sendsOn: Bool = false
    ) async throws -> RawClient {
        let client = RawClient()
        var bootstrap = ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .channelOption(.autoRead, value: autoRead).channelOption(.allowRemoteHalfClosure, value: sendsOn)
        if let receiveBuffer {
            bootstrap = bootstrap.channelOption(.socketOption(.so_rcvbuf), value: SocketOptionValue(receiveBuffer))
        }
        if let source { bootstrap = bootstrap.bind(to: try SocketAddress(ipAddress: source, port: 0)) }
        let channel =
            try await bootstrap
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    if !preamble.isEmpty { try channel.pipeline.syncOperations.addHandler(Preamble(preamble)) }
                    if let tls {
                        try channel.pipeline.syncOperations.addHandler(
                            NIOSSLClientHandler(context: tls, serverHostname: nil))
                    }
                    try channel.pipeline.syncOperations.addHandler(Collector(client))
                }
            }
            .connect(host: "127.0.0.1", port: port).get()
        client.channel.withLock { $0 = channel }
        return client
    }

    func send(_ bytes: [UInt8]) async throws {
        try await openChannel.writeAndFlush(ByteBuffer(bytes: bytes)).get()
    }

    func send(_ text: String) async throws { try await send(Array(text.utf8)) }

    /// What the peer sends stays in the kernel's buffers from now on.
    func stopReading() async throws { try await openChannel.setOption(.autoRead, value: false).get() }

    func resumeReading() async throws { try await openChannel.setOption(.autoRead, value: true).get() }

    func close() async { try? await openChannel.close().get() }

    /// Ends our direction only.
    func finishSending() async throws { try await openChannel.close(mode: .output).get() }

    /// Everything up to what `isEnough` counts; `nil` if the connection ends before.
    func read(until isEnough: @escaping @Sendable ([UInt8]) -> Int?) async -> [UInt8]? {
        await withCheckedContinuation { continuation in
            change { $0.waiting.append((isEnough, continuation)) }
        }
    }

    /// Everything until the peer closes.
    func readToEnd() async -> [UInt8] {
        while await read(until: { _ in nil }) != nil {}
        return state.withLock { $0.received }
    }

    private var openChannel: any Channel {
        guard let channel = channel.withLock({ $0 }) else { preconditionFailure("connected") }
        return channel
    }

    private func change(_ body: (inout State) -> Void) {
        let ready = state.withLock { state in
            body(&state)
            var ready: [(CheckedContinuation<[UInt8]?, Never>, [UInt8]?)] = []
            while let first = state.waiting.first {
                if let count = first.isEnough(state.received) {
                    ready.append((first.resume, Array(state.received.prefix(count))))
                    state.received.removeFirst(count)
                } else if state.isClosed {
                    ready.append((first.resume, nil))
                } else {
                    break
                }
                state.waiting.removeFirst()
            }
            return ready
        }
        for (continuation, bytes) in ready { continuation.resume(returning: bytes) }
    }
}
