import EventLoops
import NIOCore
import Observability

/// Stands next to the socket, below TLS: sees every byte, and ends a connection whose bytes stop where they should not.
///
/// A connection is reset if its client reads none of the waiting bytes within the write timeout. When the gateway
/// stops, the connection of a client for which the gateway still waits is reset as well, as soon as no bytes move
/// any more.
final class ConnectionMonitor: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundIn = IOData
    typealias OutboundOut = IOData

    /// Another client needs the place of this connection.
    struct EvictionEvent: Sendable {}

    /// The connection is about to be reset, because the client does not read what it is sent.
    struct ReaderIsStuck: Sendable {}

    let place: ConnectionPlace
    /// What a trusted proxy has told in its PROXY header; `nil`: there was none.
    private(set) var announced: ProxyHeader.Source?
    private let writeTimeout: TimeAmount
    private let metrics: GatewayMetrics
    private var context: ChannelHandlerContext?
    private var isChannel = false
    private var received = 0
    private var sent = 0
    private var writes = 0
    /// Runs while the kernel has not taken all bytes.
    private var watch: Scheduled<Void>?
    private var drain: Scheduled<Void>?

    init(place: ConnectionPlace, writeTimeout: TimeAmount, metrics: GatewayMetrics) {
        self.place = place
        self.writeTimeout = writeTimeout
        self.metrics = metrics
    }

    /// Takes what a trusted proxy tells in its PROXY header. A connection without such a header is its peer's own.
    func announce(_ source: ProxyHeader.Source) {
        announced = source
        switch source {
        case .client(let address): place.belongs(to: address)
        case .proxy: break
        }
    }

    /// Marks the connection as a notification channel.
    func becomeChannel() {
        isChannel = true
        place.becomeChannel()
    }

    /// How many bytes the kernel has taken, those of TLS included.
    var takenBytes: Int { context.map { taken($0) } ?? 0 }

    /// Ends the connection at once, without what still waits to be sent.
    func reset() {
        guard let context else { return }
        context.channel.resetOnClose()
        context.close(promise: nil)
    }

    // MARK: - From the pipeline

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        // One read of this size at a time bounds what is read ahead of the answers (see RequestThrottle).
        try? context.channel.syncOptions?.setOption(.maxMessagesPerRead, value: 1)
        try? context.channel.syncOptions?.setOption(
            .recvAllocator, value: AdaptiveRecvByteBufferAllocator(minimum: 64, initial: 2_048, maximum: 16_384))
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        watch?.cancel()
        drain?.cancel()
        self.context = nil
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        received += Self.unwrapInboundIn(data).readableBytes
        if watch != nil, owed(context) == 0 { readerTookAll() }
        context.fireChannelRead(data)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        switch Self.unwrapOutboundIn(data) {
        case .byteBuffer(let bytes):
            sent += bytes.readableBytes
            if writes < Self.firstWrites {
                writes += 1
                // TLS keeps a buffer of 16 KiB for its records as long as the connection lasts, and most records are
                // short.
                if bytes.capacity >= Self.largeBuffer { bytes.releaseSparePages() }
            }
        case .fileRegion(let region): sent += region.readableBytes
        }
        context.write(data, promise: promise)
    }

    func flush(context: ChannelHandlerContext) {
        context.flush()
        guard watch == nil, owed(context) > 0 else { return }
        place.awaitReader()
        watchReader(context, taken: taken(context), quietChecks: 0)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case is EvictionEvent: reset()
        case is ChannelShouldQuiesceEvent:
            context.fireUserInboundEventTriggered(event)
            // A notification channel sends its own close frame.
            if !isChannel, drain == nil { watchDrain(context, moved: received + taken(context), checks: 1) }
        default: context.fireUserInboundEventTriggered(event)
        }
    }

    // MARK: - Deadlines

    private static let largeBuffer = 16_384
    /// Enough writes to have seen the buffer that TLS keeps, and too few to cost a busy connection anything.
    private static let firstWrites = 4

    /// The number of bytes that the kernel has not taken yet.
    private func owed(_ context: ChannelHandlerContext) -> Int {
        // A channel without this option is not a socket, and nothing ever waits on it.
        (try? context.channel.syncOptions?.getOption(.bufferedWritableBytes)) ?? 0
    }

    private func taken(_ context: ChannelHandlerContext) -> Int { sent - owed(context) }

    private func readerTookAll() {
        watch?.cancel()
        watch = nil
        place.readerTookAll()
    }

    /// Checks twice per timeout. Two checks in a row without progress are one timeout.
    private func watchReader(_ context: ChannelHandlerContext, taken before: Int, quietChecks: Int) {
        let half = TimeAmount.nanoseconds(writeTimeout.nanoseconds / 2)
        watch = context.eventLoop.assumeIsolated().scheduleTask(in: half) { [weak self] in
            guard let self, let context = self.context else { return }
            self.watch = nil
            guard self.owed(context) > 0 else { return self.readerTookAll() }
            let taken = self.taken(context)
            guard taken == before else { return self.watchReader(context, taken: taken, quietChecks: 0) }
            guard quietChecks > 0 else { return self.watchReader(context, taken: taken, quietChecks: 1) }
            context.fireUserInboundEventTriggered(ReaderIsStuck())
            if !self.isChannel { self.metrics.connectionsClosed[.unread].increment() }
            self.reset()
        }
    }

    /// Checks while the gateway stops. A client that the gateway waits for has one interval to move a byte, and
    /// ``drainChecks`` intervals in all.
    private func watchDrain(_ context: ChannelHandlerContext, moved before: Int, checks: Int) {
        drain = context.eventLoop.assumeIsolated().scheduleTask(in: Self.drainCheck) { [weak self] in
            guard let self, let context = self.context else { return }
            if self.owed(context) == 0 { self.readerTookAll() }
            let moved = self.received + self.taken(context)
            guard self.place.waitingSince != nil, moved == before || checks >= Self.drainChecks else {
                return self.watchDrain(context, moved: moved, checks: checks + 1)
            }
            self.metrics.connectionsClosed[.draining].increment()
            self.reset()
        }
    }

    private static let drainCheck = TimeAmount.milliseconds(500)
    private static let drainChecks = 4
}
