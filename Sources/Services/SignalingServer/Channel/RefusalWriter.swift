import GatewayAPI
import HTTPTypes
import NIOCore
import NIOHTTP1
import Observability

/// Writes a refusal where no request handling is in place yet, and counts it like any other answer.
enum RefusalWriter {
    /// Writes outwards from a handler of the pipeline.
    ///
    /// - Parameter metrics: counts the answer; `nil` if it is counted elsewhere.
    static func write(_ refusal: Refusal, to context: ChannelHandlerContext, counting metrics: GatewayMetrics?) {
        for part in parts(refusal, metrics) { context.write(NIOAny(part), promise: nil) }
        context.flush()
    }

    /// Writes from the end of the pipeline. The future succeeds when the last byte has been sent.
    static func write(_ refusal: Refusal, to channel: any Channel, counting metrics: GatewayMetrics) -> EventLoopFuture<
        Void
    > {
        let parts = parts(refusal, metrics)
        for part in parts.dropLast() { channel.write(part, promise: nil) }
        return channel.writeAndFlush(parts[parts.count - 1])
    }

    /// Writes an answer from the end of the pipeline. The future succeeds when the last byte has been sent.
    static func write(_ answer: Answer, to channel: any Channel, counting metrics: GatewayMetrics) -> EventLoopFuture<
        Void
    > {
        let parts = parts(answer, metrics)
        for part in parts.dropLast() { channel.write(part, promise: nil) }
        return channel.writeAndFlush(parts[parts.count - 1])
    }

    private static func parts(_ refusal: Refusal, _ metrics: GatewayMetrics?) -> [HTTPServerResponsePart] {
        parts(Answer.refusal(refusal, at: nil), metrics)
    }

    private static func parts(_ answer: Answer, _ metrics: GatewayMetrics?) -> [HTTPServerResponsePart] {
        metrics?.httpRequests[HTTPStatusClass(status: answer.status.code)].increment()
        let headers = HTTPHeaders(answer.headers.map { ($0.name.rawName, $0.value) })
        let head = HTTPResponseHead(
            version: .http1_1, status: HTTPResponseStatus(statusCode: answer.status.code), headers: headers)
        return [.head(head), .body(.byteBuffer(answer.body)), .end(nil)]
    }
}
