import ArgumentParser
import Foundation
import NIOCore
import NIOWebSocket

/// A notification channel; what arrives on it can be awaited in order.
final class NotificationSocket: Sendable {
    /// The parts of a notification that a scripted client looks at.
    struct Notification: Decodable, Sendable {
        struct Parameters: Decodable, Sendable {
            var sessionData: String
            var sdp: String?
            var statusCode: Int?
            var reasonText: String?
        }
        var eventType: String
        var sessionParams: Parameters?

        /// Its kind, and why if it says so.
        fileprivate var summary: String {
            [eventType, sessionParams?.statusCode.map { "\($0)" }, sessionParams?.reasonText].compactMap(\.self).joined(
                separator: " ")
        }
    }

    private let channel: any Channel
    private let texts: AsyncStream<ByteBuffer>

    init(port: Int, overTLS: Bool = false, path: String) async throws {
        let (texts, continuation) = AsyncStream.makeStream(
            of: ByteBuffer.self, bufferingPolicy: .bufferingNewest(1_000))
        self.texts = texts
        channel = try await WebSocketConnection.open(port: port, overTLS: overTLS, path: path) { Reader(continuation) }
    }

    /// The next notification of this type; what comes before it is passed over.
    ///
    /// - Throws: `ValidationError` that names what came instead, if the channel is closed or nothing comes for 30
    ///   seconds.
    func next(_ type: String) async throws -> Notification {
        let channel = channel
        let deadline = channel.eventLoop.scheduleTask(in: .seconds(30)) { channel.close(promise: nil) }
        defer { deadline.cancel() }
        var others: [String] = []
        for await text in texts {
            let message = try JSONDecoder().decode([String: Notification].self, from: Data(text.readableBytesView))
            guard let notification = message["notificationMessage"] else { continue }
            if notification.eventType == type { return notification }
            others.append(notification.summary)
        }
        throw ValidationError(
            "no \(type) in 30 seconds, or the channel was closed; what came: \(others.joined(separator: ", "))")
    }

    func close() async {
        // Fails only if it is closed already.
        try? await channel.close()
    }

    private final class Reader: ChannelInboundHandler, Sendable {
        typealias InboundIn = WebSocketFrame

        private let texts: AsyncStream<ByteBuffer>.Continuation

        init(_ texts: AsyncStream<ByteBuffer>.Continuation) { self.texts = texts }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            let frame = Self.unwrapInboundIn(data)
            if frame.opcode == .text { texts.yield(frame.unmaskedData) }
            WebSocketConnection.answerPing(frame, context)
        }

        func channelInactive(context: ChannelHandlerContext) { texts.finish() }
    }
}
