import AudioStreams
import CallControl
import CallRuntime
import NIOCore
import NIOWebSocket
import Observability
import Zlib

/// One open notification channel: writes text frames, listens for signs of life, and closes in order. Everything
/// happens on the channel's event loop.
final class WebSocketHandler: ChannelInboundHandler {
    typealias InboundIn = WebSocketFrame
    typealias OutboundOut = WebSocketFrame

    private enum State {
        case open
        /// The gateway's close frame has been sent. The peer's close frame, or a timer, ends the connection (RFC 6455
        /// §7.1.1).
        case closing
        case closed
    }

    private let configuration: ChannelConfiguration
    private let monitor: ConnectionMonitor
    private let metrics: GatewayMetrics
    private let draining: DrainingFlag
    private var state = State.open
    private var frames: ClientFrames
    /// `nil`: no compression was agreed to.
    private let compression: MessageCompression?
    /// Why the channel closes, for the metrics: the first reason found.
    private var closure: WebSocketClosure?
    private var lastHeard = NIODeadline.now()
    private var pinged = false
    private var timer: Scheduled<Void>?
    private var confirmation: Confirmation
    private var confirmationTimer: Scheduled<Void>?
    /// Runs while more waits for the client than the limit.
    private var readerCheck: Scheduled<Void>?
    /// Is told the number up to which the client has received everything.
    private let confirmed: (UInt64) -> Void
    /// Takes the messages of the client; `nil`: they are only signs of life.
    private let received: ((StreamFrame) -> Void)?
    /// Is told with which code the peer closes the socket; 1005: without one. It is set before the first frame comes.
    var peerCloses: ((Int) -> Void)?
    private var context: ChannelHandlerContext?
    /// The place of the encoder, behind which frames are bytes.
    private var encoder: ChannelHandlerContext?
    private var isReading = true

    /// Makes the handler of a channel.
    ///
    /// - Parameters:
    ///   - compression: compresses its messages; `nil`: none was agreed to.
    ///   - received: takes the messages of the client; `nil`: they are only signs of life.
    ///   - confirmed: is told the number up to which the client has received everything.
    init(
        configuration: ChannelConfiguration, monitor: ConnectionMonitor, metrics: GatewayMetrics,
        draining: DrainingFlag, compression: MessageCompression? = nil, received: ((StreamFrame) -> Void)? = nil,
        confirmed: @escaping (UInt64) -> Void
    ) {
        self.configuration = configuration
        self.monitor = monitor
        self.metrics = metrics
        self.draining = draining
        self.compression = compression
        self.received = received
        self.confirmed = confirmed
        frames = ClientFrames(sizeLimit: configuration.messageLimit, readsMessages: received != nil)
        confirmation = Confirmation(configuration.confirmation)
    }

    // MARK: - From the owner of the channel

    /// Sends a notification.
    ///
    /// - Parameter number: its `eventId`.
    func transmit(_ text: ByteBuffer, numbered number: UInt64) {
        guard state == .open, let context else { return }
        guard mayWait(text.readableBytes, context) else { return giveUp() }
        let payload = compression?.compress(text)
        if payload == nil, let encoder {
            // In one piece, which the encoder would make two of.
            var frame = ByteBuffer()
            frame.writeTextFrame(text)
            encoder.writeAndFlush(WebSocketFrameEncoder.wrapOutboundOut(frame), promise: nil)
        } else {
            let frame = WebSocketFrame(fin: true, rsv1: payload != nil, opcode: .text, data: payload ?? text)
            context.writeAndFlush(Self.wrapOutboundOut(frame), promise: nil)
        }
        confirm(confirmation.sent(number), context)
    }

    /// Sends a text that has no number.
    ///
    /// - Parameter promise: succeeds once the kernel has taken it. Whoever sends waits for it before the next text.
    func send(_ text: ByteBuffer, _ promise: EventLoopPromise<Void>) {
        guard state == .open, let context else { return promise.fail(ChannelError.ioOnClosedChannel) }
        let frame = WebSocketFrame(fin: true, opcode: .text, data: text)
        context.writeAndFlush(Self.wrapOutboundOut(frame), promise: promise)
    }

