import AudioStreams
import GatewayAPI
import NIOCore
import NIOWebSocket
import Observability

/// A WebSocket with messages in both directions: a stream of audio. Everything but waking happens on its event loop.
struct StreamSocket: Sendable {
    /// The limit of one message of a client, in bytes: audio of 5 s in the widest format.
    static let messageLimit = 524_288

    private let channel: any Channel
    private let handler: NIOLoopBound<WebSocketHandler>
    private let stream: any V1Stream
    private let draining: DrainingFlag

    /// Makes a socket; to be called on the channel's event loop.
    init(channel: any Channel, handler: WebSocketHandler, stream: any V1Stream, draining: DrainingFlag) {
        self.channel = channel
        self.handler = NIOLoopBound(handler, eventLoop: channel.eventLoop)
        self.stream = stream
        self.draining = draining
    }

    /// Sends what there is, from now until the connection ends. Returns at once.
    func start() {
        stream.connected { [channel, self] in channel.eventLoop.execute { send() } }
    }

    private func send() {
        let (output, handler) = (stream.take(), handler.value)
        for frame in output.frames { handler.transmit(frame) }
        if output.isOverfull { return handler.giveUp() }
        if let end = output.end {
            let code: WebSocketErrorCode =
                end.isViolation ? .policyViolation : draining.isSet ? .goingAway : .normalClosure
            handler.close(code, because: end.isViolation ? .protocolError : .streamEnded, words: end.words)
        }
        handler.read(output.mayRead || output.end != nil)
    }
}

extension SignalingChannel {
    /// Adds the handler of a WebSocket with messages in both directions.
    func addStream(
        _ stream: any V1Stream, to pipeline: ChannelPipeline.SynchronousOperations, of channel: any Channel,
        _ monitor: ConnectionMonitor
    ) throws -> StreamSocket {
        var limits = configuration.channel
        limits.messageLimit = StreamSocket.messageLimit
        // The handler reads no further message before it is told that there is room.
        let reader = StreamReader(stream)
        let handler = WebSocketHandler(
            configuration: limits, monitor: monitor, metrics: metrics, draining: draining, received: reader.receive,
            confirmed: { _ in })
        reader.handler = handler
        handler.peerCloses = { stream.closing(with: $0) }
        try pipeline.addHandler(handler)
        return StreamSocket(channel: channel, handler: handler, stream: stream, draining: draining)
    }
}

/// Hands the messages of a client to its stream. Confined to the socket's event loop.
private final class StreamReader {
    weak var handler: WebSocketHandler?
    private let stream: any V1Stream

    init(_ stream: any V1Stream) { self.stream = stream }

    func receive(_ frame: StreamFrame) {
        if !stream.receive(frame) { handler?.read(false) }
    }
}
