import NIOCore
import Sockets
import Zlib

/// Compresses the messages of one channel, and decompresses those of its client. To be used on its event loop.
///
/// What is not of the channel itself is shared by all channels of the loop, so an idle channel keeps no window, unless
/// its messages refer to each other.
final class MessageCompression {
    private let shared: SharedCompressors
    private let agreement: DeflateAgreement
    /// The window of this channel, from its first message on; `nil` if its messages do not refer to each other.
    private var own: OwnCompressor?

    init(_ agreement: DeflateAgreement, _ shared: SharedCompressors) {
        self.agreement = agreement
        self.shared = shared
    }

    /// The payload of a compressed message; `nil`: the message is sent as it is.
    func compress(_ message: ByteBuffer) -> ByteBuffer? {
        guard message.readableBytes >= Self.shortest else { return nil }
        let bytes = Array(message.readableBytesView)
        if agreement.keepsContext {
            let compressor = own ?? OwnCompressor(windowBits: agreement.windowBits)
            own = compressor
            // It stays in the window, so it has to be sent in this form.
            return ByteBuffer(bytes: compressor.compress(bytes))
        }
        let payload = shared.compress(bytes, windowBits: agreement.windowBits)
        return payload.count < bytes.count ? ByteBuffer(bytes: payload) : nil
    }

    /// The bytes of a client's message.
    ///
    /// - Parameter limit: how many bytes it may have.
    func decompress(_ payload: [UInt8], limit: Int) throws(Inflater.Fault) -> [UInt8] {
        try shared.decompress(payload, limit: limit)
    }

    /// Below this many bytes a message hardly becomes shorter.
    private static let shortest = 128
}

/// The compressor of a channel whose messages refer to each other: 64 KiB with a window of 8 KiB.
private final class OwnCompressor {
    private var deflater: Deflater

    init(windowBits: Int) { deflater = Deflater(windowBits: windowBits, memoryLevel: 6) }

    func compress(_ bytes: [UInt8]) -> [UInt8] { deflater.compress(bytes.span) }
}

/// What the channels of one event loop compress with, one message at a time. Each size of window is made when a client
/// first wants it.
final class SharedCompressors {
    private final class Window {
        var deflater: Deflater
        init(_ bits: Int) { deflater = Deflater(windowBits: bits) }
    }

    private var windows: [Int: Window] = [:]
    private var inflater = Inflater()

    fileprivate func compress(_ bytes: [UInt8], windowBits: Int) -> [UInt8] {
        let window = windows[windowBits] ?? Window(windowBits)
        windows[windowBits] = window
        window.deflater.reset()
        return window.deflater.compress(bytes.span)
    }

    fileprivate func decompress(_ payload: [UInt8], limit: Int) throws(Inflater.Fault) -> [UInt8] {
        try inflater.decompress(payload.span, limit: limit)
    }
}

/// Finds the compressors of an event loop.
final class CompressorsOfLoops: Sendable {
    private let made = Lock<[ObjectIdentifier: NIOLoopBound<SharedCompressors>]>([:])

    /// Those of a loop; to be called on it.
    func compressors(of loop: any EventLoop) -> SharedCompressors {
        let bound = made.withLock { made in
            let bound = made[ObjectIdentifier(loop)] ?? NIOLoopBound(SharedCompressors(), eventLoop: loop)
            made[ObjectIdentifier(loop)] = bound
            return bound
        }
        return bound.value
    }
}