    /// Sends frames that are written already, which other sockets may be sent as well.
    ///
    /// - Parameter promise: succeeds once the kernel has taken them.
    func send(frames: ByteBuffer, _ promise: EventLoopPromise<Void>) {
        guard state == .open, let encoder else { return promise.fail(ChannelError.ioOnClosedChannel) }
        encoder.writeAndFlush(WebSocketFrameEncoder.wrapOutboundOut(frames), promise: promise)
    }

    /// Sends a message of a stream. A peer that does not read is a slow reader.
    func transmit(_ message: StreamFrame) {
        guard state == .open, let context else { return }
        let frame =
            switch message {
            case .text(let text): WebSocketFrame(fin: true, opcode: .text, data: ByteBuffer(string: text))
            case .binary(let bytes): WebSocketFrame(fin: true, opcode: .binary, data: ByteBuffer(bytes: bytes))
            }
        guard owedBytes(context) + frame.length <= configuration.slowReaderLimit else { return giveUp() }
        context.writeAndFlush(Self.wrapOutboundOut(frame), promise: nil)
    }

    /// Reads on, or lets what the peer sends wait in the kernel.
    func read(_ reads: Bool) {
        guard let context, reads != isReading else { return }
        isReading = reads
        // What the peer has sent meanwhile, and its pongs, come only now.
        (lastHeard, pinged) = (.now(), false)
        try? context.channel.syncOptions?.setOption(.autoRead, value: reads)
        if reads { context.read() }
    }

    /// Asks the client how much it has received.
    private func confirm(_ need: Confirmation.Need, _ context: ChannelHandlerContext) {
        switch need {
        case .nothing: break
        case .now:
            guard let payload = confirmation.makePing(at: .now()) else { return }
            context.writeAndFlush(
                Self.wrapOutboundOut(WebSocketFrame(fin: true, opcode: .ping, data: payload)), promise: nil)
        case .later:
            confirmationTimer = context.eventLoop.assumeIsolated().scheduleTask(in: configuration.confirmation.delay) {
                [weak self] in
                guard let self, state == .open, let context = self.context else { return }
                confirm(.now, context)
            }
        }
    }

    /// Passes on what the client has received, and asks for the rest.
    private func pass(_ number: UInt64?, _ context: ChannelHandlerContext) {
        guard let number else { return }
        confirmed(number)
        if state == .open { confirm(confirmation.need(), context) }
    }

    /// Sends a close frame behind everything that was transmitted before.
    ///
    /// - Parameter words: why, for people; at most 123 bytes of UTF-8 (RFC 6455 §5.5.1).
    func close(_ code: WebSocketErrorCode, because reason: WebSocketClosure, words: String = "") {
        guard state == .open, let context else { return }
        closure = closure ?? reason
        state = .closing
        var data = context.channel.allocator.buffer(capacity: 2)
        data.write(webSocketErrorCode: code)
        data.writeString(words)
        writeClose(data, context)
        // The peer's close frame is read, whatever else it sends before.
        read(true)
        schedule(in: configuration.closeTimeout, context) { $1.close(promise: nil) }
    }

    /// Whether so many bytes more may wait for the client. What it has missed is sent in one go, and may be more than
    /// the limit: a client that is over it has to go on reading.
    private func mayWait(_ more: Int, _ context: ChannelHandlerContext) -> Bool {
        let owed = owedBytes(context)
        // A frame with nothing waiting in front of it says nothing about the reader, however large the frame is.
        guard owed > 0, owed + more > configuration.slowReaderLimit else { return true }
        guard owed + more <= configuration.slowReaderLimit * Self.catchUpFactor else { return false }
        if readerCheck == nil { watchReader(context, taken: monitor.takenBytes) }
        return true
    }

