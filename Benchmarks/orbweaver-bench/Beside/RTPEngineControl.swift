import ArgumentParser
import BenchValues
import NIOCore
import NIOPosix

/// A client of rtpengine's control protocol (ng): a cookie, a blank and a dictionary in Bencode, over UDP.
///
/// It asks one question at a time.
final class RTPEngineControl {
    private let channel: any Channel
    private let server: NIOCore.SocketAddress
    private let texts: AsyncStream<ByteBuffer>
    private let continuation: AsyncStream<ByteBuffer>.Continuation
    private var count = 0

    init(port: Int) async throws {
        server = try NIOCore.SocketAddress(ipAddress: "127.0.0.1", port: port)
        let (texts, continuation) = AsyncStream.makeStream(of: ByteBuffer.self)
        (self.texts, self.continuation) = (texts, continuation)
        channel = try await DatagramBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .channelOption(.recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: 65_536))
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(Reader(continuation))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
    }

    /// Asks, and waits for the answer.
    ///
    /// - Throws: `ValidationError` if none comes, or one that says that something is wrong.
    func ask(
        _ command: String, _ fields: [String: Bencode] = [:], patience: TimeAmount = .seconds(10)
    ) async throws -> [String: Bencode] {
        count += 1
        let cookie = "\(count)"
        let request = Bencode.dictionary(fields.merging(["command": .text(command)]) { $1 })
        var bytes = ByteBuffer(string: cookie + " ")
        bytes.writeBytes(request.encoded)
        let continuation = continuation
        let deadline = channel.eventLoop.scheduleTask(in: patience) { continuation.yield(ByteBuffer(string: cookie)) }
        defer { deadline.cancel() }
        channel.writeAndFlush(AddressedEnvelope(remoteAddress: server, data: bytes), promise: nil)
        for await text in texts {
            let parts = text.readableBytesView.split(separator: UInt8(ascii: " "), maxSplits: 1)
            guard let name = parts.first, String(decoding: name, as: UTF8.self) == cookie else { continue }
            guard parts.count == 2 else { break }
            let answer = try Bencode(parsing: Array(parts[1])).values
            guard let result = answer["result"]?.text, result != "error" else {
                throw ValidationError("rtpengine, \(command): \(answer["error-reason"]?.text ?? "an error")")
            }
            return answer
        }
        throw ValidationError("rtpengine has not answered \(command)")
    }

    func close() async {
        // Fails only if it is closed already.
        try? await channel.close()
    }

    private final class Reader: ChannelInboundHandler, Sendable {
        typealias InboundIn = AddressedEnvelope<ByteBuffer>

        private let texts: AsyncStream<ByteBuffer>.Continuation

        init(_ texts: AsyncStream<ByteBuffer>.Continuation) { self.texts = texts }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            texts.yield(Self.unwrapInboundIn(data).data)
        }

        func channelInactive(context: ChannelHandlerContext) { texts.finish() }
    }
}
