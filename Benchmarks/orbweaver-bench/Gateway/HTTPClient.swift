import ArgumentParser
import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix

/// One keep-alive connection over loopback, one request at a time.
struct HTTPClient: Sendable {
    struct Answer: Sendable {
        var status: UInt = 0
        var body = ByteBuffer()
    }

    private let channel: any Channel
    private let exchange: NIOLoopBound<Exchange>

    init(port: Int) async throws {
        (channel, exchange) = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .connect(host: "127.0.0.1", port: port) { channel in
                channel.eventLoop.makeCompletedFuture {
                    let exchange = Exchange(on: channel.eventLoop)
                    try channel.pipeline.syncOperations.addHTTPClientHandlers()
                    try channel.pipeline.syncOperations.addHandler(exchange)
                    return (channel, NIOLoopBound(exchange, eventLoop: channel.eventLoop))
                }
            }
    }

    /// - Parameters:
    ///   - user: authenticated with the password of the demo users.
    ///   - key: of the application that asks.
    /// - Throws: `ValidationError` if no answer comes.
    func request(
        _ method: HTTPMethod, _ path: String, user: String? = nil, key: String? = nil, body: ByteBuffer = ByteBuffer()
    ) async throws -> Answer {
        do { return try await submit(method, path, user: user, key: key, body: body).get() } catch {
            throw ValidationError("\(method) \(path) was not answered: \(error)")
        }
    }

    /// Sends a request, and does not wait for its answer.
    func submit(
        _ method: HTTPMethod, _ path: String, user: String? = nil, key: String? = nil, body: ByteBuffer = ByteBuffer()
    ) -> EventLoopFuture<Answer> {
        var head = HTTPRequestHead(version: .http1_1, method: method, uri: path)
        head.headers = [
            "Host": "127.0.0.1", "Content-Type": "application/json", "Content-Length": "\(body.readableBytes)",
        ]
        if let user {
            head.headers.add(name: "Authorization", value: "Basic " + Data("\(user):dev".utf8).base64EncodedString())
        }
        if let key { head.headers.add(name: "Authorization", value: "Bearer \(key)") }
        return channel.eventLoop.flatSubmit { [head, exchange] in exchange.value.send(head, body) }
    }

    /// Sends a request that has to succeed.
    ///
    /// - Throws: `ValidationError` with the answer if its status is not 2xx.
    @discardableResult
    func succeed(
        _ method: HTTPMethod, _ path: String, user: String? = nil, key: String? = nil, body: ByteBuffer = ByteBuffer()
    ) async throws -> Answer {
        let answer = try await request(method, path, user: user, key: key, body: body)
        guard 200..<300 ~= answer.status else {
            throw ValidationError("\(method) \(path): \(answer.status) \(String(buffer: answer.body))")
        }
        return answer
    }

    func close() async {
        // Fails only if it is closed already.
        try? await channel.close()
    }

    /// Confined to the connection's loop.
    private final class Exchange: ChannelInboundHandler {
        typealias InboundIn = HTTPClientResponsePart
        typealias OutboundOut = HTTPClientRequestPart

        private let loop: any EventLoop
        private var context: ChannelHandlerContext?
        private var answer = Answer()
        private var waiting: EventLoopPromise<Answer>?
        private var deadline: Scheduled<Void>?

        init(on loop: any EventLoop) { self.loop = loop }

        func handlerAdded(context: ChannelHandlerContext) { self.context = context }
        func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

        func send(_ head: HTTPRequestHead, _ body: ByteBuffer) -> EventLoopFuture<Answer> {
            guard let context else { return loop.makeFailedFuture(ChannelError.ioOnClosedChannel) }
            let promise = context.eventLoop.makePromise(of: Answer.self)
            waiting = promise
            let channel = context.channel
            deadline = context.eventLoop.scheduleTask(in: Self.patience) { channel.close(promise: nil) }
            context.write(Self.wrapOutboundOut(.head(head)), promise: nil)
            if body.readableBytes > 0 { context.write(Self.wrapOutboundOut(.body(.byteBuffer(body))), promise: nil) }
            context.writeAndFlush(Self.wrapOutboundOut(.end(nil)), promise: nil)
            return promise.futureResult
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            switch Self.unwrapInboundIn(data) {
            case .head(let head): answer = Answer(status: head.status.code)
            case .body(var bytes): answer.body.writeBuffer(&bytes)
            case .end: settle(.success(answer))
            }
        }

        func channelInactive(context: ChannelHandlerContext) { settle(.failure(ChannelError.eof)) }

        private func settle(_ result: Result<Answer, any Error>) {
            deadline?.cancel()
            waiting?.completeWith(result)
            (deadline, waiting) = (nil, nil)
        }

        /// The connection of a request without an answer is closed after this time.
        private static let patience = TimeAmount.seconds(30)
    }
}