    /// Gives the client up if it is over the limit then, and has taken next to nothing.
    private func watchReader(_ context: ChannelHandlerContext, taken before: Int) {
        readerCheck = context.eventLoop.assumeIsolated().scheduleTask(in: Self.readerCheckTime) { [weak self] in
            guard let self, let context = self.context else { return }
            self.readerCheck = nil
            guard self.owedBytes(context) > self.configuration.slowReaderLimit else { return }
            let taken = self.monitor.takenBytes
            guard taken - before >= self.configuration.slowReaderLimit / Self.catchUpFactor else {
                return self.giveUp()
            }
            self.watchReader(context, taken: taken)
        }
    }

    /// What waits for a client that catches up is at most so many times the limit. In each interval it takes at least
    /// the limit divided by it.
    private static let catchUpFactor = 16
    private static let readerCheckTime = TimeAmount.seconds(2)

    /// Resets the connection of a peer that does not read. Everything that waits for it is dropped at once, by the
    /// kernel too.
    func giveUp() {
        closure = closure ?? .tooSlow
        monitor.reset()
    }

    /// How many bytes the kernel has not taken yet.
    private func owedBytes(_ context: ChannelHandlerContext) -> Int {
        // A channel without this option is not a socket, and nothing ever waits on it.
        (try? context.channel.syncOptions?.getOption(.bufferedWritableBytes)) ?? 0
    }

