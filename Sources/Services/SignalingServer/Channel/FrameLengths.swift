import NIOCore
import NIOWebSocket

/// Checks that each WebSocket frame writes its length in the shortest form (RFC 6455 §5.2), which the frame decoder
/// does not tell. It follows the frames in a stream of bytes by their lengths alone.
package struct FrameLengths: Sendable {
    /// The limit of the payload of a frame, in bytes.
    private let limit: UInt64
    /// The frame that was refused is longer than the limit.
    package private(set) var isTooLong = false
    private enum State {
        case opcode
        case length
        /// Reads an extended length: its value so far, the bytes that are missing, and the smallest length that needs
        /// this form.
        case extendedLength(UInt64, missing: Int, smallest: UInt64, maskLength: UInt64)
        /// Skips so many bytes of masking key and payload.
        case rest(UInt64)
    }

    private var state = State.opcode

    /// Makes a check that starts at the first frame of a connection.
    ///
    /// - Parameter limit: the limit of the payload of a frame, in bytes; `nil`: none.
    package init(limit: Int? = nil) { self.limit = limit.map { UInt64($0) } ?? .max }

    /// Whether all frames so far write their lengths in the shortest form, and are within the limit. It must not be
    /// asked again after `false`.
    package mutating func follow(_ bytes: some RandomAccessCollection<UInt8>) -> Bool {
        var bytes = bytes[...]
        while let byte = bytes.first {
            switch state {
            case .opcode:
                state = .length
                bytes.removeFirst()
            case .length:
                let maskLength: UInt64 = byte & 0x80 == 0 ? 0 : 4
                switch byte & 0x7F {
                case 126: state = .extendedLength(0, missing: 2, smallest: 126, maskLength: maskLength)
                case 127: state = .extendedLength(0, missing: 8, smallest: 65_536, maskLength: maskLength)
                case let short:
                    guard isAllowed(UInt64(short)) else { return false }
                    skip(UInt64(short) + maskLength)
                }
                bytes.removeFirst()
            case .extendedLength(let value, let missing, let smallest, let maskLength):
                let longer = value << 8 | UInt64(byte)
                bytes.removeFirst()
                guard missing == 1 else {
                    state = .extendedLength(longer, missing: missing - 1, smallest: smallest, maskLength: maskLength)
                    continue
                }
                guard longer >= smallest, isAllowed(longer) else { return false }
                // The frame decoder has refused a length that is far beyond every limit.
                let (length, overflow) = longer.addingReportingOverflow(maskLength)
                skip(overflow ? .max : length)
            case .rest(let length):
                let taken = min(length, UInt64(bytes.count))
                bytes = bytes.dropFirst(Int(taken))
                skip(length - taken)
            }
        }
        return true
    }

    private mutating func isAllowed(_ length: UInt64) -> Bool {
        isTooLong = length > limit
        return !isTooLong
    }

    private mutating func skip(_ length: UInt64) { state = length == 0 ? .opcode : .rest(length) }
}

/// Stands in front of the frame decoder, and ends the stream at a frame whose length is not in the shortest form, or
/// larger than the limit of its kind of socket.
final class FrameLengthGuard: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    /// Reaches the ``WebSocketHandler`` as an error, like what the decoder refuses.
    struct LengthNotMinimal: Error {}

    private var lengths: FrameLengths
    private var hasRefused = false

    /// - Parameter limit: the limit of the payload of a frame, in bytes.
    init(limit: Int) { lengths = FrameLengths(limit: limit) }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !hasRefused else { return }
        guard lengths.follow(Self.unwrapInboundIn(data).readableBytesView) else {
            hasRefused = true
            return context.fireErrorCaught(
                lengths.isTooLong ? NIOWebSocketError.invalidFrameLength : LengthNotMinimal() as any Error)
        }
        context.fireChannelRead(data)
    }
}
