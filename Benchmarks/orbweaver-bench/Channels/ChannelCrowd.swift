import ArgumentParser
import NIOCore
import NIOWebSocket
import Synchronization

/// Many WebSockets that count what is sent to them, and say a word now and then as real clients do.
final class ChannelCrowd: Sendable {
    private let counted = Counted()
    private let channels: Mutex<[any Channel]> = Mutex([])

    /// What has arrived at all of them.
    private final class Counted: Sendable {
        let texts = Atomic<Int>(0)
        let bytes = Atomic<Int>(0)
        let pongs = Atomic<Int>(0)
        let closed = Atomic<Int>(0)
    }

    /// Text messages that have arrived so far.
    var texts: Int { counted.texts.load(ordering: .relaxed) }
    /// Bytes of these messages.
    var bytes: Int { counted.bytes.load(ordering: .relaxed) }
    /// How many of the channels were closed by the server.
    var closed: Int { counted.closed.load(ordering: .relaxed) }

    /// Opens one more.
    func join(port: Int, overTLS: Bool, path: String) async throws {
        let counted = counted
        let channel = try await WebSocketConnection.open(port: port, overTLS: overTLS, path: path) { Counter(counted) }
        channels.withLock { $0.append(channel) }
    }

    /// Waits until so many texts have arrived since the first one joined.
    ///
    /// - Throws: `ValidationError` if a channel is closed, or nothing new arrives for 30 seconds.
    func wait(forTexts count: Int) async throws {
        var (last, idle) = (texts, 0)
        while texts < count {
            try await Task.sleep(for: .milliseconds(5))
            guard closed == 0 else { throw ValidationError("\(closed) channels were closed") }
            (last, idle) = texts == last ? (last, idle + 1) : (texts, 0)
            guard idle < 6_000 else { throw ValidationError("\(texts) of \(count) notifications arrived") }
        }
    }

    /// Sends one ping from each, spread over a time.
    func ping(over time: Duration) async throws {
        let channels = channels.withLock { $0 }
        let steps = 100
        for step in 0..<steps {
            for index in stride(from: step, to: channels.count, by: steps) { Self.ping(channels[index]) }
            try await Task.sleep(for: time / steps)
        }
    }

    /// The time from a ping of the channel that joined first to its pong, in nanoseconds.
    func roundTrip() async throws -> UInt64 {
        let channel = channels.withLock { $0[0] }
        let (start, before) = (ContinuousClock.now, counted.pongs.load(ordering: .acquiring))
        Self.ping(channel)
        while counted.pongs.load(ordering: .acquiring) == before {
            await Task.yield()
            guard ContinuousClock.now - start < .seconds(30) else { throw ValidationError("no pong in 30 seconds") }
        }
        return (ContinuousClock.now - start).nanoseconds
    }

    private static func ping(_ channel: any Channel) {
        let data = ByteBuffer(string: "bench")
        let ping = WebSocketFrame(fin: true, opcode: .ping, maskKey: WebSocketConnection.maskingKey, data: data)
        channel.writeAndFlush(ping, promise: nil)
    }

    func close() async {
        for channel in channels.withLock({ $0 }) {
            // Fails only if it is closed already.
            try? await channel.close()
        }
    }

    private final class Counter: ChannelInboundHandler, Sendable {
        typealias InboundIn = WebSocketFrame

        private let counted: Counted

        init(_ counted: Counted) { self.counted = counted }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            let frame = Self.unwrapInboundIn(data)
            switch frame.opcode {
            case .text:
                counted.bytes.add(frame.length, ordering: .relaxed)
                counted.texts.add(1, ordering: .relaxed)
            case .pong: counted.pongs.add(1, ordering: .releasing)
            default: WebSocketConnection.answerPing(frame, context)
            }
        }

        func channelInactive(context: ChannelHandlerContext) { counted.closed.add(1, ordering: .relaxed) }
    }
}

extension Duration {
    /// The whole duration in nanoseconds.
    var nanoseconds: UInt64 {
        UInt64(components.seconds) * 1_000_000_000 + UInt64(components.attoseconds / 1_000_000_000)
    }
}