    // MARK: - From the peer

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let frame = Self.unwrapInboundIn(data)
        lastHeard = .now()
        pinged = false
        let payload = frame.unmaskedData
        let verdict = frames.receive(
            frame.opcode, fin: frame.fin, masked: frame.maskKey != nil,
            reserved: compression == nil && frame.rsv1 || frame.rsv2 || frame.rsv3, compressed: frame.rsv1,
            payload: payload.readableBytesView)
        switch decompressed(verdict) {
        case .compressed: preconditionFailure("no message stays compressed")
        case .message(let bytes, let isText):
            guard state == .open else { return }
            received?(isText ? .text(String(decoding: bytes, as: UTF8.self)) : .binary(bytes))
        case .alive:
            pass(frame.opcode == .pong ? confirmation.pong(payload) : confirmation.text(at: lastHeard), context)
        case .pong:
            guard state == .open else { return }
            // A peer that floods pings without reading is a slow reader like any other.
            guard mayWait(payload.readableBytes, context) else { return giveUp() }
            // A later ping may be answered in the place of this one (RFC 6455 §5.5.3). A client that catches up is owed
            // notifications beyond the limit, and no pongs.
            guard owedBytes(context) <= configuration.slowReaderLimit else { return }
            let pong = WebSocketFrame(fin: true, opcode: .pong, data: payload)
            context.writeAndFlush(Self.wrapOutboundOut(pong), promise: nil)
        case .closed:
            if state == .open {
                state = .closing
                peerCloses?(payload.getInteger(at: payload.readerIndex, as: UInt16.self).map { Int($0) } ?? 1_005)
                // The code is sent back as it came, without the reason text (RFC 6455 §5.5.1).
                writeClose(payload.getSlice(at: payload.readerIndex, length: 2) ?? ByteBuffer(), context)
            }
            context.close(promise: nil)
        case .violation(let code):
            // An answer to the gateway's close frame ends the connection, whatever is wrong with it.
            if state == .closing, frame.opcode == .connectionClose { return context.close(promise: nil) }
            close(code, because: .protocolError)
        }
    }

    private func decompressed(_ verdict: ClientFrames.Verdict) -> ClientFrames.Verdict {
        guard case .compressed(let payload, let isText) = verdict, let compression else { return verdict }
        do throws(Inflater.Fault) {
            let bytes = try compression.decompress(payload, limit: configuration.messageLimit)
            return frames.decompressed(bytes, isText: isText)
        } catch {
            switch error {
            case .malformed: return .violation(.dataInconsistentWithMessage)
            case .tooLarge: return .violation(.messageTooLarge)
            }
        }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case is ChannelShouldQuiesceEvent:
            close(.goingAway, because: .goingAway)
        case is ConnectionMonitor.ReaderIsStuck:
            closure = closure ?? .tooSlow
        case ChannelEvent.inputClosed:
            // The server allows half-closure; a WebSocket has no use for one.
            context.close(promise: nil)
        default:
            context.fireUserInboundEventTriggered(event)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if error is FrameLengthGuard.LengthNotMinimal { return close(.protocolError, because: .protocolError) }
        switch error as? NIOWebSocketError {
        case .invalidFrameLength: close(.messageTooLarge, because: .protocolError)
        case .fragmentedControlFrame, .multiByteControlFrameLength: close(.protocolError, because: .protocolError)
        case nil: context.close(promise: nil)
        }
    }

    // MARK: - Life

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        encoder = try? context.pipeline.syncOperations.context(handlerType: WebSocketFrameEncoder.self)
        metrics.webSocketsActive.increment()
        watch(context)
        // The event that tells of the shutdown may have passed before this handler was added.
        if draining.isSet { close(.goingAway, because: .goingAway) }
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        timer?.cancel()
        confirmationTimer?.cancel()
        readerCheck?.cancel()
        state = .closed
        self.context = nil
        encoder = nil
        metrics.webSocketsActive.decrement()
        metrics.webSocketsClosed[closure ?? .byPeer].increment()
    }

    /// Waits for frames (spidr-wire §4.2). After half of the idle time without a frame the gateway sends a ping; after
    /// the other half without an answer it closes the channel.
    ///
    /// No channel is closed without a ping, however late the timer comes. A peer that is not read is sent pings, and is
    /// not expected to answer: its pongs wait in the kernel behind what it has said. One that takes nothing more is a
    /// slow reader.
    private func watch(_ context: ChannelHandlerContext) {
        let half = TimeAmount.nanoseconds(configuration.idleTimeout.nanoseconds / 2)
        let due = pinged ? .now() + half : lastHeard + half
        schedule(in: max(due - .now(), .zero), context) { handler, context in
            guard handler.state == .open else { return }
            if handler.pinged { return handler.close(.policyViolation, because: .silent) }
            if NIODeadline.now() - handler.lastHeard >= half {
                handler.pinged = handler.isReading
                if !handler.isReading { handler.lastHeard = .now() }
                let ping = WebSocketFrame(fin: true, opcode: .ping, data: ByteBuffer())
                context.writeAndFlush(Self.wrapOutboundOut(ping), promise: nil)
            }
            handler.watch(context)
        }
    }

    private func schedule(
        in time: TimeAmount, _ context: ChannelHandlerContext,
        _ action: @escaping (WebSocketHandler, ChannelHandlerContext) -> Void
    ) {
        timer?.cancel()
        timer = context.eventLoop.assumeIsolated().scheduleTask(in: time) { [weak self] in
            guard let self, let context = self.context else { return }
            action(self, context)
        }
    }

    private func writeClose(_ data: ByteBuffer, _ context: ChannelHandlerContext) {
        context.writeAndFlush(
            Self.wrapOutboundOut(WebSocketFrame(fin: true, opcode: .connectionClose, data: data)), promise: nil)
    }
}

/// The limits of one notification channel.
struct ChannelConfiguration: Sendable {
    /// How long a channel stays open without any frame from the client.
    var idleTimeout: TimeAmount
    /// How many bytes may wait for a slow reader; for one that goes on reading 16 times as many.
    var slowReaderLimit: Int
    /// The limit of one message of the client, in bytes.
    var messageLimit: Int
    /// How long the gateway waits for the peer's close frame.
    var closeTimeout: TimeAmount
    /// When the gateway asks how much the client has received.
    var confirmation: Confirmation.Limits
}
