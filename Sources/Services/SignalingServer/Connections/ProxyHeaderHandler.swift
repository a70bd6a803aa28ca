import EventLoops
import NIOCore
import Observability
import Primitives

/// Takes the header of the PROXY protocol off a connection that a trusted proxy passes on, before TLS, and leaves the
/// pipeline. A connection without a valid header is reset.
///
/// The time for the first request includes the header (``ConnectionTimeouts``).
final class ProxyHeaderHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    private let monitor: ConnectionMonitor
    private let metrics: GatewayMetrics
    /// The header as far as it has arrived; at most one read longer than a header may be.
    private var received = ByteBuffer()
    private var hasFailed = false

    init(before monitor: ConnectionMonitor, metrics: GatewayMetrics) {
        self.monitor = monitor
        self.metrics = metrics
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !hasFailed else { return }
        var bytes = Self.unwrapInboundIn(data)
        received.writeBuffer(&bytes)
        do throws(ProxyHeader.Fault) {
            guard let header = try ProxyHeader.parse(Array(received.readableBytesView).span) else { return }
            received.moveReaderIndex(forwardBy: header.length)
            monitor.announce(header.source)
        } catch {
            return refuse(error, context)
        }
        if received.readableBytes > 0 { context.fireChannelRead(Self.wrapInboundOut(received)) }
        // Fails only if the handler is not in the pipeline.
        context.pipeline.syncOperations.removeHandler(context: context, promise: nil)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        // No header can become complete any more.
        if case .inputClosed? = event as? ChannelEvent { return context.close(promise: nil) }
        context.fireUserInboundEventTriggered(event)
    }

    private func refuse(_ fault: ProxyHeader.Fault, _ context: ChannelHandlerContext) {
        hasFailed = true
        metrics.connectionsClosed[.proxyHeader].increment()
        monitor.place.headerRefused(fault)
        monitor.reset()
    }
}
