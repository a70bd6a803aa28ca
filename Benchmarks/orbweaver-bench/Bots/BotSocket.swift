import NIOCore
import NIOWebSocket
import Primitives
import Sockets
import Synchronization

/// The WebSocket of a bot, on the audio stream of a call: L16 at 16,000 samples per second, both ways.
final class BotSocket: Sendable {
    /// Samples in 20 ms.
    static let frame = 320
    /// What no sample of silence reaches.
    static let loudness = 1_500
    /// How many pieces the bot is ahead of the time.
    private static let lead = 10

    private let channel: any Channel
    private let traffic: Traffic

    private final class Traffic: Sendable {
        /// Of the audio that has come.
        let bytes = Atomic<Int>(0)
        /// Pieces that were sent.
        let pieces = Atomic<Int>(0)
        let isListening = Atomic<Bool>(false)
        /// When something loud came, in nanoseconds; 0: it has not come.
        let loud = Atomic<UInt64>(0)
    }

    /// Opens it.
    init(_ bots: BotCalls, _ call: String) async throws {
        let (port, path) = (bots.gateway.port, "/v1/calls/\(call)/stream?rate=16000&access_token=\(bots.key)")
        let traffic = Traffic()
        self.traffic = traffic
        channel = try await WebSocketConnection.open(port: port, path: path) { Ear(traffic) }
    }

    /// How many bytes of audio have come.
    var bytes: Int { traffic.bytes.load(ordering: .relaxed) }

    /// When something loud came after the last ``listen()``; `nil`: it has not come.
    var loudTime: MonotonicTime? {
        let time = traffic.loud.load(ordering: .acquiring)
        return time == 0 ? nil : MonotonicTime(nanoseconds: time)
    }

    /// Starts to wait for something loud.
    func listen() {
        traffic.loud.store(0, ordering: .relaxed)
        traffic.isListening.store(true, ordering: .releasing)
    }

    /// Sends one piece of audio.
    func send(_ audio: ByteBuffer) { Self.send(audio, over: channel) }

    /// Sends these pieces in a loop, one for every 20 ms, until it is closed.
    func speak(_ pieces: [ByteBuffer]) {
        let channel = channel
        let traffic = traffic
        let start = MonotonicClock.now
        _ = channel.eventLoop.scheduleRepeatedTask(initialDelay: .milliseconds(0), delay: .milliseconds(10)) { task in
            guard channel.isActive else { return task.cancel() }
            let due = Int((MonotonicClock.now - start) / .milliseconds(20)) + Self.lead
            while traffic.pieces.load(ordering: .relaxed) < due {
                let number = traffic.pieces.add(1, ordering: .relaxed).oldValue
                Self.send(pieces[number % pieces.count], over: channel)
            }
        }
    }

    func close() async {
        // Fails only if it is closed already.
        try? await channel.close()
    }

    /// The bytes of samples.
    static func piece(_ samples: some Sequence<Int16>) -> ByteBuffer {
        var bytes = ByteBuffer()
        for sample in samples { bytes.writeInteger(sample, endianness: .little) }
        return bytes
    }

    private static func send(_ audio: ByteBuffer, over channel: any Channel) {
        let frame = WebSocketFrame(
            fin: true, opcode: .binary, maskKey: WebSocketConnection.maskingKey, data: audio)
        channel.writeAndFlush(frame, promise: nil)
    }

    private final class Ear: ChannelInboundHandler, Sendable {
        typealias InboundIn = WebSocketFrame

        private let traffic: Traffic

        init(_ traffic: Traffic) { self.traffic = traffic }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            let frame = Self.unwrapInboundIn(data)
            guard frame.opcode == .binary else { return WebSocketConnection.answerPing(frame, context) }
            traffic.bytes.add(frame.length, ordering: .relaxed)
            guard traffic.isListening.load(ordering: .acquiring) else { return }
            let now = MonotonicClock.now
            var audio = frame.unmaskedData
            while let sample = audio.readInteger(endianness: .little, as: Int16.self) {
                guard sample.magnitude > BotSocket.loudness else { continue }
                traffic.isListening.store(false, ordering: .relaxed)
                traffic.loud.store(now.nanoseconds, ordering: .releasing)
                return
            }
        }
    }
}
